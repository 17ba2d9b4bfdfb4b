import type { SimpleGit } from 'simple-git';
import type { Ask } from './ask.ts';
import { gitProblem } from './problem-of-git.ts';

/** By default an output would count as complete 50 ms after the process has ended, read or not. */
export const WHOLE_OUTPUT = { onClose: true, onExit: false } as const;

/** For what changes a repository or asks another one. Loading simple-git and each of its commands take a while. */
export function asker(git: SimpleGit): Ask {
  return async (...words) => {
    try {
      return await git.raw([...words]);
    } catch (error) {
      throw gitProblem(error);
    }
  };
}
