import { SECRET_KEY, startLangfuse, type LangfuseDouble } from './langfuse-server.ts';

/** Calls the double. `words` holds the method and the path below that of the prompts. */
export async function call({ baseUrl }: LangfuseDouble, words: string, body?: unknown) {
  const [method = '', path = ''] = words.split(' ');
  const headers = { authorization: `Basic ${Buffer.from(`any:${SECRET_KEY}`).toString('base64')}` };
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const answer = await fetch(`${baseUrl}/api/public/v2/prompts${path}`, { method, headers, ...sent });
  const received = await answer.text();
  const parsed: unknown = /^[[{]/.test(received) ? JSON.parse(received) : received;
  return { status: answer.status, body: parsed };
}

/**
 * Starts a double with a prompt `p` of three versions, of which the third is in staging and production. Each further
 * prompt in `names` has one version.
 */
export async function startWithVersions(
  options: Parameters<typeof startLangfuse>[0] = {},
  names: readonly string[] = [],
) {
  const langfuse = await startLangfuse(options);
  for (const textPrompt of ['One.', 'Two.']) langfuse.store.addVersion('p', { text: textPrompt });
  langfuse.store.addVersion('p', { text: 'Three.', config: { model: 'm' }, labels: ['staging', 'production'] });
  for (const name of names) langfuse.store.addVersion(name, { text: `Of ${name}.`, labels: ['staging'] });
  return langfuse;
}

/** Returns the body of a PATCH. */
export const newLabel = (label: string) => ({ newLabels: [label] });

/** Returns the body of a create request for the prompt `p`. */
export const textPrompt = (prompt: string, rest: object = {}) => ({ name: 'p', prompt, ...rest });

/** Returns the body of a create request for the prompt `p`, which contains another prompt. */
export const textWithReference = (part: string) => textPrompt(`See @@@langfusePrompt:name=${part}@@@.`);
