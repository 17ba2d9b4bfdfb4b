import * as wire from '../service/wire.ts';
import { parseBody, Refusal } from './body.ts';
import type { Store } from './store.ts';

/** A request as far as the service looks at it; the target is the path with the query, as it was sent. */
export type Call = {
  readonly method: string;
  readonly target: string;
  readonly apiKey: string | undefined;
  /** Called once, where the endpoint has a body and the key may use the prompt. */
  readonly readBody: () => Promise<unknown>;
};

export type Answer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: wire.WirePrompt | wire.WireVersion | { readonly updated: true } | { readonly detail: string };
};

type Asked = Pick<Call, 'readBody'> & { readonly store: Store; readonly promptId: string; readonly query: string };

type Handler = (asked: Asked) => Promise<Answer['body']>;

/** Interface section 4; the tail is what stands behind the prompt's own path. */
const endpoints: readonly { readonly method: string; readonly tail: string; readonly handle: Handler }[] = [
  { method: 'GET', tail: '', handle: readPrompt },
  { method: 'PATCH', tail: '', handle: updatePrompt },
  { method: 'POST', tail: '/versions', handle: createVersion },
  { method: 'POST', tail: '/set-active', handle: setActive },
];

/** Does what the call asks for. A call that is refused (section 7) has changed nothing. */
export async function answerCall(store: Store, { method, target, apiKey, readBody }: Call): Promise<Answer> {
  try {
    const { handle, promptId, query } = parseTarget(method, target);
    authorise(store, apiKey, promptId);
    return { status: 200, body: await handle({ store, promptId, query, readBody }) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: error.status, headers: error.headers, body: { detail: error.message } };
  }
}

/** The target is taken as it was sent: dots are not resolved, so no id can reach another path. */
const TARGET = new RegExp(`^${wire.paths.prompt('')}([^/?]+)([^?]*)(?:\\?(.*))?$`);

/** Throws a `Refusal`: 404 for another path, 405 for another method, 422 for an id that cannot be read. */
function parseTarget(method: string, target: string) {
  const [, encoded, tail, query = ''] = TARGET.exec(target) ?? [];
  const here = endpoints.filter((endpoint) => endpoint.tail === tail);
  if (encoded === undefined || here.length === 0) throw new Refusal(404, 'There is no such path.');
  const endpoint = here.find((candidate) => candidate.method === method);
  if (endpoint === undefined) {
    const allow = here.map((candidate) => candidate.method).join(', ');
    throw new Refusal(405, `The path allows ${allow}.`, { allow });
  }
  return { handle: endpoint.handle, promptId: decodeId(encoded), query };
}

function decodeId(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new Refusal(422, 'prompt_id: the percent-encoding is not valid.');
  }
}

/** The interface does not describe the answer to a missing or unknown key (section 5); 401 is what HTTP has for it. */
function authorise(store: Store, apiKey: string | undefined, promptId: string): void {
  const projects = apiKey ? store.readProjects(apiKey) : [];
  if (projects.length === 0)
    throw new Refusal(401, 'The API key is missing or not known.', { 'www-authenticate': 'ApiKey' });
  if (!projects.includes(found(store.readPrompt(promptId)).project_id))
    throw new Refusal(403, 'The API key does not authorise the project of the prompt.');
}

/**
 * Section 4.1. It leaves open what `active_version` is when none is active (here null) or none was asked for (absent),
 * and what an empty or a repeated name means: neither is guessed at.
 */
async function readPrompt({ store, promptId, query }: Asked): Promise<wire.WirePrompt> {
  const [environment, ...others] = new URLSearchParams(query).getAll('environment');
  if (environment === '' || others.length > 0) throw new Refusal(422, 'environment: one name, not empty, is expected.');
  const { active_version, created_at: _, ...prompt } = found(store.readPrompt(promptId, environment));
  return environment === undefined ? prompt : { ...prompt, active_version };
}

/** Section 4.3. */
async function updatePrompt({ store, promptId, readBody }: Asked): Promise<wire.WirePrompt> {
  const changes = parseBody(await readBody(), wire.UpdatePromptShape);
  refuseBrokenText(changes.key, changes.name, changes.description);
  const { active_version: _, ...prompt } = found(store.updatePrompt(promptId, changes));
  return prompt;
}

/** Section 4.2. */
async function createVersion({ store, promptId, readBody }: Asked): Promise<wire.WireVersion> {
  const body = parseBody(await readBody(), wire.CreateVersionShape);
  const { content, change_summary: changeSummary, metadata_: metadata } = body;
  refuseBrokenText(content, changeSummary);
  return found(store.createVersion(promptId, { content, changeSummary, metadata }));
}

/** Section 4.4. */
async function setActive({ store, promptId, readBody }: Asked): Promise<{ readonly updated: true }> {
  const { environment, version_id: versionId } = parseBody(await readBody(), wire.SetActiveShape);
  refuseBrokenText(environment);
  if (!store.setActive(promptId, { environment, versionId })) throw new Refusal(404, 'The prompt has no such version.');
  return { updated: true };
}

function found<Value>(value: Value | null): Value {
  if (value === null) throw new Refusal(404, 'There is no such prompt.');
  return value;
}

/** Half a surrogate pair has no UTF-8 and NUL ends a text in SQLite: either would silently become another text. */
function refuseBrokenText(...texts: readonly (string | undefined)[]): void {
  if (texts.some((text) => text?.isWellFormed() === false || text?.includes('\0'))) {
    throw new Refusal(422, 'The body holds text that is not valid Unicode, or NUL.');
  }
}
