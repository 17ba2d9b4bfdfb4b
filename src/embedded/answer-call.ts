import * as wire from '../providers/four-call/api-shapes.ts';
import { parseBody, Refusal } from './read-body.ts';
import type { Store } from './prompt-store.ts';

/** A request. `target` is the path with the query, exactly as it was sent. */
export type EmbeddedCall = {
  readonly method: string;
  readonly target: string;
  readonly apiKey: string | undefined;
  /** Reads the body. Called at most once, and only if the endpoint takes a body and the API key has access. */
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

type Handler = (input: EndpointInput) => Promise<EmbeddedResponse['body']>;

/** The endpoints of the service (interface section 4). `tail` is the part of the path after the prompt id. */
const endpoints: readonly { readonly method: string; readonly tail: string; readonly handle: Handler }[] = [
  { method: 'GET', tail: '', handle: answerRead },
  { method: 'PATCH', tail: '', handle: answerUpdate },
  { method: 'POST', tail: '/versions', handle: answerCreate },
  { method: 'POST', tail: '/set-active', handle: answerSetActive },
];

/** Executes a call and returns the response. A refused call changes nothing (interface section 7). */
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

/** Matches a target as sent, without resolving `.` and `..`, so a prompt id never leads to a different path. */
const TARGET = new RegExp(`^${wire.servicePaths.prompt('')}([^/?]+)([^?]*)(?:\\?(.*))?$`);

type CallTarget = { readonly handle: Handler; readonly promptId: string; readonly query: string };

/** Throws a `Refusal`: 404 for an unknown path, 405 for a wrong method, 422 for an id that cannot be decoded. */
function parseTarget(method: string, target: string): CallTarget {
  const [, encoded, tail, query = ''] = TARGET.exec(target) ?? [];
  const endpointsAtPath = endpoints.filter((endpoint) => endpoint.tail === tail);
  if (encoded === undefined || endpointsAtPath.length === 0) throw new Refusal(404, 'There is no such path.');
  const endpoint = endpointsAtPath.find((candidate) => candidate.method === method);
  if (endpoint === undefined) {
    const allow = endpointsAtPath.map((candidate) => candidate.method).join(', ');
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

/**
 * Throws a `Refusal` unless the API key may access the prompt. Section 5 of the interface does not define the response
 * to a missing or unknown key. The embedded service responds with 401.
 */
function authorize(store: Store, apiKey: string | undefined, promptId: string): void {
  const projects = apiKey ? store.readProjects(apiKey) : [];
  if (projects.length === 0) {
    throw new Refusal(401, 'The API key is missing or unknown.', { 'www-authenticate': 'ApiKey' });
  }
  const { project_id: projectId } = requireFound(store.readPrompt(promptId));
  if (!projects.includes(projectId)) {
    throw new Refusal(403, "The API key does not grant access to the prompt's project.");
  }
}

/**
 * Answers a request for a prompt (interface section 4.1). The interface leaves three cases open: `active_version` is
 * null if no version is active, and absent without an environment. An empty or repeated environment is refused.
 */
async function answerRead({ store, promptId, query }: EndpointInput): Promise<wire.WirePrompt> {
  const [environment, ...others] = new URLSearchParams(query).getAll('environment');
  if (environment === '' || others.length > 0)
    throw new Refusal(422, 'environment: expected exactly one non-empty name.');
  const { active_version, created_at: _, ...prompt } = requireFound(store.readPrompt(promptId, environment));
  return environment === undefined ? prompt : { ...prompt, active_version };
}

/** Answers a request that updates fields (interface section 4.3). */
async function answerUpdate({ store, promptId, readBody }: EndpointInput): Promise<wire.WirePrompt> {
  const changes = parseBody(await readBody(), wire.UpdatePromptShape);
  refuseBrokenText(changes.key, changes.name, changes.description);
  const { active_version: _, ...prompt } = requireFound(store.updatePrompt(promptId, changes));
  return prompt;
}

/** Answers a request that creates a version (interface section 4.2). */
async function answerCreate({ store, promptId, readBody }: EndpointInput): Promise<wire.WireVersion> {
  const body = parseBody(await readBody(), wire.CreateVersionShape);
  const { content, change_summary: changeSummary, metadata_: metadata } = body;
  refuseBrokenText(content, changeSummary);
  return requireFound(store.createVersion(promptId, { content, changeSummary, metadata }));
}

/** Answers a request that activates a version (interface section 4.4). */
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

/** Refuses text that SQLite would change: a lone surrogate has no UTF-8 form, and NUL ends the text. */
function refuseBrokenText(...texts: readonly (string | undefined)[]): void {
  if (texts.some((text) => text?.isWellFormed() === false || text?.includes('\0'))) {
    throw new Refusal(422, 'The body contains a NUL character or text that is not valid Unicode.');
  }
}
