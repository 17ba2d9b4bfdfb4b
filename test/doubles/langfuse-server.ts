import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { listen } from '../support/front.ts';
import { sendOrFail, takeFailure, type Failing, type Failure, type FailureMatch } from '../support/github-api.ts';
import type { Reply } from '../support/github-api.ts';
import { LangfuseRefusal, langfuseStore, type LangfuseStore, type LangfuseStoreOptions } from './langfuse-store.ts';

const PUBLIC_KEY = 'pk-lf-0123456789';
/** They must never be seen in any output. The second one may only read. */
export const SECRET_KEY = 'sk-lf-5eCre7-0123456789';
export const READ_ONLY_KEY = 'sk-lf-5eCre7-0nly-read5';

type LangfuseRequest = {
  readonly method: string;
  /** Below the address that it was started at, with its query. */
  readonly path: string;
  readonly body: unknown;
};

type State = Failing & {
  readonly store: LangfuseStore;
  readonly requests: LangfuseRequest[];
  /** PATCHes that are left in the minute, and when that ends. */
  patches: { left: number; readonly until: number };
};

export type LangfuseDouble = Awaited<ReturnType<typeof startLangfuse>>;

/** Stands in for Langfuse, from its public API reference and from how a running one was seen to behave. */
export async function startLangfuse(options: LangfuseStoreOptions & { readonly path?: string } = {}) {
  const { path: prefix = '' } = options;
  const store = langfuseStore(options);
  const state: State = { store, requests: [], failures: [], patches: { left: Infinity, until: Infinity } };
  const server = createServer((request, response) => {
    respond(request, response, state, prefix).catch(() => response.destroy());
  });
  const baseUrl = (await listen(server)) + prefix;
  return {
    baseUrl,
    store,
    /** Every request so far. */
    requests: state.requests,
    /** What was sent since it was last asked for and was not GET, such as `PATCH support/refund v3 [production]`. */
    takeWrites: () => state.requests.splice(0).flatMap(describeWrite),
    /** The next `times` requests that match get this instead; what was asked for first comes first. */
    fail: (match: FailureMatch, failure: Failure, times = 1) =>
      void state.failures.push({ match, failure, left: times }),
    /** So many are taken within the next minute, or in as many seconds as are given; then there is no limit. */
    limitPatches: (left: number, seconds = 60) => void (state.patches = { left, until: Date.now() + seconds * 1_000 }),
    /** What points a command at it. */
    environment: { LANGFUSE_HOST: baseUrl, LANGFUSE_PUBLIC_KEY: PUBLIC_KEY, LANGFUSE_SECRET_KEY: SECRET_KEY },
  };
}

const BodyShape = z.object({ name: z.string(), labels: z.array(z.string()), newLabels: z.array(z.string()) }).partial();

function describeWrite({ method, path, body }: LangfuseRequest): string[] {
  if (method === 'GET') return [];
  const { name, labels = [], newLabels = labels } = BodyShape.catch({}).parse(body);
  const [, encoded = '?', version] = PROMPTS.exec(path) ?? [];
  const what = version === undefined ? '' : ` v${version}`;
  return [`${method} ${name ?? decodeURIComponent(encoded)}${what} [${newLabels.join(', ')}]`];
}

async function respond(incoming: IncomingMessage, response: ServerResponse, state: State, prefix: string) {
  const sent = Buffer.concat(await incoming.toArray());
  const { method = '', url = '', headers } = incoming;
  const path = url.startsWith(prefix) ? url.slice(prefix.length) : '/';
  const body: unknown = sent.length === 0 ? undefined : JSON.parse(sent.toString('utf8'));
  state.requests.push({ method, path, body });
  const isTooLong = sent.length > 1_048_576;
  const reply = async () => (isTooLong ? TOO_LONG : answer(state, { method, path, body }, headers.authorization));
  await sendOrFail(takeFailure(state, method, path), incoming, response, reply);
}

const TOO_LONG: Reply = { status: 413, headers: { 'content-type': 'text/plain' }, body: 'Body exceeded 1mb limit' };
const NO_PAGE: Reply = { status: 404, headers: { 'content-type': 'text/html' }, body: '<!DOCTYPE html>Not found' };

/** A name is one segment: with a bare slash in it there is no such page. */
const PROMPTS = /^\/api\/public\/v2\/prompts(?:\/([^/?]+)(?:\/versions\/([^/?]+))?)?(?:\?|$)/;

async function answer(state: State, request: LangfuseRequest, authorization = ''): Promise<Reply> {
  const [page, name, version] = PROMPTS.exec(request.path) ?? [];
  if (page === undefined) return NO_PAGE;
  try {
    authorise(request, authorization);
    return await perform(state, request, name && decodeURIComponent(name), version);
  } catch (error) {
    if (error instanceof LangfuseRefusal) return error.reply;
    throw error;
  }
}

/** The secret key alone says whose it is. */
function authorise({ method }: LangfuseRequest, authorization: string): void {
  const [, key] = Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':');
  if (key === READ_ONLY_KEY && method !== 'GET') throw new LangfuseRefusal(403, 'Access denied', 'ForbiddenError');
  if (key === SECRET_KEY || key === READ_ONLY_KEY) return;
  throw new LangfuseRefusal(401, 'Invalid credentials', 'UnauthorizedError');
}

async function perform(state: State, { method, path, body }: LangfuseRequest, name?: string, version?: string) {
  const { store } = state;
  const query = Object.fromEntries(new URL(path, 'http://langfuse').searchParams);
  const call = [method, name && 'name', version && 'version'].filter(Boolean).join(' ');
  if (call === 'GET') return { status: 200, body: await store.list(query) };
  if (call === 'POST') return { status: 201, body: await store.create(body) };
  if (call === 'PATCH name version') return patch(state, name ?? '', Number(version), body);
  if (call !== 'GET name') throw new LangfuseRefusal(405, 'Method not allowed', 'MethodNotAllowedError');
  const row = await store.read(name ?? '', query);
  if (row !== null) return { status: 200, body: { ...row, isActive: row.labels.includes('production') } };
  const what = query['version'] ? `version ${query['version']}` : `label '${query['label'] ?? 'production'}'`;
  throw new LangfuseRefusal(404, `Prompt not found: '${name}' with ${what}`, 'LangfuseNotFoundError');
}

/** PATCHes alone are counted. */
async function patch({ store, patches }: State, name: string, version: number, body: unknown): Promise<Reply> {
  const wait = Math.ceil((patches.until - Date.now()) / 1_000);
  patches.left -= 1;
  if (patches.left < 0 && wait > 0) {
    return { status: 429, headers: { 'retry-after': `${wait}` }, body: { message: 'Rate limit exceeded' } };
  }
  const { newLabels = null } = BodyShape.catch({}).parse(body);
  return { status: 200, body: await store.patchLabels(name, version, newLabels) };
}
