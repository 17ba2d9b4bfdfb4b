import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { describeWrite } from './service.ts';

export type FrontRequest = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** The API key that came with it. */
  readonly key?: string;
};
export type FrontAnswer = {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type FrontOptions = {
  /** The service to hand requests on to. */
  readonly target?: string;
  /** Answers instead of the service; null hands the request on. */
  readonly answer?: (request: FrontRequest) => FrontAnswer | null | Promise<FrontAnswer | null>;
};

export type Front = {
  readonly baseUrl: string;
  readonly requests: FrontRequest[];
  /** What was sent since it was last asked for and was not GET. */
  readonly takeWrites: () => readonly string[];
};

/** Stands before a service, records every request and answers some itself. */
export async function startFront(options: FrontOptions): Promise<Front> {
  const requests: FrontRequest[] = [];
  const server = createServer((request, response) => {
    respond(request, response, options, requests).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    takeWrites: () => requests.splice(0).flatMap(describeWrite),
  };
}

async function respond(
  incoming: IncomingMessage,
  response: ServerResponse,
  { target, answer }: FrontOptions,
  requests: FrontRequest[],
): Promise<void> {
  const sent = Buffer.concat(await incoming.toArray()).toString('utf8');
  const { method = '', url = '' } = incoming;
  const key = keyOf(incoming);
  const request = {
    method,
    path: url,
    ...(key === undefined ? {} : { key }),
    ...(sent === '' ? {} : { body: JSON.parse(sent) }),
  };
  requests.push(request);
  const own = await answer?.(request);
  const { status, body, headers } = own ?? (await handOn(incoming, sent, target));
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

async function handOn(incoming: IncomingMessage, sent: string, target = ''): Promise<FrontAnswer> {
  const { method = '', url = '' } = incoming;
  const key = keyOf(incoming);
  const answer = await fetch(target + url, {
    method,
    headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'x-api-key': key }) },
    ...(sent === '' ? {} : { body: sent }),
  });
  return { status: answer.status, body: await answer.text() };
}

function keyOf({ headers }: IncomingMessage): string | undefined {
  const key = headers['x-api-key'];
  return typeof key === 'string' ? key : undefined;
}
