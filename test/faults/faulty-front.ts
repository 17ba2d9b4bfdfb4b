import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { MAIN, type Call, type Kept, type Service } from './calls.ts';
import type { Act, Moment } from './faults.ts';
import { close, handOn, open, readRequest, sendAnswer, type FrontAnswer, type FrontRequest } from '../support/front.ts';

/** A request in its run: its call, and the number of requests with this call so far. `call` is `null` for other prompts. */
type Place = { readonly call: Call | null; readonly nth: number };

/** Chooses how to handle a request. `null` forwards it. */
export type Trouble = (place: Place) => Act | null;

export const inPeace: Trouble = () => null;

/** A request that has arrived, with the status of its answer. The status is `null` until the answer starts. */
export type Arrival = {
  readonly request: FrontRequest;
  readonly status: () => number | null;
  /** The answers of the service itself, including late ones after the run. */
  readonly done: readonly FrontAnswer[];
};

type FaultyFrontOptions = {
  readonly service: Service;
  readonly kept: Kept;
  readonly elsewhere: string;
  /** Called each time the service has handled a request. */
  readonly onDone: () => void;
};

/** Starts a proxy in front of the service that forwards requests and makes the chosen trouble. */
export async function startFaultyFront(options: FaultyFrontOptions) {
  const late = makeLate();
  let trouble: Trouble = inPeace;
  let arrivals: Arrival[] = [];
  let old = { answers: new Map<string, FrontAnswer>(), left: 0 };
  const { service, kept, elsewhere, onDone } = options;
  const target = kept.baseUrl;
  const callOf = (request: FrontRequest): Call | null => {
    const { promptId, call } = service.asked(request);
    return promptId === MAIN ? call : null;
  };
  const placeOf = (call: Call | null): Place => {
    return { call, nth: arrivals.filter(({ request }) => callOf(request) === call).length };
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming);
    const call = callOf(request);
    await late.beforeRequest(call);
    const done: FrontAnswer[] = [];
    arrivals.push({ request, done, status: () => (response.headersSent ? response.statusCode : null) });
    const commit = async () => {
      const answer = await handOn(request, target);
      done.push(answer);
      onDone();
      return answer;
    };
    const act = trouble(placeOf(call));
    const shown = request.method === 'GET' && old.left > 0 ? old.answers.get(request.path) : undefined;
    if (shown !== undefined) old.left -= 1;
    if (act === null) return sendAnswer(shown ?? (await commit()), response);
    await act({
      ...{ request, response, service, kept, elsewhere, commit },
      key: inPlain(request.key ?? ''),
      commitAt: (moment) => late.add(moment, commit),
      showOld: async (left) => {
        const answers = service.reads.map(
          async (path) => [path, await handOn({ ...request, method: 'GET', path, body: undefined }, target)] as const,
        );
        old = { answers: new Map(await Promise.all(answers)), left };
      },
      peek: (path) => handOn({ ...request, method: 'GET', path, body: undefined }, target),
    });
  };

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  return {
    baseUrl: await open(server),
    /** Starts a run. */
    begin: (next: Trouble) => {
      trouble = next;
      arrivals = [];
      old.left = 0;
    },
    /** Returns the requests since the last `begin`. */
    arrivals: (): readonly Arrival[] => arrivals,
    /** Ends the run and does the late work that is due by then. */
    end: late.endRun,
    close: () => close(server),
  };
}

/** Returns a key as sent, together with the decoded secret if the key is encoded. */
function inPlain(key: string): string {
  const encoded = /^Basic (.*)$/.exec(key)?.[1];
  return encoded === undefined ? key : `${key} ${Buffer.from(encoded, 'base64').toString().replace(/^.*:/, '')}`;
}

type Waiting = { readonly moment: Moment; readonly work: () => Promise<unknown>; readonly run: number; since: number };

/** Work that the service does after the client has given up on it. */
function makeLate() {
  let waiting: Waiting[] = [];
  let run = 1;
  let requests = 0;
  const doDue = async (isDue: (one: Waiting) => boolean): Promise<void> => {
    const due = waiting.filter(isDue);
    waiting = waiting.filter((one) => !due.includes(one));
    for (const { work } of due) await work();
  };
  return {
    add: (moment: Moment, work: () => Promise<unknown>) => void waiting.push({ moment, work, run, since: 0 }),
    /** Does the work that is due before the next request. The caller must wait for it. */
    beforeRequest: async (call: Call | null) => {
      requests += 1;
      for (const one of waiting) one.since += 1;
      await doDue((one) => isDueBefore(one, { run, requests, call }));
    },
    endRun: async () => {
      await doDue(
        ({ moment, run: begun }) => begun < run || (!moment.startsWith('next run') && moment !== 'next create'),
      );
      run += 1;
      requests = 0;
    },
  };
}

type Now = { readonly run: number; readonly requests: number; readonly call: Call | null };

function isDueBefore({ moment, since, run: begun }: Waiting, { run, requests, call }: Now): boolean {
  switch (moment) {
    case 'next request':
      return since >= 1;
    case 'third request':
      return since >= 3;
    case 'run ended':
      return false;
    case 'next run begun':
      return run > begun && requests > 1;
    case 'next create':
      return run > begun && call === 'create';
  }
}
