import { onTestFinished } from 'vitest';
import { startServer, type RequestRecord } from '../../src/embedded/server.ts';
import { SetActiveShape } from '../../src/providers/four-call/api-shapes.ts';
import { openStore } from '../../src/embedded/prompt-store.ts';

/** The API key of the tests. No output may contain it. */
export const KEY = 'sk-live-5eCre7-0123456789';

export type TestService = Awaited<ReturnType<typeof startTestService>>;

/** Starts the embedded service with the prompts `prm_…`. The prompts have no versions yet. */
export async function startTestService(ids: readonly string[], apiKey = KEY) {
  const store = openStore(':memory:', { now: () => Date.UTC(2026, 0, 2) });
  onTestFinished(() => store.close());
  store.authorizeKey({ apiKey, projectId: 'project' });
  for (const id of ids) store.registerPrompt({ id: `prm_${id}`, projectId: 'project', key: id, name: id });
  const requests: RequestRecord[] = [];
  const server = await startServer({ store, port: 0, onRequest: (record) => requests.push(record) });
  onTestFinished(() => server.close());
  return {
    baseUrl: server.baseUrl,
    store,
    /** All requests so far. */
    requests,
    /** Returns and forgets the write requests since the last call, as `describeWrite` describes them. */
    takeWrites: () => requests.splice(0).flatMap(describeWrite),
    /** The variables that make a command use this service. */
    environment: { PROMPTSYNC_BASE_URL: server.baseUrl, PROMPTSYNC_API_KEY: apiKey },
  };
}

export function describeWrite({ method, path, body }: Pick<RequestRecord, 'method' | 'path' | 'body'>): string[] {
  if (method === 'GET') return [];
  const [, prompt = '', what = ''] = /prompts\/([^/]+)\/?(.*)$/.exec(path) ?? [];
  if (method === 'PATCH') return [`PATCH ${prompt} ${JSON.stringify(body)}`];
  if (what === 'set-active') return [`set-active ${prompt} ${SetActiveShape.parse(body).environment}`];
  return [`${method} ${prompt} ${what}`];
}

/** Creates and activates a version in the service without promptsync. Returns its id. */
export async function changeService(baseUrl: string, prompt: string, environment: string, content: string, key = KEY) {
  const call = async (what: string, body: object): Promise<{ readonly id: string }> => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const url = `${baseUrl}/v1/integration/prompts/prm_${prompt}/${what}`;
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as { id: string };
  };
  const { id } = await call('versions', { content });
  await call('set-active', { environment, version_id: id });
  return id;
}
