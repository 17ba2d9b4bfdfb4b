import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Stock, Service } from './service.ts';

/** One request as it was asked, to be sent again by a bare loop. */
export type Recorded = { readonly method: string; readonly path: string; readonly body: string };

export type Listening = {
  readonly baseUrl: string;
  readonly stock: (stock: Stock) => void;
  /** In milliseconds, before each answer. */
  readonly delay: (latency: number) => void;
  /** Requests since the last call of `begin`. */
  readonly count: () => number;
  /** Those requests themselves, where they were to be recorded. */
  readonly recorded: () => readonly Recorded[];
  readonly begin: (record: boolean) => void;
  readonly close: () => void;
};

/** Serves on 127.0.0.1, on a port that is free. */
export async function listen(service: Service): Promise<Listening> {
  const state = { latency: 0, count: 0, record: false, requests: [] as Recorded[] };
  const server = createServer((request, response) => {
    state.count += 1;
    readBody(request, (body) => {
      const { method = '', url: path = '' } = request;
      if (state.record) state.requests.push({ method, path, body });
      const { status, body: answer } = service.answer(method, path, body, request.headers);
      if (state.latency === 0) send(response, status, answer);
      else setTimeout(send, state.latency, response, status, answer);
    });
  });
  // Connections may rest between two rounds.
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

function send(response: ServerResponse, status: number, answer: string): void {
  const bytes = Buffer.from(answer, 'utf8');
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length });
  response.end(bytes);
}
