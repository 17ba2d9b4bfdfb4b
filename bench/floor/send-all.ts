import { Agent } from 'undici';
import { API_KEY } from '../core/prompts.ts';
import type { Recorded } from '../stand-ins/listen.ts';

const HEADERS = { 'x-api-key': API_KEY, accept: 'application/json', 'content-type': 'application/json' };

/** What is done with an answer: it must be read to its end, or the connection cannot be used again. */
export type Taking = 'bytes' | 'json';

/** A bare undici loop: sends the requests, so many at a time, looks at no status and keeps nothing. */
export async function sendAll(
  baseUrl: string,
  requests: readonly Recorded[],
  concurrency: number,
  taking: Taking = 'bytes',
): Promise<void> {
  const agent = new Agent({ connections: concurrency, pipelining: 1 });
  let next = 0;
  const work = async (): Promise<void> => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const { method, path, body } = request;
      const sent = {
        origin: baseUrl,
        method: method as 'GET',
        path,
        headers: HEADERS,
        body: body === '' ? null : body,
      };
      const answer = await agent.request(sent);
      await (taking === 'json' ? answer.body.json() : answer.body.arrayBuffer());
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  await agent.close();
}
