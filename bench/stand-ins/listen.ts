import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Stock, Service } from './service.ts';

/** A recorded request, which a bare loop can resend. */
export type RecordedRequest = { readonly method: string; readonly path: string; readonly body: string };

/** A running stand-in. */
export type RunningStandIn = {
  readonly baseUrl: string;
  /** Replaces the prompts of the service. */
  readonly stock: (stock: Stock) => void;
  /** Sets the latency in milliseconds before each response. */
  readonly delay: (latency: number) => void;
  /** Returns the number of requests since the last call of `begin`. */
  readonly count: () => number;
  /** Returns the requests since the last call of `begin`, or an empty list if recording is off. */
  readonly recorded: () => readonly RecordedRequest[];
  /** Starts a new count of requests, and turns recording on or off. */
  readonly begin: (record: boolean) => void;
  readonly close: () => void;
};

/** Serves a stand-in on 127.0.0.1, on a free port. */
export async function listen(service: Service): Promise<RunningStandIn> {
  const state = { latency: 0, count: 0, record: false, requests: [] as RecordedRequest[] };
  const server = createServer((request, response) => {
    state.count += 1;
    readBody(request, (body) => {
      const { method = '', url: path = '' } = request;
      if (state.record) state.requests.push({ method, path, body });
      const { status, body: responseBody } = service.answer(method, path, body, request.headers);
      if (state.latency === 0) send(response, status, responseBody);
      else setTimeout(send, state.latency, response, status, responseBody);
    });
  });
  // Keeps idle connections open, because a round can start long after the previous round.
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : address;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    stock: service.stock,
    delay: (latency) => void Object.assign(state, { latency }),
    count: () => state.count,
    recorded: () => state.requests,
    begin: (record) => void Object.assign(state, { record, count: 0, requests: [] }),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function readBody(request: IncomingMessage, done: (body: string) => void): void {
  const chunks: Uint8Array[] = [];
  request.on('data', (chunk: Uint8Array) => void chunks.push(chunk));
  request.on('end', () => done(chunks.length === 0 ? '' : Buffer.concat(chunks).toString('utf8')));
}

function send(response: ServerResponse, status: number, body: string): void {
  const bytes = Buffer.from(body, 'utf8');
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length });
  response.end(bytes);
}
