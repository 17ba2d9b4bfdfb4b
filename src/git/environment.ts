import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { makeProblem, messageOf, ProblemError } from '../problem.ts';

/** Where git is started, and what it is not handed. */
export type GitStart = {
  /**
   * The folder that holds `.git`. Started in another one, git takes files of a branch that are called HEAD, config,
   * objects and refs for a repository, and runs the programs that this `config` names.
   */
  readonly root: string;
  /** The variables that hold a key, by name. */
  readonly keyVariables: readonly string[];
};

/** Git takes no folder that it comes upon for a bare repository, and asks no program which files have changed. */
export const SETTINGS = ['safe.bareRepository=explicit', 'core.fsmonitor=false'] as const;

/** Besides git's own: what git would start as a program, or take for the place of its configuration. */
const OTHERS = new Set(['editor', 'pager', 'prefix', 'ssh_askpass', 'visual']);

/** Ours and the action's inputs, keys and tokens among them. */
const OURS = /^(?:promptsync|input)_/;

/**
 * The folder that git is started in and what it inherits of this process: no key, and nothing that changes what git
 * reads, where, or which programs it starts. A hook of git's runs with many of these. simple-git leaves out the same
 * ones.
 * @param handedOn variables of git's own that are needed all the same
 * @throws a `ProblemError` where the folder holds no `.git`
 */
export function startOf({ root, keyVariables }: GitStart, handedOn: readonly string[] = []) {
  if (!existsSync(join(root, '.git'))) throw gitProblem(new Error('this is not a git repository.'));
  const kept = Object.entries(env).filter(([name]) => handedOn.includes(name) || !isLeftOut(name, keyVariables));
  return { cwd: root, env: Object.fromEntries(kept) };
}

function isLeftOut(name: string, keyVariables: readonly string[]): boolean {
  const lower = name.trim().toLowerCase();
  return keyVariables.includes(name) || lower.startsWith('git_') || OTHERS.has(lower) || OURS.test(lower);
}

export function gitProblem(error: unknown): ProblemError {
  return new ProblemError(makeProblem('git/failed', { reason: reasonOf(error) }));
}

/** In one line, without what simple-git puts before some reasons, or behind them when git cannot be started. */
function reasonOf(error: unknown): string {
  const message = messageOf(error);
  if (message.includes('spawn git ENOENT')) return 'there is no program git in PATH.';
  return message
    .replace(/^Error: /, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
