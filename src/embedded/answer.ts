import {
  CreateVersionShape,
  SetActiveShape,
  UpdatePromptShape,
  type WirePrompt,
  type WireVersion,
} from '../service/wire.ts';
import { parseBody } from './body.ts';
import { parseRoute, Refusal, type Operation, type Route } from './route.ts';
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
  readonly body: WirePrompt | WireVersion | { readonly updated: true } | { readonly detail: string };
};

type Handler = (store: Store, route: Route, body: unknown) => Answer['body'];

const writers: Readonly<Record<Exclude<Operation, 'read-prompt'>, Handler>> = {
  'update-prompt': updatePrompt,
  'create-version': createVersion,
  'set-active': setActive,
};

/** Does what the call asks for (interface section 4). A call that is refused (section 7) has changed nothing. */
export async function answerCall(store: Store, call: Call): Promise<Answer> {
  try {
    const route = parseRoute(call.method, call.target);
    authorise(store, call.apiKey, route.promptId);
    if (route.operation === 'read-prompt') return { status: 200, body: readPrompt(store, route) };
    return { status: 200, body: writers[route.operation](store, route, await call.readBody()) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: error.status, headers: error.headers, body: { detail: error.message } };
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

/** Section 4.1. It leaves open what `active_version` is when none is active (here null) or none was asked for (absent). */
function readPrompt(store: Store, { promptId, environment }: Route): WirePrompt {
  const { active_version, created_at: _, ...prompt } = found(store.readPrompt(promptId, environment));
  return environment === undefined ? prompt : { ...prompt, active_version };
}

/** Section 4.3. */
function updatePrompt(store: Store, { promptId }: Route, body: unknown): WirePrompt {
  const changes = parseBody(body, UpdatePromptShape);
  refuseBrokenText(changes.key, changes.name, changes.description);
  const { active_version: _, ...prompt } = found(store.updatePrompt(promptId, changes));
  return prompt;
}

/** Section 4.2. */
function createVersion(store: Store, { promptId }: Route, body: unknown): WireVersion {
  const { content, change_summary: changeSummary, metadata_: metadata } = parseBody(body, CreateVersionShape);
  refuseBrokenText(content, changeSummary);
  return found(store.createVersion(promptId, { content, changeSummary, metadata }));
}

/** Section 4.4. */
function setActive(store: Store, { promptId }: Route, body: unknown): { readonly updated: true } {
  const { environment, version_id: versionId } = parseBody(body, SetActiveShape);
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
