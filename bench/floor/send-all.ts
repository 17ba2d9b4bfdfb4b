import { Agent } from 'undici';
import { API_KEY } from '../core/prompts.ts';
import type { RecordedRequest } from '../stand-ins/listen.ts';

const HEADERS = { 'x-api-key': API_KEY, accept: 'application/json', 'content-type': 'application/json' };

/** The way to read a response. Every response must be read to its end, so that the connection can be reused. */
export type ResponseReading = 'bytes' | 'json';

/** Sends all requests in a bare undici loop with this concurrency. Ignores the status and keeps no response. */
export async function sendAll(
  baseUrl: string,
  requests: readonly RecordedRequest[],
  concurrency: number,
  taking: ResponseReading = 'bytes',
): Promise<void> {
  const agent = new Agent({ connections: concurrency, pipelining: 1 });
  let nextIndex = 0;
  const sendNext = async (): Promise<void> => {
    for (let request = requests[nextIndex++]; request !== undefined; request = requests[nextIndex++]) {
      const { method, path, body } = request;
      const options = {
        origin: baseUrl,
        method: method as 'GET',
        path,
        headers: HEADERS,
        body: body === '' ? null : body,
      };
      const response = await agent.request(options);
      await (taking === 'json' ? response.body.json() : response.body.arrayBuffer());
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendNext));
  await agent.close();
}
