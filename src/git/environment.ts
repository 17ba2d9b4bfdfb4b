import { env } from 'node:process';

/** Besides git's own: what git would start as a program, or take for the place of its configuration. */
const OTHERS = new Set(['editor', 'pager', 'prefix', 'ssh_askpass', 'visual']);

/**
 * What a question to git inherits of this process: nothing that changes what git reads, where, or which programs it
 * starts. A hook of git's runs with many of these. simple-git leaves out the same ones.
 */
export function plainEnvironment(): Readonly<Record<string, string | undefined>> {
  const kept = Object.entries(env).filter(([name]) => !isGits(name.trim().toLowerCase()));
  // Else the short form of an option could become another one in the git of tomorrow.
  return { ...Object.fromEntries(kept), GIT_TEST_DISALLOW_ABBREVIATED_OPTIONS: 'true' };
}

function isGits(name: string): boolean {
  return name.startsWith('git_') || OTHERS.has(name);
}
