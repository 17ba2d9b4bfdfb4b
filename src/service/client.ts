import type { PromptService, RemotePrompt } from '../domain/prompt-service.ts';
import { createVersionCall, readPromptCall, setActiveCall, updatePromptCall, type Call } from './calls.ts';
import { makeDispatchers, type Dispatchers, type Environment } from './dispatchers.ts';
import { send, type Exchange, type HttpRequest, type Sending } from './http.ts';
import { judge, type Judging } from './judge.ts';
import { makeQueue, type Queue } from './queue.ts';
import { makeRecall } from './recall.ts';
import { withRetries, type RetryPolicy } from './retry.ts';
import { API_KEY_HEADER } from './wire.ts';

/** One request that was made. `status` is null when none came; `attempt` counts from 1. */
export type CallReport = {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly status: number | null;
  readonly milliseconds: number;
  readonly attempt: number;
};

/** `now` in milliseconds since 1970, `random` in [0, 1), `sleep` in milliseconds. */
export type ClientOptions = RetryPolicy & {
  /** May have a path. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Requests in flight, at most: fewer at first, and where the service does not take as many well. */
  readonly concurrency: number;
  /** For each attempt as a whole, from its start to the last byte of its answer. */
  readonly timeoutSeconds: number;
  /** For HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in upper or lower case. */
  readonly environment: Environment;
  readonly onCall?: (report: CallReport) => void;
  /** Once aborted, no request is begun, not even of a call that has waited for its turn. */
  readonly stop?: AbortSignal;
};

/** A service with connections of its own, which have to be closed. */
export type ConnectedService = PromptService & {
  /** Ends all connections at once: for when no call is in flight. */
  readonly close: () => Promise<void>;
};

/**
 * The prompt service over HTTP (interface sections 4 and 5). Nothing is sent before the first call; a base URL that is
 * no URL throws a `TypeError`.
 */
export function connect(options: ClientOptions): ConnectedService {
  const line = makeLine(options);
  const recall = makeRecall<RemotePrompt>();
  return {
    readPrompt: async (promptId, environment) => perform(readPromptCall(promptId, environment, recall), line),
    createVersion: async (promptId, version) => perform(createVersionCall(promptId, version), line),
    updatePrompt: async (promptId, fields) => perform(updatePromptCall(promptId, fields), line),
    setActive: async (promptId, environment, versionId) =>
      perform(setActiveCall(promptId, environment, versionId), line),
    close: line.dispatchers.close,
  };
}

type Line = {
  readonly options: ClientOptions;
  readonly judging: Judging;
  /** The base URL's path without a slash at its end. */
  readonly basePath: string;
  readonly headers: Headers;
  readonly sending: Readonly<Record<'reused' | 'fresh', Sending>>;
  readonly dispatchers: Dispatchers;
  readonly queue: Queue;
};

type Headers = HttpRequest['headers'];

function makeLine(options: ClientOptions): Line {
  const { apiKey, concurrency, environment, now, timeoutSeconds } = options;
  const url = new URL(options.baseUrl);
  const timeoutMilliseconds = timeoutSeconds * 1_000;
  const dispatchers = makeDispatchers({ origin: url, concurrency, timeoutMilliseconds, environment });
  const sendingOver = (connection: 'reused' | 'fresh') => {
    const dispatcher = () => dispatchers.get(connection);
    return { dispatcher, reset: connection === 'fresh', timeoutMilliseconds, now };
  };
  return {
    options,
    judging: { origin: url.origin, seconds: timeoutSeconds, apiKey },
    basePath: url.pathname.replace(/\/+$/, ''),
    headers: headersWith(apiKey),
    sending: { reused: sendingOver('reused'), fresh: sendingOver('fresh') },
    dispatchers,
    queue: makeQueue(concurrency),
  };
}

/** A place among the requests in flight is held while a request runs, not while it waits to be repeated. */
function perform<Answer>(call: Call<Answer>, line: Line): Promise<Answer> {
  return withRetries(
    async (attempt) => judge(call, await line.queue(() => exchange(call, line, attempt)), line.judging),
    line.options,
  );
}

async function exchange(call: Call<unknown>, line: Line, attempt: number): Promise<Exchange> {
  const { now, onCall, stop } = line.options;
  if (stop?.aborted) return STOPPED;
  const { method } = call;
  const path = line.basePath + call.path;
  const [headers, body] = call.body === null ? [line.headers, null] : [withBody(line), JSON.stringify(call.body)];
  const started = now();
  const result = await send(
    { origin: line.judging.origin, method, path, headers, body },
    line.sending[call.once ? 'fresh' : 'reused'],
  );
  onCall?.({ method, path, status: result.status, milliseconds: now() - started, attempt });
  // A write takes its time: beside reads it would look like a service that is getting slower.
  return method === 'GET' ? result : { ...result, waited: null };
}

const STOPPED: Exchange = { kind: 'broken', status: null, sent: false, how: { kind: 'stopped' }, waited: null };

function headersWith(apiKey: string): Headers {
  return {
    [API_KEY_HEADER]: apiKey,
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'promptsync',
  };
}

function withBody({ headers }: Line): Headers {
  return { ...headers, 'content-type': 'application/json' };
}
