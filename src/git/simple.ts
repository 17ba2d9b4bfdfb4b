import type { SimpleGitOptions } from 'simple-git';
import type { Ask } from './ask.ts';
import { SETTINGS, startOf, type GitStart } from './environment.ts';
import { gitProblem } from './problem-of-git.ts';

/** By default an output would count as complete 50 ms after the process has ended, read or not. */
const WHOLE_OUTPUT = { onClose: true, onExit: false } as const;

/** For what changes a repository or asks another one. simple-git takes a while to load: it is when something is asked. */
export function simpleAsker(start: GitStart, options: Partial<SimpleGitOptions>): Ask {
  return async (...words) => {
    const { cwd: baseDir, env } = startOf(start, options.allowEnvironment);
    const { simpleGit } = await import('simple-git');
    const safe = { config: [...SETTINGS], unsafe: { allowUnsafeFsMonitor: true }, completion: WHOLE_OUTPUT };
    try {
      return await simpleGit({ ...options, ...safe, baseDir })
        .env(env)
        .raw([...words]);
    } catch (error) {
      throw gitProblem(error);
    }
  };
}
