import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { API_KEY_HEADER } from '../service/wire.ts';
import { answerCall, type Answer, type Call } from './answer.ts';
import { makeRoom, readBody, type Room } from './body.ts';
import type { Store } from './store.ts';

const HOST = '127.0.0.1';

export type EmbeddedServer = Awaited<ReturnType<typeof startServer>>;

/** One request that was answered; `path` has the query, and `body` is present when it was read and JSON. */
export type RequestRecord = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
};

export type ServerOptions = {
  readonly store: Store;
  /** 0 takes a free one. */
  readonly port: number;
  /** Called right before the answer is sent. */
  readonly onRequest?: (record: RequestRecord) => void;
};

/** Serves the store on the loopback address alone. Rejects when the port cannot be had. */
export async function startServer(options: ServerOptions) {
  const room = makeRoom();
  const server = createServer((request, response) => {
    // The client went away, or the hook has thrown.
    respond(request, response, options, room).catch(() => response.destroy());
  });
  const port = await listen(server, options.port);
  return {
    baseUrl: `http://${HOST}:${port}`,
    port,
    /** Ends every connection, idle or not. The store stays open. May be called again. */
    close: () => close(server),
  };
}

async function respond(request: IncomingMessage, response: ServerResponse, options: ServerOptions, room: Room) {
  const { store, onRequest } = options;
  const { method = '', url: target = '' } = request;
  const apiKey = request.headers[API_KEY_HEADER]?.toString();
  let body: unknown;
  const call = { method, target, apiKey, readBody: async () => (body = await readBody(request, room)) };
  const answer = isForUs(request) ? await answerSafely(store, call, request) : ELSEWHERE;
  onRequest?.({ method, path: target, ...(body === undefined ? {} : { body }), status: answer.status });
  send(response, answer);
}

const ELSEWHERE: Answer = {
  status: 421,
  body: { detail: 'This service is 127.0.0.1 or localhost, by no other name.' },
};

/** A page of somebody else's, whose name has been pointed at this machine, is told apart by that name. */
function isForUs({ headers, socket }: IncomingMessage): boolean {
  const port = socket.localPort === 80 ? '' : `:${socket.localPort}`;
  return [HOST, 'localhost'].some((name) => headers.host === `${name}${port}`);
}

async function answerSafely(store: Store, call: Call, request: IncomingMessage): Promise<Answer> {
  try {
    return await answerCall(store, call);
  } catch (error) {
    if (request.errored !== null) throw error;
    return { status: 500, body: { detail: 'The service met an error of its own.' } };
  }
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  const bytes = Buffer.from(JSON.stringify(body), 'utf8');
  response.writeHead(status, { ...headers, 'content-type': 'application/json', 'content-length': bytes.length });
  response.end(bytes);
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    // Stays for the server's life: without a listener a later error would end the process.
    server.on('error', reject);
    server.listen(port, HOST, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** Keep-alive connections would hold a plain close for seconds. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
