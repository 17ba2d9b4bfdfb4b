import type { ServerResponse } from 'node:http';
import { KINDS, MAIN, type Kept, type Kind, type Service } from './calls.ts';
import { sendAnswer, type FrontAnswer, type FrontRequest } from '../support/front.ts';

/**
 * The moment at which the service handles a request after the client gave up on it. Moments count the next actions of
 * the client, so that no test depends on the clock.
 */
const MOMENTS = ['next request', 'third request', 'run ended', 'next run begun', 'next create'] as const;
export type Moment = (typeof MOMENTS)[number];

/** Handles a request instead of forwarding it. It ends the answer or the connection, or leaves both open. */
export type Act = (exchange: Exchange) => unknown;

/** A request that has arrived at the front and was not forwarded yet. */
export type Exchange = {
  readonly request: FrontRequest;
  /** The API key of the request, as sent and decoded. */
  readonly key: string;
  readonly service: Service;
  readonly kept: Kept;
  readonly response: ServerResponse;
  /** Another origin, which must never receive a request. */
  readonly elsewhere: string;
  /** Lets the service handle the request, but does not pass on its answer. */
  readonly commit: () => Promise<FrontAnswer>;
  readonly commitAt: (moment: Moment) => void;
  /** Returns the current answer of the service to a read. */
  readonly peek: (path: string) => Promise<FrontAnswer>;
  /** Answers the next `reads` reads of this run with the current state, as a cache in front of the service would. */
  readonly showOld: (reads: number) => Promise<void>;
};

/** A failure of one request. */
export type Fault = {
  readonly name: string;
  /** The kinds of calls at which the fault can occur. */
  readonly on: readonly Kind[];
  readonly act: Act;
  /** The kinds of calls from whose fault the same run recovers. */
  readonly heals?: readonly Kind[];
  /** Whether the client gets no answer, so that its deadline passes. */
  readonly silent?: true;
  /** Whether the matrix also tries the fault at every call of the same name in a run. */
  readonly lasts?: true;
  /** Whether the fault moves much data, so that only few states try it. */
  readonly costly?: true;
  /** Whether the service hides an active version, so that promptsync may activate it again. */
  readonly hides?: true;
  /** Whether the service claims to have created a version that does not exist. No report can be right about this version. */
  readonly phantom?: true;
  /** The sentence under "Known limits" in the contract that allows two versions of the content. */
  readonly limit?: string;
};

const WRITES = ['create', 'update', 'set'] as const satisfies readonly Kind[];
const REPEATED = ['read', 'update', 'set'] as const satisfies readonly Kind[];

function cut({ response }: Exchange): void {
  response.socket?.destroy();
}

const nothing: Act = () => {};

function after(act: Act): Act {
  return async (exchange) => {
    await exchange.commit();
    await act(exchange);
  };
}

export const loseAnswer = after(cut);

export const answer: Act = async ({ commit, response }) => sendAnswer(await commit(), response);

function old(reads: number, act: Act): Act {
  return async (exchange) => {
    await exchange.showOld(reads);
    await act(exchange);
  };
}

function late(moment: Moment): Act {
  return ({ commitAt }) => commitAt(moment);
}

/** Answers with a status and quotes the API key, as gateways do when they fail. */
export function status(code: number, headers: Readonly<Record<string, string>> = {}): Act {
  return ({ response, key }) =>
    response
      .writeHead(code, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ detail: `status ${code}, authorised by: ${key}` }));
}

function html(code: number): Act {
  return ({ response, key }) =>
    response
      .writeHead(code, { 'content-type': 'text/html', 'x-echo': key })
      .end(`<!doctype html><title>${key}</title><h1>Sign in</h1><pre>authorised by: ${key}</pre>`);
}

function redirect(code: number): Act {
  return ({ response, elsewhere, key }) => response.writeHead(code, { location: `${elsewhere}/?key=${key}` }).end();
}

async function cutWithin(exchange: Exchange): Promise<void> {
  const { body } = await exchange.commit();
  const { response } = exchange;
  const half = body.slice(0, body.length / 2);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.write(half, () => response.socket?.destroy());
}

async function halfAnswer(exchange: Exchange): Promise<void> {
  const { body } = await exchange.commit();
  exchange.response.writeHead(200, { 'content-type': 'application/json' }).end(body.slice(0, body.length / 2));
}

async function anothersAnswer(exchange: Exchange): Promise<void> {
  const { body } = await exchange.commit();
  const renamed: unknown = JSON.parse(body.replaceAll(MAIN, 'prm_another'));
  exchange.response.end(JSON.stringify(renamed));
}

async function pretend({ request, response, service, peek }: Exchange): Promise<void> {
  response.end(await service.pretended(request, peek));
}

const lateFaults = MOMENTS.map((moment): Fault => {
  const name = `silence, done late: ${moment}`;
  const found = moment === 'next request' || moment === 'third request';
  const limit = 'a create that lands after the next run has begun';
  if (moment === 'next create') return { name, on: ['create'], act: late(moment), silent: true, limit };
  return { name, on: WRITES, act: late(moment), silent: true, heals: found ? WRITES : ['update', 'set'] };
});

const statusFaults = [500, 502, 503, 504].flatMap((code): readonly Fault[] => [
  { name: `${code}, not done`, on: KINDS, act: status(code), heals: REPEATED, ...(code === 503 && { lasts: true }) },
  { name: `${code}, done`, on: WRITES, act: after(status(code)), heals: WRITES, ...(code === 500 && { lasts: true }) },
]);

/** All faults that can occur with any service. */
export const FAULTS: readonly Fault[] = [
  { name: 'cut, not done', on: KINDS, act: cut, heals: REPEATED, lasts: true },
  { name: 'cut, done', on: WRITES, act: loseAnswer, heals: WRITES, lasts: true },
  { name: 'silence, not done', on: KINDS, act: nothing, silent: true, heals: REPEATED, lasts: true },
  { name: 'silence, done', on: WRITES, act: after(nothing), silent: true, heals: WRITES },
  ...lateFaults,
  { name: 'done, and old for one read', on: WRITES, act: old(1, answer), heals: WRITES },
  { name: 'done, and old for two reads', on: WRITES, act: old(2, answer), heals: WRITES },
  { name: 'cut, done, and old for two reads', on: WRITES, act: old(2, loseAnswer), heals: WRITES },
  { name: '429', on: KINDS, act: status(429), heals: KINDS, lasts: true },
  { name: '429, Retry-After: 1', on: KINDS, act: status(429, { 'retry-after': '1' }), heals: KINDS },
  ...statusFaults,
  { name: 'JSON cut short', on: KINDS, act: cutWithin, heals: KINDS },
  { name: 'half of the JSON', on: KINDS, act: halfAnswer, heals: ['create'] },
  { name: 'HTML with 200, not done', on: KINDS, act: html(200) },
  { name: 'HTML with 200, done', on: WRITES, act: after(html(200)), heals: ['create'], lasts: true },
  { name: 'HTML with 502, not done', on: KINDS, act: html(502), heals: REPEATED },
  { name: 'HTML with 502, done', on: WRITES, act: after(html(502)), heals: WRITES },
  { name: 'a flood with 200, done', on: KINDS, act: after(flood(200)), heals: ['create'], costly: true },
  { name: 'a flood with 500, not done', on: KINDS, act: flood(500), heals: REPEATED, costly: true },
  { name: 'a redirect (302)', on: KINDS, act: redirect(302) },
  { name: 'a redirect (307)', on: KINDS, act: redirect(307), lasts: true },
  { name: 'said to be done, not done', on: ['update', 'set'], act: pretend, lasts: true },
  { name: 'a version that is not there', on: ['create'], act: pretend, phantom: true },
  { name: "another prompt's answer", on: ['read', 'create', 'update'], act: anothersAnswer, heals: ['create'] },
  { name: 'an empty answer', on: KINDS, act: after(({ response }) => response.end()), heals: ['create'] },
  { name: '403', on: KINDS, act: status(403), lasts: true },
  { name: '404', on: KINDS, act: status(404), lasts: true, hides: true },
  { name: 'cut, not done, and somebody else writes', on: ['create'], act: butIntruded(nothing) },
  {
    name: 'cut, done, and somebody else writes',
    on: ['create'],
    act: butIntruded(({ commit }) => commit()),
    limit: "a lost create followed by somebody else's create",
  },
];

function butIntruded(first: Act): Act {
  return async (exchange) => {
    await first(exchange);
    exchange.kept.add('Somebody else wrote this.');
    cut(exchange);
  };
}

const MIB = 1024 * 1024;
const CHUNK = Buffer.alloc(MIB, ' ');

/** Answers with 600 MiB. Waits for the client to read, and stops when the client disconnects. */
export function flood(status: number): (exchange: Pick<Exchange, 'response'>) => void {
  return ({ response }) => {
    let left = 600;
    const more = (): void => {
      while (left > 0 && !response.destroyed) {
        left -= 1;
        if (!response.write(CHUNK)) return void response.once('drain', more);
      }
      response.end();
    };
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': left * MIB });
    more();
  };
}
