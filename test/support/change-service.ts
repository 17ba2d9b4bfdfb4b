import { KEY } from './service.ts';

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
