import { makeProblem, messageOf, ProblemError } from '../problem.ts';

export function gitProblem(error: unknown): ProblemError {
  return new ProblemError(makeProblem('git/failed', { reason: reasonOf(error) }));
}

/** The one process that answers for all objects calls those missing as well that are there and are not whole. */
export function unreadable(object: string): ProblemError {
  return gitProblem(new Error(`the object ${object} is missing or damaged.`));
}

/** In one line, and without the stack that simple-git hands on when git cannot be started. */
function reasonOf(error: unknown): string {
  const message = messageOf(error);
  if (message.includes('spawn git ENOENT')) return 'there is no program git in PATH.';
  return message.replaceAll(/\s+/g, ' ').trim();
}
