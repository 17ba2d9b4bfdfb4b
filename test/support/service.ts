import { onTestFinished } from 'vitest';
import { startServer, type RequestRecord } from '../../src/embedded/server.ts';
import { openStore } from '../../src/embedded/store.ts';

/** It must never be seen in any output. */
export const KEY = 'sk-live-5eCre7-0123456789';

export type TestService = Awaited<ReturnType<typeof startTestService>>;

/** The embedded service with the prompts `prm_…` of the names given, as they would stand there before the first sync. */
export async function startTestService(ids: readonly string[], apiKey = KEY) {
  const store = openStore(':memory:', { now: () => Date.UTC(2026, 0, 2) });
  onTestFinished(() => store.close());
  store.authoriseKey({ apiKey, projectId: 'project' });
  for (const id of ids) store.registerPrompt({ id: `prm_${id}`, projectId: 'project', key: id, name: id });
  const requests: RequestRecord[] = [];
  const server = await startServer({ store, port: 0, onRequest: (record) => requests.push(record) });
  onTestFinished(() => server.close());
  return {
    baseUrl: server.baseUrl,
    store,
    /** Every request so far. */
    requests,
    /** What was sent since it was last asked for and was not GET: method, last part of the path, body. */
    takeWrites: () => requests.splice(0).flatMap(describeWrite),
    /** What points a command at it. */
    environment: { PROMPTSYNC_BASE_URL: server.baseUrl, PROMPTSYNC_API_KEY: apiKey },
  };
}

export function describeWrite({ method, path, body }: Pick<RequestRecord, 'method' | 'path' | 'body'>): string[] {
  if (method === 'GET') return [];
  const [, prompt = '', what = ''] = /prompts\/([^/]+)\/?(.*)$/.exec(path) ?? [];
  if (method === 'PATCH') return [`PATCH ${prompt} ${JSON.stringify(body)}`];
  if (what === 'set-active') return [`set-active ${prompt} ${environmentOf(body)}`];
  return [`${method} ${prompt} ${what}`];
}

function environmentOf(body: unknown): string {
  return typeof body === 'object' && body !== null && 'environment' in body ? String(body.environment) : '?';
}

/** Somebody makes a version in the service and makes it active, without promptsync. Resolves to its id. */
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
