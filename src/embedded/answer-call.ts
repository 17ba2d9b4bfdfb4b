import * as wire from '../service/wire.ts';
import { parseBody, Refusal } from './read-body.ts';
import type { Store } from './store.ts';

/** The parts of a request that the service uses. The target is the path with the query, as the client sent it. */
export type EmbeddedCall = {
  readonly method: string;
  readonly target: string;
  readonly apiKey: string | undefined;
  /** Reads the body. It is called at most once: if the endpoint has a body and the key may use the prompt. */
  readonly readBody: () => Promise<unknown>;
};

export type EmbeddedResponse = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: wire.WirePrompt | wire.WireVersion | { readonly updated: true } | { readonly detail: string };
};

type EndpointInput = Pick<EmbeddedCall, 'readBody'> & {
  readonly store: Store;
  readonly promptId: string;
  readonly query: string;
};

type Handler = (asked: EndpointInput) => Promise<EmbeddedResponse['body']>;

/** The endpoints of section 4 of the interface. The tail is the part of the path after the prompt. */
const endpoints: readonly { readonly method: string; readonly tail: string; readonly handle: Handler }[] = [
  { method: 'GET', tail: '', handle: answerRead },
  { method: 'PATCH', tail: '', handle: answerUpdate },
  { method: 'POST', tail: '/versions', handle: answerCreate },
  { method: 'POST', tail: '/set-active', handle: answerSetActive },
];

/** Executes a call and returns the response. A refused call (section 7) changes nothing. */
export async function answerCall(
  store: Store,
  { method, target, apiKey, readBody }: EmbeddedCall,
): Promise<EmbeddedResponse> {
  try {
    const { handle, promptId, query } = parseTarget(method, target);
    authorize(store, apiKey, promptId);
    return { status: 200, body: await handle({ store, promptId, query, readBody }) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: error.status, headers: error.headers, body: { detail: error.message } };
  }
}

/** Matches the target as it was sent. Dots are not resolved, so no id can reach another path. */
const TARGET = new RegExp(`^${wire.servicePaths.prompt('')}([^/?]+)([^?]*)(?:\\?(.*))?$`);

/** The endpoint and the prompt that a request addresses. */
type CallTarget = { readonly handle: Handler; readonly promptId: string; readonly query: string };

/** Throws a `Refusal`: 404 for another path, 405 for another method, 422 for an id that cannot be read. */
function parseTarget(method: string, target: string): CallTarget {
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

/** Checks the API key. Section 5 does not define the response to a missing or unknown key, so this uses HTTP's 401. */
function authorize(store: Store, apiKey: string | undefined, promptId: string): void {
  const projects = apiKey ? store.readProjects(apiKey) : [];
  if (projects.length === 0)
    throw new Refusal(401, 'The API key is missing or not known.', { 'www-authenticate': 'ApiKey' });
  if (!projects.includes(requireFound(store.readPrompt(promptId)).project_id))
    throw new Refusal(403, 'The API key does not authorise the project of the prompt.');
}

/**
 * Implements section 4.1. The section does not define `active_version` if no version is active (here null) or if no
 * environment was requested (here absent). It does not define an empty or repeated environment either, so this refuses it.
 */
async function answerRead({ store, promptId, query }: EndpointInput): Promise<wire.WirePrompt> {
  const [environment, ...others] = new URLSearchParams(query).getAll('environment');
  if (environment === '' || others.length > 0) throw new Refusal(422, 'environment: one name, not empty, is expected.');
  const { active_version, created_at: _, ...prompt } = requireFound(store.readPrompt(promptId, environment));
  return environment === undefined ? prompt : { ...prompt, active_version };
}

/** Implements section 4.3. */
async function answerUpdate({ store, promptId, readBody }: EndpointInput): Promise<wire.WirePrompt> {
  const changes = parseBody(await readBody(), wire.UpdatePromptShape);
  refuseBrokenText(changes.key, changes.name, changes.description);
  const { active_version: _, ...prompt } = requireFound(store.updatePrompt(promptId, changes));
  return prompt;
}

/** Implements section 4.2. */
async function answerCreate({ store, promptId, readBody }: EndpointInput): Promise<wire.WireVersion> {
  const body = parseBody(await readBody(), wire.CreateVersionShape);
  const { content, change_summary: changeSummary, metadata_: metadata } = body;
  refuseBrokenText(content, changeSummary);
  return requireFound(store.createVersion(promptId, { content, changeSummary, metadata }));
}

/** Implements section 4.4. */
async function answerSetActive({ store, promptId, readBody }: EndpointInput): Promise<{ readonly updated: true }> {
  const { environment, version_id: versionId } = parseBody(await readBody(), wire.SetActiveShape);
  refuseBrokenText(environment);
  if (!store.setActive(promptId, { environment, versionId })) throw new Refusal(404, 'The prompt has no such version.');
  return { updated: true };
}

function requireFound<Value>(value: Value | null): Value {
  if (value === null) throw new Refusal(404, 'There is no such prompt.');
  return value;
}

/** Refuses a lone surrogate, which has no UTF-8 form, and NUL, which ends a text in SQLite. Both would change the text. */
function refuseBrokenText(...texts: readonly (string | undefined)[]): void {
  if (texts.some((text) => text?.isWellFormed() === false || text?.includes('\0'))) {
    throw new Refusal(422, 'The body holds text that is not valid Unicode, or NUL.');
  }
}
