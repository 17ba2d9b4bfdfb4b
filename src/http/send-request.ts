import { subscribe } from 'node:diagnostics_channel';
import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';
import { findProxy, readProxySettings } from '../domain/network.ts';

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
  /** The transport reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in upper or lower case. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** The percent-encoded path below the base URL, including the query. */
  readonly path: string;
  /** Sent as JSON without undefined properties. */
  readonly body: object | null;
  /** Whether to send the request on a new connection that no other request uses. */
  readonly usesFreshConnection: boolean;
};

/** The result of one request: a response, or the reason why there is none. */
export type Exchange = ReceivedResponse | BrokenExchange;

/** A response from the service. */
export type ReceivedResponse = {
  readonly kind: 'answered';
  readonly status: number;
  /** The `Retry-After` header. */
  readonly retryAfter: string | null;
  /** The `Content-Encoding` header. */
  readonly encoding: string | null;
  /** The `Location` header, which contains the target of a redirect. */
  readonly location: string | null;
  /** The `X-Next-Page` header, which GitLab sends with lists. */
  readonly nextPage: string | null;
  readonly body: Uint8Array;
  /** Always true for a 2xx response. */
  readonly isComplete: boolean;
};

/** A request without a response, or with a 2xx response whose body ended early or exceeded the size limit. */
export type BrokenExchange = {
  readonly kind: 'broken';
  /** Null if there was no response. */
  readonly status: number | null;
  /** False only if promptsync certainly sent no part of the request. */
  readonly mayHaveBeenSent: boolean;
  /**
   * The error code from Node or undici, `TIMEOUT_ERROR_NAME`, or `TOO_LARGE_CODE`. The error object is not kept,
   * because errors from undici can contain the request headers and therefore the key.
   */
  readonly code: string;
  /** The host and port that promptsync could not connect to. Null if the request failed for another reason. */
  readonly unreachedHost: string | null;
};

export const TIMEOUT_ERROR_NAME = 'TimeoutError';
export const TOO_LARGE_CODE = 'too-large';

/** The headers of every request, except the authentication header and the content type. */
const HEADERS = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'promptsync' };

/** The maximum size of a 2xx response in bytes. A larger response counts as a failure. */
export const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** The same for other responses. Messages quote only an excerpt. */
const MAX_ERROR_BODY_BYTES = 16 * 1024;

/** The HTTP transport for one base URL. It sends and receives JSON. */
export type Http = {
  /** Never rejects. If the status is not 2xx, reads at most 16 KiB of the body, and the body may be incomplete. */
  readonly send: (request: HttpRequest) => Promise<Exchange>;
  /** The path of the base URL, which precedes the path of each request. */
  readonly prefix: string;
  /** Closes all connections immediately, even those with requests in flight. */
  readonly close: () => Promise<void>;
};

/** Creates connection pools only when needed, so that only requests fail if a proxy setting is invalid. */
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
    // HTTP/2 would send several requests over one connection at once, but the limit on requests in flight and the fresh
    // connections require one at a time. It is not faster either: in tests with 8 or 32 requests in flight and 0, 20 or
    // 50 ms of latency, it took 0.91 to 1.10 times as long as HTTP/1.1.
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

/** Never rejects. */
async function sendRequest(request: Request, getDispatcher: () => Dispatcher, milliseconds: number): Promise<Exchange> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new DOMException('too late', TIMEOUT_ERROR_NAME)), milliseconds);
  try {
    // The deadline replaces undici's header and body timeouts. undici checks the signal right before it writes the
    // first byte, so it does not send a request if the connection opens too late.
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
 * The host and port of each failed connection attempt, whose request was therefore not sent. The error code alone does
 * not show this: a connection can be reset during its TLS handshake, but also after a request was sent.
 */
const unreachedHosts = new WeakMap<object, string>();
subscribe('undici:client:connectError', (message) => {
  const { error, connectParams } = message as ConnectError;
  // For an unreachable proxy, undici reports the error first for the proxy, and then for the service. Keep the first.
  if (!unreachedHosts.has(error)) unreachedHosts.set(error, connectParams.host);
});

/**
 * undici uses these codes if the address of the request or the proxy is invalid, which it checks before it connects. It
 * also uses `UND_ERR_INVALID_ARG` if a proxy refuses a tunnel with the status 407.
 */
const NEVER_SENT_CODES = new Set(['ERR_INVALID_URL', 'UND_ERR_INVALID_ARG']);

/** Returns true if an HTTP status means that the server executed the request. */
export function isSuccessStatus(status: number): boolean {
  return status >= 200 && status < 300;
}

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
  /** Null if the body is complete. */
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
