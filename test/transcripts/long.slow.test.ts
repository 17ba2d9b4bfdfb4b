import { checkTranscripts } from './check.ts';

checkTranscripts('long');
