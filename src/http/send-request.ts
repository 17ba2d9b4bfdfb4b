import { subscribe } from 'node:diagnostics_channel';
import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';
import { findProxy, readProxySettings } from '../domain/network.ts';

/** The settings of the HTTP transport. */
export type HttpSettings = {
  /** The address of the service. It may contain a path. */
  readonly baseUrl: string;
  /**
   * The maximum number of connections in each of the two pools: one for shared connections and one for fresh
   * connections. The caller must not have more requests in flight than this.
   */
  readonly concurrency: number;
  /** The time limit for one request in seconds, from its start to the last byte of its response. */
  readonly timeoutSeconds: number;
  /** The environment variables. The transport reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in upper or lower case. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** An HTTP request to the service. */
export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** The percent-encoded path below the base URL, including the query. */
  readonly path: string;
  /** The body, which is sent as JSON without undefined properties. Null if the request has no body. */
  readonly body: object | null;
  /** Whether to send the request on a new connection that no other request uses. */
  readonly usesFreshConnection: boolean;
};

/** The result of one request: a response, or the reason why there is none. */
export type Exchange = ReceivedResponse | BrokenExchange;

/** A response from the service. If the status is 2xx, the body is complete. */
export type ReceivedResponse = {
  readonly kind: 'answered';
  readonly status: number;
  /** The `Retry-After` header. Null if it is absent. */
  readonly retryAfter: string | null;
  /** The `Content-Encoding` header. Null if it is absent. */
  readonly encoding: string | null;
  /** The `Location` header, which contains the target of a redirect. Null if it is absent. */
  readonly location: string | null;
  /** The `X-Next-Page` header, which GitLab sends with lists. Null if it is absent. */
  readonly nextPage: string | null;
  readonly body: Uint8Array;
  /** Whether the body is complete. Always true for a 2xx response. */
  readonly isComplete: boolean;
};

/**
 * A failed request. Either it got no response, or the response was 2xx but its body ended early or exceeded the size
 * limit.
 */
export type BrokenExchange = {
  readonly kind: 'broken';
  /** The status of the response. Null if there was no response. */
  readonly status: number | null;
  /** Whether the request may have been sent. False only if promptsync certainly sent no part of it. */
  readonly mayHaveBeenSent: boolean;
  /**
   * The error code from Node or undici, or one of `TIMEOUT_ERROR_NAME` and `TOO_LARGE_CODE`. The error object is not
   * kept, because errors from undici can contain the request headers and therefore the key.
   */
  readonly code: string;
  /**
   * The host and port of the service or proxy that promptsync could not connect to. Null if the request failed for
   * another reason.
   */
  readonly unreachedHost: string | null;
};

/** The error code of a request that exceeded its time limit. */
export const TIMEOUT_ERROR_NAME = 'TimeoutError';
/** The error code of a response that exceeded its size limit. */
export const TOO_LARGE_CODE = 'too-large';

/** The headers of every request, except the authentication header and the content type. */
const HEADERS = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'promptsync' };

/** The maximum size of a 2xx response in bytes. A larger response counts as a failure. */
export const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** The maximum number of body bytes to read from a response that is not 2xx. Messages quote only an excerpt. */
const MAX_ERROR_BODY_BYTES = 16 * 1024;

/** The HTTP transport for one base URL. It sends and receives JSON. */
export type Http = {
  /**
   * Sends a request and waits for its response. Never rejects. If the status is not 2xx, reads at most 16 KiB of the
   * body, and returns the response even if its body is incomplete.
   */
  readonly send: (request: HttpRequest) => Promise<Exchange>;
  /** The path of the base URL, which precedes the path of each request. */
  readonly prefix: string;
  /** Closes all connections immediately, even those with requests in flight. */
  readonly close: () => Promise<void>;
};

/**
 * Creates the HTTP transport for one base URL. The transport creates its connection pools only when it needs them.
 * Therefore promptsync starts even if a proxy setting is invalid. Only the requests fail.
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

/** Creates a connection pool that respects the proxy environment variables. */
function makeDispatcher({ baseUrl, concurrency, timeoutSeconds, environment }: HttpSettings): Dispatcher {
  const service = new URL(baseUrl);
  const options = {
    connections: concurrency,
    connectTimeout: timeoutSeconds * 1_000,
    // HTTP/2 would send several requests over one connection at the same time. The limit on requests in flight and the
    // fresh connections require one request at a time. HTTP/2 would not bring a clear gain in speed either. In tests
    // with 8 or 32 requests in flight and 0, 20 or 50 ms of latency, it took 0.91 to 1.10 times as long as HTTP/1.1.
    allowH2: false,
  };
  if (findProxy(service, environment) === null) return new Pool(service.origin, options);
  return new EnvHttpProxyAgent({
    ...options,
    ...readProxySettings(environment),
    // undici does not pass the options above to the pool that opens tunnels through a proxy, so set its timeout here.
    clientFactory: (proxy, defaults) => new Pool(proxy, { ...defaults, headersTimeout: timeoutSeconds * 1_000 }),
  });
}

type Request = Dispatcher.RequestOptions;

/** Sends one request within a time limit. Never rejects. */
async function sendRequest(request: Request, getDispatcher: () => Dispatcher, milliseconds: number): Promise<Exchange> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new DOMException('too late', TIMEOUT_ERROR_NAME)), milliseconds);
  try {
    // The deadline replaces the header and body timeouts of undici. undici checks the signal right before it writes the
    // first byte. If the connection opens only after the deadline, the request is therefore not sent. `connectTimeout`
    // ends connection attempts that never succeed.
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
 * Maps the error of a failed connection attempt to the host and port that could not be reached. An error in this map
 * means that the request was not sent. The error code alone does not show this: a connection can be reset during its
 * TLS handshake, but also after a request was sent on it.
 */
const unreachedHosts = new WeakMap<object, string>();
subscribe('undici:client:connectError', (message) => {
  const { error, connectParams } = message as ConnectError;
  // If a proxy cannot be reached, undici reports the error twice: first for the proxy, and then for the service behind
  // it. Keep the first report.
  if (!unreachedHosts.has(error)) unreachedHosts.set(error, connectParams.host);
});

/**
 * The error codes of requests that were certainly not sent. undici uses these codes if the request or the address of
 * the proxy is invalid, which it checks before it connects. It also uses `UND_ERR_INVALID_ARG` if a proxy refuses a
 * tunnel with the status 407.
 */
const NEVER_SENT_CODES = new Set(['ERR_INVALID_URL', 'UND_ERR_INVALID_ARG']);

/** Returns true if an HTTP status means that the server executed the request. */
export function isSuccessStatus(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Reads the status, the headers and the body of a response. */
async function readResponse({ statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<Exchange> {
  const isSuccess = isSuccessStatus(status);
  const { bytes, failureCode } = await readUpTo(isSuccess ? MAX_RESPONSE_BYTES : MAX_ERROR_BODY_BYTES, body);
  if (isSuccess && failureCode !== null) {
    return { kind: 'broken', status, mayHaveBeenSent: true, code: failureCode, unreachedHost: null };
  }
  return {
    kind: 'answered',
    status,
    retryAfter: getHeader(headers, 'retry-after'),
    encoding: getHeader(headers, 'content-encoding'),
    location: getHeader(headers, 'location'),
    nextPage: getHeader(headers, 'x-next-page'),
    body: bytes,
    isComplete: failureCode === null,
  };
}

/** The body of a response, or the part of it that was read before an error occurred. */
type BodyStart = {
  readonly bytes: Uint8Array;
  /** The error code of the failure that ended the body early. Null if the body is complete. */
  readonly failureCode: string | null;
};

/** Reads a body until it ends, an error occurs, or the size exceeds the limit. */
async function readUpTo(limit: number, body: AsyncIterable<Uint8Array>): Promise<BodyStart> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      // Returning here closes the connection, so the rest of the body is not read.
      if (size > limit) return { bytes: Buffer.concat(chunks), failureCode: TOO_LARGE_CODE };
    }
    return { bytes: Buffer.concat(chunks), failureCode: null };
  } catch (error) {
    return { bytes: Buffer.concat(chunks), failureCode: getErrorCode(error) };
  }
}

/** Returns the code of an error from Node or undici, or its name if it has no code. */
function getErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

function getHeader(headers: Dispatcher.ResponseData['headers'], name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
