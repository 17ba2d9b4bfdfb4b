import { makeProblem, messageOf, type Problem } from '../problem.ts';

/** Tells a run in one place. What stands in the way is returned: the work is done by then, and nothing is lost. */
export async function attempt(what: string, work: () => Promise<void>): Promise<readonly Problem[]> {
  return work().then(
    () => [],
    (error: unknown) => [makeProblem('action/not-told', { what, reason: messageOf(error) })],
  );
}
