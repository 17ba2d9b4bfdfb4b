import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { startServer, type EmbeddedServer, type ServerOptions } from '../../src/embedded/server.ts';
import { openStore, type Store } from '../../src/embedded/prompt-store.ts';
import { servicePaths, type WirePrompt, type WireVersion } from '../../src/providers/four-call/api-shapes.ts';

export const KEY = 'key-of-one';
export const OTHER_KEY = 'key-of-two';
export const BOTH_KEY = 'key-of-both';
export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

/** Every field that a response can have. Tests check which ones are there. */
export type ReplyBody = WirePrompt & WireVersion & { readonly updated: boolean; readonly detail: string };

export type Reply = { readonly status: number; readonly body: ReplyBody; readonly headers: Headers };

export type Sent = {
  readonly apiKey?: string | null;
  readonly body?: unknown;
  readonly raw?: string | Uint8Array<ArrayBuffer>;
};

/** A running service with shortcuts for its calls. It stops when the test ends. */
export type Service = {
  readonly server: EmbeddedServer;
  readonly store: Store;
  readonly call: (method: string, path: string, sent?: Sent) => Promise<Reply>;
  readonly read: (promptId: string, environment?: string) => Promise<Reply>;
  readonly create: (promptId: string, body: unknown) => Promise<Reply>;
  readonly update: (promptId: string, body: unknown) => Promise<Reply>;
  readonly activate: (promptId: string, environment: string, versionId: string) => Promise<Reply>;
};

export async function startService(options: Partial<ServerOptions> & { path?: string } = {}): Promise<Service> {
  const { path = ':memory:', store = openStore(path, { now: () => NOW }), ...rest } = options;
  onTestFinished(() => store.close());
  fillStore(store);
  const server = await startServer({ store, port: 0, ...rest });
  onTestFinished(() => server.close());
  const call = (method: string, target: string, sent?: Sent) => send(server.baseUrl + target, method, sent);
  return {
    server,
    store,
    call,
    read: (id, environment) => call('GET', servicePaths.prompt(id) + queryOf(environment)),
    create: (id, body) => call('POST', servicePaths.versions(id), { body }),
    update: (id, body) => call('PATCH', servicePaths.prompt(id), { body }),
    activate: (id, environment, version_id) =>
      call('POST', servicePaths.setActive(id), { body: { environment, version_id } }),
  };
}

/** Waits until a server in this process has received the head of its next request. */
export async function nextRequest(): Promise<IncomingMessage> {
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
  const name = 'http.server.request.start';
  const resolveRequest = (message: unknown): void =>
    resolve((message as { readonly request: IncomingMessage }).request);
  subscribe(name, resolveRequest);
  try {
    return await promise;
  } finally {
    unsubscribe(name, resolveRequest);
  }
}

/**
 * Fills the store with two projects that have a key each, and one key for both. `p1` and `p2` belong to the first
 * project, `q1` to the second.
 */
export function fillStore(store: Store): void {
  store.authorizeKey({ apiKey: KEY, projectId: 'one' });
  store.authorizeKey({ apiKey: OTHER_KEY, projectId: 'two' });
  store.authorizeKey({ apiKey: BOTH_KEY, projectId: 'one' });
  store.authorizeKey({ apiKey: BOTH_KEY, projectId: 'two' });
  store.registerPrompt({ id: 'p1', projectId: 'one', key: 'k/1', name: 'First', description: 'About it.' });
  store.registerPrompt({ id: 'p2', projectId: 'one', key: 'k/2', name: 'Second' });
  store.registerPrompt({ id: 'q1', projectId: 'two', key: 'k/1', name: 'Elsewhere' });
}

async function send(url: string, method: string, { apiKey = KEY, body, raw }: Sent = {}): Promise<Reply> {
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(url, {
    method,
    headers: {
      ...(apiKey === null ? {} : { 'X-API-Key': apiKey }),
      ...(payload === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(payload === undefined ? {} : { body: payload }),
  });
  return { status: response.status, body: JSON.parse(await response.text()), headers: response.headers };
}

/** Sends a request with exactly this target. `fetch` would resolve dots and encode other characters. */
export function sendRaw(
  { server: { port } }: Service,
  method: string,
  target: string,
  { headers = {}, body }: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string } = {},
): Promise<Omit<Reply, 'headers'>> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path: target, headers: { 'X-API-Key': KEY, ...headers } };
    const sent = request(options, async (response) => {
      const chunks = await response.toArray();
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) });
    });
    sent.on('error', reject).end(body);
  });
}

function queryOf(environment: string | undefined): string {
  return environment === undefined ? '' : `?environment=${encodeURIComponent(environment)}`;
}

/** Returns the head of a request that creates a version, up to the Content-Length header. */
export function headOf({ server: { port } }: Service): string {
  const line = 'POST /v1/integration/prompts/p1/versions HTTP/1.1';
  return `${line}\r\nHost: 127.0.0.1:${port}\r\nX-API-Key: ${KEY}\r\nContent-Type: application/json\r\n`;
}

/** Opens a connection and sends these bytes. The connection is closed when the test ends. */
export async function sendBytes({ server }: Service, bytes: string): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await new Promise<void>((sent) => void socket.write(bytes, () => sent()));
  return socket;
}
