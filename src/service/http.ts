import { subscribe } from 'node:diagnostics_channel';
import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';
import { isLoopback, proxiesOf } from '../domain/network.ts';

export type HttpSettings = {
  /** May have a path. */
  readonly baseUrl: string;
  /** Requests in flight, at most: as many connections, and as many again for what is sent on fresh ones. */
  readonly concurrency: number;
  /** For each request as a whole, from its start to the last byte of its answer. */
  readonly timeoutSeconds: number;
  /** For HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in upper or lower case. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  /** Below the base URL, with the query, percent-encoded; sent as it is. */
  readonly path: string;
  /** What is undefined in it is not sent. */
  readonly body: object | null;
  /** Whether it gets a connection of its own. */
  readonly fresh: boolean;
};

/** What became of one request. */
export type Exchange = Answered | Broken;

export type Answered = {
  readonly kind: 'answered';
  readonly status: number;
  readonly retryAfter: string | null;
  readonly encoding: string | null;
  /** The header `X-Next-Page` of GitLab's lists. */
  readonly nextPage: string | null;
  readonly body: Uint8Array;
  /** False where a body other than that of a 2xx answer was cut short. */
  readonly whole: boolean;
};

/** It got no status, or a 2xx answer without its end. */
export type Broken = {
  readonly kind: 'broken';
  readonly status: number | null;
  /** False only where not a byte of it can have left. */
  readonly sent: boolean;
  /**
   * Node's or undici's, or one of ours: `TOO_LATE`, `TOO_LARGE`. It is all that is kept of an error, because undici's may
   * hold headers, and with them the key.
   */
  readonly code: string;
  /** Host and port to which no connection came about: the service's or a proxy's. Null where one did. */
  readonly unreached: string | null;
};

export const TOO_LATE = 'TimeoutError';
export const TOO_LARGE = 'too-large';

/** Of each request for JSON, besides the secret that goes along. */
const HEADERS = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'promptsync' };

/** In bytes; a larger 2xx answer is a failure. */
export const ANSWER_LIMIT = 32 * 1024 * 1024;
const ERROR_BODY_LIMIT = 16 * 1024;

export type Http = ReturnType<typeof makeHttp>;

/**
 * Sends JSON with a header that holds a secret. Dispatchers are made when first used, so that a broken proxy setting fails
 * a call and not the start.
 */
export function makeHttp(settings: HttpSettings, secret: Readonly<Record<string, string>>) {
  const { origin, pathname } = new URL(settings.baseUrl);
  const prefix = pathname.replace(/\/+$/, '');
  const dispatchers = new Map<boolean, Dispatcher>();
  const dispatcherFor = (fresh: boolean) => {
    const dispatcher = dispatchers.get(fresh) ?? makeDispatcher(settings);
    dispatchers.set(fresh, dispatcher);
    return dispatcher;
  };
  return {
    /** Never rejects. Of an answer that is not 2xx only the beginning is read, and its status counts whatever its body does. */
    send: async ({ method, path, body: value, fresh }: HttpRequest) => {
      const body = value === null ? null : JSON.stringify(value);
      const headers = { ...secret, ...HEADERS, ...(body !== null && { 'content-type': 'application/json' }) };
      // `reset` leaves no connection behind that could be used again.
      const request = { origin, method, path: prefix + path, headers, body, reset: fresh };
      return send(request, () => dispatcherFor(fresh), settings.timeoutSeconds * 1_000);
    },
    /** What stands before each path: that of the base URL. */
    prefix,
    /** Ends all connections at once, those of requests in flight too. */
    close: async () => void (await Promise.all([...dispatchers.values()].map((each) => each.destroy()))),
  };
}

function makeDispatcher({ baseUrl, concurrency, timeoutSeconds, environment }: HttpSettings): Dispatcher {
  const service = new URL(baseUrl);
  const options = {
    connections: concurrency,
    connectTimeout: timeoutSeconds * 1_000,
    // One request at a time is what `concurrency` and `fresh` are about; and HTTP/2 takes 0.91 to 1.10 of the time of
    // HTTP/1.1 with 8 or 32 requests in flight and 0, 20 or 50 ms of latency, so it would gain nothing.
    allowH2: false,
  };
  // Loopback addresses are never reached through a proxy: the key would leave the machine.
  if (isLoopback(service)) return new Pool(service.origin, options);
  return new EnvHttpProxyAgent({
    ...options,
    ...proxiesOf(environment),
    // What asks a proxy for tunnels is given no other option of the above.
    clientFactory: (proxy, given) => new Pool(proxy, { ...given, headersTimeout: timeoutSeconds * 1_000 }),
  });
}

type Request = Dispatcher.RequestOptions;

async function send(request: Request, dispatcher: () => Dispatcher, milliseconds: number): Promise<Exchange> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new DOMException('too late', TOO_LATE)), milliseconds);
  try {
    // The deadline ends all. undici heeds it right before it writes the first byte, so that a connection that comes about
    // after it carries no request; one that never comes about ends by `connectTimeout`.
    const times = { signal: deadline.signal, headersTimeout: 0, bodyTimeout: 0 };
    return await readAnswer(await dispatcher().request({ ...request, ...times }));
  } catch (error) {
    const unreached = error instanceof Error ? (unconnected.get(error) ?? null) : null;
    const code = codeOf(error);
    return { kind: 'broken', status: null, sent: unreached === null && !UNSENT.has(code), code, unreached };
  } finally {
    clearTimeout(timer);
  }
}

type ConnectError = { readonly error: Error; readonly connectParams: { readonly host: string } };

/**
 * Errors of connections that did not come about, with the host and port that they were to. The code of an error does not
 * tell: a connection can be reset in its TLS handshake as well as after a request was sent over it.
 */
const unconnected = new WeakMap<object, string>();
subscribe('undici:client:connectError', (message) => {
  const { error, connectParams } = message as ConnectError;
  // The error of a proxy comes twice: as its own, then as that of the service behind it.
  if (!unconnected.has(error)) unconnected.set(error, connectParams.host);
});

/** undici checks a request and a proxy's address before it connects; a proxy's 407 has the second code as well. */
const UNSENT = new Set(['ERR_INVALID_URL', 'UND_ERR_INVALID_ARG']);

async function readAnswer({ statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<Exchange> {
  const good = status >= 200 && status < 300;
  const { bytes, cut } = await readUpTo(good ? ANSWER_LIMIT : ERROR_BODY_LIMIT, body);
  if (good && cut !== null) return { kind: 'broken', status, sent: true, code: cut, unreached: null };
  return {
    kind: 'answered',
    status,
    retryAfter: headerOf(headers, 'retry-after'),
    encoding: headerOf(headers, 'content-encoding'),
    nextPage: headerOf(headers, 'x-next-page'),
    body: bytes,
    whole: cut === null,
  };
}

/** What comes of a body until it ends or is about as long as this; `cut` says why it was not read to its end. */
async function readUpTo(limit: number, body: AsyncIterable<Uint8Array>) {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      // Leaving the loop ends the connection.
      if (size > limit) return { bytes: Buffer.concat(chunks), cut: TOO_LARGE };
    }
    return { bytes: Buffer.concat(chunks), cut: null };
  } catch (error) {
    return { bytes: Buffer.concat(chunks), cut: codeOf(error) };
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

function headerOf(headers: Dispatcher.ResponseData['headers'], name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
