import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { API_KEY_HEADER } from '../providers/four-call/api-shapes.ts';
import { answerCall, type EmbeddedResponse, type EmbeddedCall } from './answer-call.ts';
import { makeBodyMemory, readBody, type BodyMemory } from './read-body.ts';
import type { Store } from './prompt-store.ts';

const HOST = '127.0.0.1';

export type EmbeddedServer = {
  readonly baseUrl: string;
  readonly port: number;
  /** Closes all connections, even busy ones, but not the store. It is safe to call this function more than once. */
  readonly close: () => Promise<void>;
};

/** An answered request. `path` includes the query. `body` is absent if the service did not read valid JSON. */
export type RequestRecord = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
};

export type ServerOptions = {
  readonly store: Store;
  /** The port to listen on. 0 selects any free port. */
  readonly port: number;
  /** Called right before the service sends the response. */
  readonly onRequest?: (record: RequestRecord) => void;
};

/** Serves the store on the loopback address only. Rejects if the port is not available. */
export async function startServer(options: ServerOptions): Promise<EmbeddedServer> {
  const memory = makeBodyMemory();
  const server = createServer((request, response) => {
    // This promise rejects if the client disconnects or if `onRequest` throws an error.
    respondToRequest(request, response, options, memory).catch(() => response.destroy());
  });
  const port = await listenOnLoopback(server, options.port);
  return {
    baseUrl: `http://${HOST}:${port}`,
    port,
    close: () => closeServer(server),
  };
}

async function respondToRequest(
  request: IncomingMessage,
  response: ServerResponse,
  options: ServerOptions,
  memory: BodyMemory,
): Promise<void> {
  const { store, onRequest } = options;
  const { method = '', url: target = '' } = request;
  const apiKey = request.headers[API_KEY_HEADER]?.toString();
  let body: unknown;
  const call = { method, target, apiKey, readBody: async () => (body = await readBody(request, memory)) };
  const answer = isAddressedToLoopback(request) ? await answerSafely(store, call, request) : WRONG_HOST_RESPONSE;
  onRequest?.({ method, path: target, ...(body === undefined ? {} : { body }), status: answer.status });
  sendResponse(response, answer);
}

const WRONG_HOST_RESPONSE: EmbeddedResponse = {
  status: 421,
  body: { detail: 'This service answers only to the host names 127.0.0.1 and localhost.' },
};

/** Checks the Host header against DNS rebinding: a web page's own host name could resolve to the loopback address. */
function isAddressedToLoopback({ headers, socket }: IncomingMessage): boolean {
  const port = socket.localPort === 80 ? '' : `:${socket.localPort}`;
  return [HOST, 'localhost'].some((name) => headers.host === `${name}${port}`);
}

async function answerSafely(store: Store, call: EmbeddedCall, request: IncomingMessage): Promise<EmbeddedResponse> {
  try {
    return await answerCall(store, call);
  } catch (error) {
    if (request.errored !== null) throw error;
    return { status: 500, body: { detail: 'The service failed with an internal error.' } };
  }
}

function sendResponse(response: ServerResponse, { status, headers, body }: EmbeddedResponse): void {
  const bytes = Buffer.from(JSON.stringify(body), 'utf8');
  response.writeHead(status, { ...headers, 'content-type': 'application/json', 'content-length': bytes.length });
  response.end(bytes);
}

function listenOnLoopback(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    // Keep this listener after startup. Without it, a later error would end the process.
    server.on('error', reject);
    server.listen(port, HOST, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** Also closes open keep-alive connections, because `close` alone would wait several seconds for them. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
