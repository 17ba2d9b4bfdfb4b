import { checkTranscripts } from './check.ts';

checkTranscripts('cases');
