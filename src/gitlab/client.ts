import { z } from 'zod';
import { makeExcerpt } from '../domain/text.ts';
import type { World } from '../domain/world.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import { mayRepeat, reasonOf } from '../service/errors.ts';
import { makeHttp, type Exchange, type Http } from '../service/http.ts';
import { ServiceError, type Effect } from '../service/prompt-service.ts';
import { parseRetryAfter, withRetries, type Attempt } from '../service/retry.ts';

/** A client of GitLab's REST API that repeats what failed for a moment, and gives up within a minute. */
export type GitLab = {
  /** Throws a `ServiceError`; with the effect `unknown` what was sent may have been done. */
  readonly send: <Answer>(call: Call<Answer>) => Promise<Answer>;
  /** The items of a list, page by page. A page may be short before the last: GitLab drops from it what is not for us. */
  readonly list: <Item>(path: string, item: z.ZodType<Item>) => AsyncGenerator<Item>;
  /** Ends all connections. */
  readonly close: () => Promise<void>;
};

type Call<Answer> = {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Below the address of the API. */
  readonly path: string;
  readonly body?: object;
  /** What is read of the answer. */
  readonly shape: z.ZodType<Answer>;
};

type Page<Answer> = { readonly value: Answer; readonly next: string | null };

/** In milliseconds: for one request, and for all of a command, whose start and end have their place in the minute too. */
const LONGEST = { one: 10_000, all: 50_000 };
/** The longest wait before a repetition that no `Retry-After` asks for. */
const BACKOFF = 1_000;

/** `until` is when it has to be over, in milliseconds since 1970. */
type Connection = { readonly apiUrl: URL; readonly token: string; readonly http: Http; readonly until: number };

/** The token goes to the origin of CI_API_V4_URL alone. Nothing is sent before the first call. */
export function connectGitLab(token: string, world: World): GitLab {
  const { environment, now } = world;
  const apiUrl = apiUrlOf(environment);
  const settings = { baseUrl: apiUrl.href, concurrency: 1, timeoutSeconds: LONGEST.one / 1_000, environment };
  const http = makeHttp(settings, { 'private-token': token });
  const connection = { apiUrl, token, http, until: now() + LONGEST.all };
  const perform = <Answer>(call: Call<Answer>) => withRetries(() => tryOnce(call, connection, world), world);
  return {
    send: async (call) => (await perform(call)).value,
    list: async function* (path, item) {
      const shape = z.array(item);
      for (let page: string | null = '1'; page !== null;) {
        const query: string = `${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`;
        const call = { method: 'GET', path: path + query, shape } as const;
        const { value, next }: Page<z.infer<typeof shape>> = await perform(call);
        yield* value;
        page = next;
      }
    },
    close: connection.http.close,
  };
}

/** Plain http is used where GitLab's runner says so: it is how that very GitLab is reached. */
function apiUrlOf(environment: World['environment']): URL {
  const url = URL.parse(environment['CI_API_V4_URL'] ?? '');
  if (url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '') return url;
  throw new ProblemError(notPublished('the variable CI_API_V4_URL holds no address'));
}

/** Without a status where no answer came. */
function notPublished(reason: string, status = 0) {
  return makeProblem('gitlab/not-published', { reason, status });
}

type Tried<Answer> = Attempt<Page<Answer>>;

async function tryOnce<Answer>(call: Call<Answer>, connection: Connection, world: World): Promise<Tried<Answer>> {
  const { http, until } = connection;
  const { now, stop } = world;
  if (stop.aborted) return failed('the run was interrupted', 'not-sent');
  if (now() + LONGEST.one > until) return failed('GitLab takes too long', 'not-sent');
  const { method, path, body = null } = call;
  const fresh = method === 'POST';
  const exchange = await http.send({ method, path, body, fresh });
  const attempt = interpret(call, exchange, connection);
  const retryAfter = exchange.kind === 'answered' ? exchange.retryAfter : null;
  const wait = Math.max(BACKOFF, parseRetryAfter(retryAfter ?? '', now()));
  const isInTime = now() + wait + LONGEST.one <= until;
  return attempt.ok ? attempt : { ...attempt, retryAfter, repeat: mayRepeat(exchange, fresh) && isInTime };
}

function failed(reason: string, effect: Effect, status?: number): Attempt<never> {
  const error = new ServiceError(notPublished(reason, status), effect);
  return { ok: false, error, retryAfter: null, repeat: false };
}

function interpret<Answer>({ shape }: Call<Answer>, exchange: Exchange, { apiUrl, token }: Connection): Tried<Answer> {
  if (exchange.kind === 'broken') {
    const reason = `${apiUrl.host} gave no answer (${reasonOf(exchange, apiUrl.href)})`;
    return failed(reason, exchange.sent ? 'unknown' : 'not-sent');
  }
  const { status, whole, nextPage } = exchange;
  const text = Buffer.from(exchange.body).toString('utf8');
  if (status < 200 || status >= 300) {
    const said = makeExcerpt(text, whole, token);
    const effect = status >= 300 && status < 500 ? 'rejected' : 'unknown';
    return failed(`GitLab answers ${status}${said === '' ? '' : `: ${said}`}`, effect, status);
  }
  try {
    const next = /^\d+$/.exec(nextPage ?? '')?.[0] ?? null;
    return { ok: true, value: { value: shape.parse(JSON.parse(text)), next } };
  } catch {
    return failed('the answer is none that GitLab documents', 'unknown');
  }
}
