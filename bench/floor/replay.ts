/** The lower bound for a command. Resends its recorded requests from a file: `node replay.ts URL FILE CONCURRENCY`. */
import { readFileSync } from 'node:fs';
import { sendAll } from './send-all.ts';

const [baseUrl = '', file = '', concurrency = '8'] = process.argv.slice(2);
void sendAll(baseUrl, JSON.parse(readFileSync(file, 'utf8')), Number(concurrency));
