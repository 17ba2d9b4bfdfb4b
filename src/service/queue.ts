import { afterAnswer, startingPace, type Told } from './pace.ts';

/** Runs each task when it has a place, first come, first served. */
export type Queue = <Answer extends Pick<Told, 'status' | 'waited'>>(task: () => Promise<Answer>) => Promise<Answer>;

/** A line before the service that lets in as many requests as it takes well, and never more than `most` at a time. */
export function makeQueue(most: number): Queue {
  const waiting: (() => void)[] = [];
  let pace = startingPace(most);
  let begun = 0;
  let inFlight = 0;
  const letIn = () => {
    while (inFlight < pace.limit && waiting.length > 0) {
      inFlight += 1;
      waiting.shift()?.();
    }
  };
  return async (task) => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      letIn();
    });
    const request = begun++;
    try {
      const answer = await task();
      const { status, waited } = answer;
      pace = afterAnswer(pace, { request, begun, busy: waiting.length > 0, status, waited });
      return answer;
    } finally {
      inFlight -= 1;
      letIn();
    }
  };
}
