import { makeProblem, systemCodeOf } from '../problem.ts';
import { renderProblem } from '../report/problems.ts';
import { PLAIN } from '../report/style.ts';

/** What is told where standard output takes nothing any more, a full disk for example. */
export function brokenOutput(error: Error): string {
  const problem = makeProblem('usage/stdout-unwritable', { reason: systemCodeOf(error) });
  return `${renderProblem(problem, PLAIN)}\n`;
}
