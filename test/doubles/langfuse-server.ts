import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { close, open } from '../support/front.ts';
import { sendOrFail, takeFailure, type Failing, type Failure, type FailureMatch } from '../support/github-api.ts';
import type { Reply } from '../support/github-api.ts';
import { LangfuseRefusal } from './langfuse-requests.ts';
import { langfuseStore, type LangfuseStore, type LangfuseStoreOptions } from './langfuse-store.ts';

export const PUBLIC_KEY = 'pk-lf-0123456789';
/** The secret key must never appear in any output. */
export const SECRET_KEY = 'sk-lf-5eCre7-0123456789';

type LangfuseRequest = {
  readonly method: string;
  /** The path below the base URL, with its query. */
  readonly path: string;
  readonly body: unknown;
};

type State = Failing & {
  readonly store: LangfuseStore;
  readonly requests: LangfuseRequest[];
  readonly secretKey: string;
};

export type LangfuseDouble = Awaited<ReturnType<typeof openLangfuse>>;

type LangfuseOptions = LangfuseStoreOptions & {
  /** The secret key that the double accepts. The default is `SECRET_KEY`. */
  readonly secretKey?: string;
};

/**
 * Starts a double of Langfuse. It follows the public API reference and the observed behavior of a running Langfuse.
 * The double is closed when the test ends.
 */
export async function startLangfuse(options?: LangfuseOptions): Promise<LangfuseDouble> {
  const double = await openLangfuse(options);
  onTestFinished(double.close);
  return double;
}

/** Starts the same double for a concurrent test, which has to close it. */
export async function openLangfuse(options: LangfuseOptions = {}) {
  const { secretKey = SECRET_KEY } = options;
  const store = langfuseStore(options);
  const state: State = { store, secretKey, requests: [], failures: [] };
  const server = createServer((request, response) => {
    respond(request, response, state).catch(() => response.destroy());
  });
  const baseUrl = await open(server);
  return {
    baseUrl,
    store,
    /** All requests so far. */
    requests: state.requests,
    /** Returns the writes since the previous call, such as `PATCH support/refund v3 [production]`. */
    takeWrites: () => state.requests.splice(0).flatMap(describeWrite),
    /** Makes the next `times` matching requests fail this way. Failures apply in the order of these calls. */
    fail: (match: FailureMatch, failure: Failure, times = 1) =>
      void state.failures.push({ match, failure, left: times }),
    /** The environment variables that point a command at the double. */
    environment: { LANGFUSE_HOST: baseUrl, LANGFUSE_PUBLIC_KEY: PUBLIC_KEY, LANGFUSE_SECRET_KEY: secretKey },
    close: () => close(server),
  };
}

const BodyShape = z.object({ name: z.string(), labels: z.array(z.string()), newLabels: z.array(z.string()) }).partial();

function describeWrite({ method, path, body }: LangfuseRequest): string[] {
  if (method === 'GET') return [];
  const { name, labels = [], newLabels = labels } = BodyShape.catch({}).parse(body);
  const [, encoded = '?', version] = PROMPTS.exec(path) ?? [];
  const selection = version === undefined ? '' : ` v${version}`;
  return [`${method} ${name ?? decodeURIComponent(encoded)}${selection} [${newLabels.join(', ')}]`];
}

async function respond(incoming: IncomingMessage, response: ServerResponse, state: State) {
  const sent = Buffer.concat(await incoming.toArray());
  const { method = '', url: path = '', headers } = incoming;
  const body: unknown = sent.length === 0 ? undefined : JSON.parse(sent.toString('utf8'));
  state.requests.push({ method, path, body });
  const isTooLong = sent.length > 1_048_576;
  const reply = async () => (isTooLong ? TOO_LONG : answer(state, { method, path, body }, headers.authorization));
  await sendOrFail(takeFailure(state, method, path), incoming, response, reply);
}

const TOO_LONG: Reply = { status: 413, headers: { 'content-type': 'text/plain' }, body: 'Body exceeded 1mb limit' };
const NO_PAGE: Reply = { status: 404, headers: { 'content-type': 'text/html' }, body: '<!DOCTYPE html>Not found' };

/** Matches the prompt endpoints. A name is one path segment, so an unencoded slash leads to a 404 page. */
const PROMPTS = /^\/api\/public\/v2\/prompts(?:\/([^/?]+)(?:\/versions\/([^/?]+))?)?(?:\?|$)/;

async function answer(state: State, request: LangfuseRequest, authorization = ''): Promise<Reply> {
  const [page, name, version] = PROMPTS.exec(request.path) ?? [];
  if (page === undefined) return NO_PAGE;
  try {
    authorize(state, authorization);
    return await perform(state, request, name && decodeURIComponent(name), version);
  } catch (error) {
    if (error instanceof LangfuseRefusal) return error.reply;
    throw error;
  }
}

/** Checks the secret key. Langfuse ignores the public key if the secret key is right. */
function authorize(state: State, authorization: string): void {
  const credentials = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString();
  const [, key] = credentials.split(':');
  if (key === state.secretKey) return;
  const message = "Invalid credentials. Confirm that you've configured the correct host.";
  throw new LangfuseRefusal(401, message, 'UnauthorizedError');
}

async function perform(state: State, { method, path, body }: LangfuseRequest, name?: string, version?: string) {
  const { store } = state;
  const query = Object.fromEntries(new URL(path, 'http://langfuse').searchParams);
  const call = [method, name && 'name', version && 'version'].filter(Boolean).join(' ');
  if (call === 'GET') return { status: 200, body: await store.list(query) };
  if (call === 'POST') return { status: 201, body: await store.create(body) };
  if (call === 'PATCH name version') return patch(state, name ?? '', version ?? '', body);
  if (call === 'DELETE name') {
    await store.deletePrompt(name ?? '');
    return { status: 204 };
  }
  if (call !== 'GET name') throw new LangfuseRefusal(405, 'Method not allowed', 'MethodNotAllowedError');
  const row = await store.read(name ?? '', query);
  if (row !== null) return { status: 200, body: row };
  const selection = query['version'] ? `version ${query['version']}` : `label '${query['label'] ?? 'production'}'`;
  throw new LangfuseRefusal(404, `Prompt not found: '${name}' with ${selection}`, 'LangfuseNotFoundError');
}

async function patch({ store }: State, name: string, version: string, body: unknown): Promise<Reply> {
  const { newLabels = null } = BodyShape.catch({}).parse(body);
  return { status: 200, body: await store.patchLabels(name, Number(version), newLabels) };
}
