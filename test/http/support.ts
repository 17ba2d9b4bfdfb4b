import { createServer, type RequestListener, type Server as HttpServer } from 'node:http';
import { createServer as createNetServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import type { NewServiceVersion, PromptService } from '../../src/providers/four-call/prompt-service.ts';
import { ServiceError } from '../../src/http/service-error.ts';
import {
  connectPromptService,
  type ClientOptions,
  type ConnectedService,
} from '../../src/providers/four-call/client.ts';
import type { CallReport } from '../../src/http/connection.ts';

export const KEY = 'sk-live-0123456789abcdef';

export const wireVersion = { id: 'ver_1', prompt_id: 'prm_1', version_number: 1, content: 'Hello' };
export const wirePrompt = { id: 'prm_1', project_id: 'prj', key: 'support/greeting', name: 'Greeting' };

export const newVersion: NewServiceVersion = {
  content: { type: 'text', text: 'Hello', metadata: { model: 'gpt-5', promptsync: { digest: 'x' } } },
};

export type RecordedClient = {
  readonly service: ConnectedService;
  readonly calls: readonly CallReport[];
  readonly sleeps: readonly number[];
};

/** Opens a client whose clock stands still and whose waits take no time. It is closed when the test ends. */
export function openTestClient(options: Partial<ClientOptions> & Pick<ClientOptions, 'baseUrl'>): RecordedClient {
  const calls: CallReport[] = [];
  const sleeps: number[] = [];
  const service = connectPromptService({
    apiKey: KEY,
    concurrency: 4,
    timeoutSeconds: 5,
    environment: {},
    now: () => Date.parse('2026-01-01T00:00:00Z'),
    random: () => 1,
    sleep: async (milliseconds) => void sleeps.push(milliseconds),
    onCall: (call) => void calls.push(call),
    ...options,
  });
  onTestFinished(service.close);
  return { service, calls, sleeps };
}

/** The four calls by name, so that tables can combine them with statuses and faults. */
export const callsByName = {
  readPrompt: (service: PromptService) => service.readPrompt('prm_1', 'staging'),
  createVersion: (service: PromptService) => service.createVersion('prm_1', newVersion),
  updatePrompt: (service: PromptService) => service.updatePrompt('prm_1', { name: 'Greeting' }),
  setActive: (service: PromptService) => service.setActive('prm_1', 'staging', 'ver_1'),
} as const;

export type CallName = keyof typeof callsByName;
export const callNames = Object.keys(callsByName) as readonly CallName[];

/** A valid answer to each call. */
export const goodAnswers = {
  readPrompt: { ...wirePrompt, active_version: wireVersion },
  createVersion: wireVersion,
  updatePrompt: wirePrompt,
  setActive: { updated: true },
} as const satisfies Record<CallName, unknown>;

/** Returns the error of a failing call. Its message must not contain an unfilled value. */
export async function failureOf(promise: Promise<unknown>): Promise<ServiceError> {
  const error = await promise.then(
    () => 'no failure',
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) throw new Error(`expected a ServiceError, got ${String(error)}`);
  // zod writes "received undefined" for a missing field.
  expect(error.message).not.toMatch(/(?<!received )undefined/);
  return error;
}

/** Returns everything that an error can show, including its hidden fields and causes. */
export function collectErrorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = Object.getOwnPropertyNames(error).map((name) => JSON.stringify(Reflect.get(error, name)));
  return [error.stack ?? '', ...own, error.cause === undefined ? '' : collectErrorText(error.cause)].join('\n');
}

/** Answers reads with the prompt and all other requests with the version. */
export const answer: RequestListener = (request, response) => {
  const body = request.method === 'GET' ? wirePrompt : wireVersion;
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
};

export type TestServer = { readonly url: string; readonly port: number; readonly sockets: readonly Socket[] };

export function startHttpServer(listener: RequestListener): Promise<TestServer> {
  return listenUntilTestEnd(createServer(listener));
}

export function startNetServer(onSocket: (socket: Socket) => void): Promise<TestServer> {
  return listenUntilTestEnd(createNetServer(onSocket));
}

/** Listens on a free port of 127.0.0.1 until the test ends. */
export async function listenUntilTestEnd(server: Server | HttpServer): Promise<TestServer> {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    sockets.push(socket.on('error', () => {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    sockets.forEach((socket) => socket.destroy());
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, sockets };
}
