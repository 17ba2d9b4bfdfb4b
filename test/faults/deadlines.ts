import { AsyncLocalStorage } from 'node:async_hooks';
import { vi } from 'vitest';

/** The time-out of requests in all scenes, in seconds. No other timer is set for as long. */
export const TIMEOUT = 599;

/** The deadlines of the requests that one run has in flight, and how many of these nobody will answer. */
type InFlight = { readonly deadlines: Map<unknown, () => void>; unanswered: number };

const runs = new AsyncLocalStorage<InFlight>();

/** Until mocks are restored, the deadlines of runs in silence pass by what happens and not by the clock. */
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

/** A run of which some requests are not answered; it is handed what to call once such a request has arrived. */
export function inSilence<Result>(work: (swallowed: () => void) => Promise<Result>): Promise<Result> {
  const run: InFlight = { deadlines: new Map(), unanswered: 0 };
  const swallowed = (): void => {
    run.unanswered += 1;
    passDue(run);
  };
  return runs.run(run, () => work(swallowed));
}

/** Requests that will be answered are waited for: then the deadlines that are left are those of the others. */
function passDue(run: InFlight): void {
  if (run.deadlines.size !== run.unanswered) return;
  const due = [...run.deadlines.values()];
  run.deadlines.clear();
  run.unanswered = 0;
  for (const pass of due) pass();
}
