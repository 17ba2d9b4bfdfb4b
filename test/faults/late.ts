import type { Call } from './calls.ts';
import type { Moment } from './exchange.ts';

/** Work that the service does after the client has given up on it. */
export type Late = {
  readonly add: (moment: Moment, work: () => Promise<unknown>) => void;
  /** To be waited for before a request is handled: what is due by then is done first. */
  readonly beforeRequest: (call: Call | null) => Promise<void>;
  readonly endRun: () => Promise<void>;
};

type Waiting = { readonly moment: Moment; readonly work: () => Promise<unknown>; readonly run: number; since: number };

export function makeLate(): Late {
  let waiting: Waiting[] = [];
  let run = 1;
  let requests = 0;
  const doDue = async (isDue: (one: Waiting) => boolean): Promise<void> => {
    const due = waiting.filter(isDue);
    waiting = waiting.filter((one) => !due.includes(one));
    for (const { work } of due) await work();
  };
  return {
    add: (moment, work) => void waiting.push({ moment, work, run, since: 0 }),
    beforeRequest: async (call) => {
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
