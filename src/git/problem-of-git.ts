import { makeProblem, messageOf, ProblemError } from '../problem.ts';

export function gitProblem(error: unknown): ProblemError {
  return new ProblemError(makeProblem('git/failed', { reason: reasonOf(error) }));
}

/** In one line, and without the stack that simple-git hands on when git cannot be started. */
function reasonOf(error: unknown): string {
  const message = messageOf(error);
  if (message.includes('spawn git ENOENT')) return 'there is no program git in PATH.';
  return message.replaceAll(/\s+/g, ' ').trim();
}
