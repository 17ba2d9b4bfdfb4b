import { subscribe } from 'node:diagnostics_channel';
import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';
import { isLoopback, readProxySettings } from '../domain/network.ts';

/** The settings of the HTTP transport. */
export type HttpSettings = {
  /** The address of the service. It may contain a path. */
  readonly baseUrl: string;
  /**
   * The maximum number of shared connections, and also the maximum number of fresh connections. The caller keeps the
   * number of requests in flight within this limit.
   */
  readonly concurrency: number;
  /** The time limit of one request, from its start to the last byte of its response. */
  readonly timeoutSeconds: number;
  /** The environment variables. The transport reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in upper or lower case. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** A request to the service that the transport is connected to. */
export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  /** The path below the base URL, with the query. It is already percent-encoded. */
  readonly path: string;
  /** The body, which is sent as JSON without undefined properties. Null for a request without a body. */
  readonly body: object | null;
  /** Whether the request is sent on a new connection that no other request uses. */
  readonly usesFreshConnection: boolean;
};

/** The result of one request: a response, or the reason why there is none. */
export type Exchange = ReceivedResponse | BrokenExchange;

/** A response with a status. If the status is 2xx, the body is complete. */
export type ReceivedResponse = {
  readonly kind: 'answered';
  readonly status: number;
  /** The header `Retry-After`. Null if it is absent. */
  readonly retryAfter: string | null;
  /** The header `Content-Encoding`. Null if it is absent. */
  readonly encoding: string | null;
  /** The header `X-Next-Page`, which GitLab sends with lists. Null if it is absent. */
  readonly nextPage: string | null;
  readonly body: Uint8Array;
  /** False if the body is truncated. A 2xx response always has the complete body. */
  readonly isComplete: boolean;
};

/** A request without a response, or with a 2xx response whose body ended too early or exceeded the limit. */
export type BrokenExchange = {
  readonly kind: 'broken';
  /** The status of the response. Null if there was no response. */
  readonly status: number | null;
  /** False only if promptsync certainly sent no byte of the request. */
  readonly mayHaveBeenSent: boolean;
  /**
   * An error code of Node or undici, `TIMEOUT_ERROR_NAME` or `TOO_LARGE_CODE`. The error itself is dropped, because
   * errors of undici can contain the request headers and therefore the key.
   */
  readonly code: string;
  /** The host and port that promptsync could not connect to, of the service or of a proxy. Null if it connected. */
  readonly unreachedHost: string | null;
};

/** The error code of a request that exceeded its time limit. */
export const TIMEOUT_ERROR_NAME = 'TimeoutError';
/** The error code of a response that exceeded its size limit. */
export const TOO_LARGE_CODE = 'too-large';

/** The headers of every request, apart from the secret header and the content type. */
const HEADERS = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'promptsync' };

/** The maximum size of a 2xx response in bytes. A larger response is a failure. */
export const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** The maximum number of bytes that are read of a response that is not 2xx. Messages quote only an excerpt. */
const MAX_ERROR_BODY_BYTES = 16 * 1024;

/** The HTTP transport to one base URL. It sends and receives JSON. */
export type Http = {
  /**
   * Sends a request and waits for its response. Never rejects. If the status is not 2xx, only the first 16 KiB of the
   * body are read, and the status counts even if the body ends too early.
   */
  readonly send: (request: HttpRequest) => Promise<Exchange>;
  /** The path of the base URL. The path of each request is appended to it. */
  readonly prefix: string;
  /** Closes all connections immediately, even those with requests in flight. */
  readonly close: () => Promise<void>;
};

/**
 * Makes the HTTP transport for one base URL. The transport makes its connection pools when it sends the first requests,
 * so an invalid proxy setting fails these requests and not the start of promptsync.
 * @param secret the header that authenticates every request
 */
export function makeHttp(settings: HttpSettings, secret: Readonly<Record<string, string>>): Http {
  const { origin, pathname } = new URL(settings.baseUrl);
  const prefix = pathname.replace(/\/+$/, '');
  const dispatchers = new Map<boolean, Dispatcher>();
  const getDispatcher = (usesFreshConnection: boolean): Dispatcher => {
    const dispatcher = dispatchers.get(usesFreshConnection) ?? makeDispatcher(settings);
    dispatchers.set(usesFreshConnection, dispatcher);
    return dispatcher;
  };
  return {
    send: async ({ method, path, body: value, usesFreshConnection }) => {
      const body = value === null ? null : JSON.stringify(value);
      const headers = { ...secret, ...HEADERS, ...(body !== null && { 'content-type': 'application/json' }) };
      // `reset` closes the connection after the request, so that no other request can use it.
      const request = { origin, method, path: prefix + path, headers, body, reset: usesFreshConnection };
      return sendRequest(request, () => getDispatcher(usesFreshConnection), settings.timeoutSeconds * 1_000);
    },
    prefix,
    close: async () => void (await Promise.all([...dispatchers.values()].map((dispatcher) => dispatcher.destroy()))),
  };
}

/** Makes a connection pool that follows the proxy variables. */
function makeDispatcher({ baseUrl, concurrency, timeoutSeconds, environment }: HttpSettings): Dispatcher {
  const service = new URL(baseUrl);
  const options = {
    connections: concurrency,
    connectTimeout: timeoutSeconds * 1_000,
    // `concurrency` and fresh connections rely on one request per connection. HTTP/2 would gain nothing: it took 0.91
    // to 1.10 of the time of HTTP/1.1 with 8 or 32 requests in flight and 0, 20 or 50 ms of latency.
    allowH2: false,
  };
  // A proxy must never receive requests for a loopback address: the key would leave the machine.
  if (isLoopback(service)) return new Pool(service.origin, options);
  return new EnvHttpProxyAgent({
    ...options,
    ...readProxySettings(environment),
    // undici passes none of the options above to the pool that requests tunnels from a proxy.
    clientFactory: (proxy, defaults) => new Pool(proxy, { ...defaults, headersTimeout: timeoutSeconds * 1_000 }),
  });
}

type Request = Dispatcher.RequestOptions;

/** Sends one request within a time limit. Never rejects. */
async function sendRequest(request: Request, getDispatcher: () => Dispatcher, milliseconds: number): Promise<Exchange> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new DOMException('too late', TIMEOUT_ERROR_NAME)), milliseconds);
  try {
    // The deadline replaces the timeouts of undici. undici checks the signal right before it writes the first byte, so
    // a connection that opens after the deadline carries no request. `connectTimeout` ends a connection that never
    // opens.
    const limits = { signal: deadline.signal, headersTimeout: 0, bodyTimeout: 0 };
    return await readResponse(await getDispatcher().request({ ...request, ...limits }));
  } catch (error) {
    const unreachedHost = error instanceof Error ? (unreachedHosts.get(error) ?? null) : null;
    const code = getErrorCode(error);
    return {
      kind: 'broken',
      status: null,
      mayHaveBeenSent: unreachedHost === null && !NEVER_SENT_CODES.has(code),
      code,
      unreachedHost,
    };
  } finally {
    clearTimeout(timer);
  }
}

type ConnectError = { readonly error: Error; readonly connectParams: { readonly host: string } };

/**
 * Maps the error of a connection that did not open to its host and port. The error code alone does not tell whether a
 * request was sent: a connection can be reset during its TLS handshake or after a request was sent on it.
 */
const unreachedHosts = new WeakMap<object, string>();
subscribe('undici:client:connectError', (message) => {
  const { error, connectParams } = message as ConnectError;
  // undici reports the error of a proxy twice: first for the proxy, then for the service behind it.
  if (!unreachedHosts.has(error)) unreachedHosts.set(error, connectParams.host);
});

/**
 * The error codes of requests that were certainly not sent. undici checks a request and the address of a proxy before
 * it connects. undici also uses the second code if a proxy refuses a tunnel with the status 407.
 */
const NEVER_SENT_CODES = new Set(['ERR_INVALID_URL', 'UND_ERR_INVALID_ARG']);

/** Reads the status, the headers and the body of a response. */
async function readResponse({ statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<Exchange> {
  const isSuccess = status >= 200 && status < 300;
  const { bytes, failureCode } = await readUpTo(isSuccess ? MAX_RESPONSE_BYTES : MAX_ERROR_BODY_BYTES, body);
  if (isSuccess && failureCode !== null) {
    return { kind: 'broken', status, mayHaveBeenSent: true, code: failureCode, unreachedHost: null };
  }
  return {
    kind: 'answered',
    status,
    retryAfter: getHeader(headers, 'retry-after'),
    encoding: getHeader(headers, 'content-encoding'),
    nextPage: getHeader(headers, 'x-next-page'),
    body: bytes,
    isComplete: failureCode === null,
  };
}

/** A complete body, or its beginning. */
type BodyStart = {
  readonly bytes: Uint8Array;
  /** The error code of the failure that ended the body early. Null if the body is complete. */
  readonly failureCode: string | null;
};

/** Reads a body until it ends, fails or exceeds the limit. */
async function readUpTo(limit: number, body: AsyncIterable<Uint8Array>): Promise<BodyStart> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      // Leaving the loop closes the connection.
      if (size > limit) return { bytes: Buffer.concat(chunks), failureCode: TOO_LARGE_CODE };
    }
    return { bytes: Buffer.concat(chunks), failureCode: null };
  } catch (error) {
    return { bytes: Buffer.concat(chunks), failureCode: getErrorCode(error) };
  }
}

/** Returns the code of an error of Node or undici, or its name if it has no code. */
function getErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

function getHeader(headers: Dispatcher.ResponseData['headers'], name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
