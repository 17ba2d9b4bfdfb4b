import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { describeWrite, type TestService } from './service.ts';

export type FrontRequest = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** The API key or the `authorization` header of the request. */
  readonly key?: string;
};
export type FrontAnswer = {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type FrontOptions = {
  /** The address of the service that receives forwarded requests. */
  readonly target?: string;
  /** Returns the answer to a request, or null to forward the request to the service. */
  readonly answer?: (request: FrontRequest) => FrontAnswer | null | Promise<FrontAnswer | null>;
};

/** Starts a proxy before a service. It records every request and answers some of them itself. */
export async function startFront({ target = '', answer }: FrontOptions) {
  const requests: FrontRequest[] = [];
  const respond = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming);
    requests.push(request);
    sendAnswer((await answer?.(request)) ?? (await handOn(request, target)), response);
  };
  const server = createServer((incoming, response) => {
    respond(incoming, response).catch(() => response.destroy());
  });
  /** Returns and forgets the write requests since the last call. */
  const takeWrites = (): readonly string[] => requests.splice(0).flatMap(describeWrite);
  return { baseUrl: await listen(server), requests, takeWrites };
}

/** Starts a proxy before a test service. Also returns the variables that make a command use the proxy. */
export async function startFrontFor(
  { baseUrl, environment }: TestService,
  answer: FrontOptions['answer'] = () => null,
) {
  const front = await startFront({ target: baseUrl, answer });
  return { ...front, environment: { ...environment, PROMPTSYNC_BASE_URL: front.baseUrl } };
}

/** Starts a server until the end of the test. Returns its base URL. */
export async function listen(server: Server): Promise<string> {
  const baseUrl = await open(server);
  onTestFinished(() => close(server));
  return baseUrl;
}

/** Starts a server on a free loopback port. Returns its base URL. */
export async function open(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** Stops a server and closes its connections. Kept-alive connections would delay a plain close for seconds. */
export async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

export async function readRequest(incoming: IncomingMessage): Promise<FrontRequest> {
  const sent = Buffer.concat(await incoming.toArray()).toString('utf8');
  const { method = '', url = '', headers } = incoming;
  const key = (headers['x-api-key'] ?? headers.authorization)?.toString();
  return { method, path: url, ...(key !== undefined && { key }), ...(sent !== '' && { body: JSON.parse(sent) }) };
}

export function sendAnswer({ status, body, headers }: FrontAnswer, response: ServerResponse): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

/** Forwards a request to the service. Each service reads only its own key header. */
export async function handOn({ method, path, body, key = '' }: FrontRequest, target: string): Promise<FrontAnswer> {
  const answer = await fetch(target + path, {
    method,
    headers: { 'content-type': 'application/json', 'x-api-key': key, authorization: key },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.text() };
}
