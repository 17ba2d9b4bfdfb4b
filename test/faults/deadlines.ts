import { AsyncLocalStorage } from 'node:async_hooks';
import { vi } from 'vitest';

/** The timeout of requests in all scenes, in seconds. No other timer has this duration. */
export const TIMEOUT = 599;

/** The deadlines of the requests that a run has in flight, and the number of requests that nobody will answer. */
type InFlight = { readonly deadlines: Map<unknown, () => void>; unanswered: number };

const runs = new AsyncLocalStorage<InFlight>();

/** Lets the deadlines of runs in silence pass by events instead of the clock, until mocks are restored. */
export function replaceDeadlines(): void {
  const { setTimeout, clearTimeout } = globalThis;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((callback: () => void, delay, ...given: []) => {
    const timer = setTimeout(callback, delay, ...given);
    if (delay === TIMEOUT * 1000) runs.getStore()?.deadlines.set(timer, callback);
    return timer;
  });
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    clearTimeout(timer);
    const run = runs.getStore();
    if (run?.deadlines.delete(timer)) passDue(run);
  });
}

/** Runs `work` while some requests get no answer. `work` must call `swallowed` when such a request has arrived. */
export function inSilence<Result>(work: (swallowed: () => void) => Promise<Result>): Promise<Result> {
  const run: InFlight = { deadlines: new Map(), unanswered: 0 };
  const swallowed = (): void => {
    run.unanswered += 1;
    passDue(run);
  };
  return runs.run(run, () => work(swallowed));
}

/** Passes the deadlines once only unanswered requests are in flight. */
function passDue(run: InFlight): void {
  if (run.deadlines.size !== run.unanswered) return;
  const due = [...run.deadlines.values()];
  run.deadlines.clear();
  run.unanswered = 0;
  for (const pass of due) pass();
}
