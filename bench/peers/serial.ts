/** A simple peer without concurrency. Reads each prompt once, one after the other: `node serial.ts URL COUNT`. */
import { sendAll } from '../floor/send-all.ts';
import { idOf } from '../core/prompts.ts';

const [baseUrl = '', count = '0'] = process.argv.slice(2);
const paths = Array.from(
  { length: Number(count) },
  (_, index) => `/v1/integration/prompts/${idOf(index)}?environment=production`,
);
void sendAll(
  baseUrl,
  paths.map((path) => ({ method: 'GET', path, body: '' })),
  1,
  'json',
);
