import { z } from 'zod';
import { makeExcerpt } from '../text.ts';
import type { World } from '../domain/world.ts';
import { makeProblem, type Problem, ProblemError } from '../problem.ts';
import { mayRepeat, describeBrokenExchange } from '../service/interpret-exchange.ts';
import { makeHttp, type Exchange, type Http } from '../service/http.ts';
import { ServiceError, type Effect } from '../service/prompt-service.ts';
import { parseRetryAfter, withRetries, type AttemptResult } from '../service/retry.ts';

/** A client of GitLab's REST API that repeats what failed for a moment, and gives up within a minute. */
export type GitLab = {
  /** Throws a `ServiceError`; with the effect `unknown` what was sent may have been done. */
  readonly send: <Answer>(call: GitLabCall<Answer>) => Promise<Answer>;
  /** The items of a list, page by page. A page may be short before the last: GitLab drops from it what is not for us. */
  readonly list: <Item>(path: string, item: z.ZodType<Item>) => AsyncGenerator<Item>;
  /** Ends all connections. */
  readonly close: () => Promise<void>;
};

type GitLabCall<Answer> = {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Below the address of the API. */
  readonly path: string;
  readonly body?: object;
  /** What is read of the answer. */
  readonly shape: z.ZodType<Answer>;
};

type GitLabPage<Answer> = { readonly value: Answer; readonly next: string | null };

/** In milliseconds: for one request, and for all of a command, whose start and end have their place in the minute too. */
const MAX_REQUEST_MS = { one: 10_000, all: 50_000 };
/** The longest wait before a repetition that no `Retry-After` asks for. */
const BACKOFF_MS = 1_000;

/** `until` is when it has to be over, in milliseconds since 1970. */
type GitLabConnection = { readonly apiUrl: URL; readonly token: string; readonly http: Http; readonly until: number };

/** The token goes to the origin of CI_API_V4_URL alone. Nothing is sent before the first call. */
export function connectGitLab(token: string, world: World): GitLab {
  const { environment, now } = world;
  const apiUrl = readApiUrl(environment);
  const settings = { baseUrl: apiUrl.href, concurrency: 1, timeoutSeconds: MAX_REQUEST_MS.one / 1_000, environment };
  const http = makeHttp(settings, { 'private-token': token });
  const connection = { apiUrl, token, http, until: now() + MAX_REQUEST_MS.all };
  const perform = <Answer>(call: GitLabCall<Answer>) => withRetries(() => sendOnce(call, connection, world), world);
  return {
    send: async (call) => (await perform(call)).value,
    list: async function* (path, item) {
      const shape = z.array(item);
      for (let page: string | null = '1'; page !== null;) {
        const query: string = `${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`;
        const call = { method: 'GET', path: path + query, shape } as const;
        const { value, next }: GitLabPage<z.infer<typeof shape>> = await perform(call);
        yield* value;
        page = next;
      }
    },
    close: connection.http.close,
  };
}

/** Plain http is used where GitLab's runner says so: it is how that very GitLab is reached. */
function readApiUrl(environment: World['environment']): URL {
  const url = URL.parse(environment['CI_API_V4_URL'] ?? '');
  if (url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '') return url;
  throw new ProblemError(makeNotPublishedError('the variable CI_API_V4_URL holds no address'));
}

/** Without a status where no answer came. */
function makeNotPublishedError(reason: string, status = 0): Problem {
  return makeProblem('gitlab/not-published', { reason, status });
}

type GitLabAttempt<Answer> = AttemptResult<GitLabPage<Answer>>;

async function sendOnce<Answer>(
  call: GitLabCall<Answer>,
  connection: GitLabConnection,
  world: World,
): Promise<GitLabAttempt<Answer>> {
  const { http, until } = connection;
  const { now, stopSignal } = world;
  if (stopSignal.aborted) return makeFailedAttempt('the run was interrupted', 'not-sent');
  if (now() + MAX_REQUEST_MS.one > until) return makeFailedAttempt('GitLab takes too long', 'not-sent');
  const { method, path, body = null } = call;
  const fresh = method === 'POST';
  const exchange = await http.send({ method, path, body, usesFreshConnection: fresh });
  const attempt = interpretResponse(call, exchange, connection);
  const retryAfter = exchange.kind === 'answered' ? exchange.retryAfter : null;
  const wait = Math.max(BACKOFF_MS, parseRetryAfter(retryAfter ?? '', now()));
  const isInTime = now() + wait + MAX_REQUEST_MS.one <= until;
  return attempt.isSuccess ? attempt : { ...attempt, retryAfter, mayRepeat: mayRepeat(exchange, fresh) && isInTime };
}

function makeFailedAttempt(reason: string, effect: Effect, status?: number): AttemptResult<never> {
  const error = new ServiceError(makeNotPublishedError(reason, status), effect);
  return { isSuccess: false, error, retryAfter: null, mayRepeat: false };
}

function interpretResponse<Answer>(
  { shape }: GitLabCall<Answer>,
  exchange: Exchange,
  { apiUrl, token }: GitLabConnection,
): GitLabAttempt<Answer> {
  if (exchange.kind === 'broken') {
    const reason = `${apiUrl.host} gave no answer (${describeBrokenExchange(exchange, apiUrl.href)})`;
    return makeFailedAttempt(reason, exchange.mayHaveBeenSent ? 'unknown' : 'not-sent');
  }
  const { status, isComplete: whole, nextPage } = exchange;
  const text = Buffer.from(exchange.body).toString('utf8');
  if (status < 200 || status >= 300) {
    const said = makeExcerpt(text, whole, token);
    const effect = status >= 300 && status < 500 ? 'rejected' : 'unknown';
    return makeFailedAttempt(`GitLab answers ${status}${said === '' ? '' : `: ${said}`}`, effect, status);
  }
  try {
    const next = /^\d+$/.exec(nextPage ?? '')?.[0] ?? null;
    return { isSuccess: true, value: { value: shape.parse(JSON.parse(text)), next } };
  } catch {
    return makeFailedAttempt('the answer is none that GitLab documents', 'unknown');
  }
}
