import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { vi } from 'vitest';
import { makeWorkspace } from './folder.ts';

/**
 * From now on each process of git that is started is noted, until the variables are put back. The function gives the
 * command of each since it was last called.
 */
export function countGit(): () => readonly string[] {
  const { folder, path } = wrapGit((real) => [
    '(while [ "$1" = -c ]; do shift 2; done; echo "$1" >> "${0%/*}/started")',
    `exec ${real} "$@"`,
  ]);
  vi.stubEnv('PATH', path);
  const started = join(folder, 'started');
  let told = 0;
  return () => {
    const lines = existsSync(started) ? readFileSync(started, 'utf8').split('\n').slice(0, -1) : [];
    const fresh = lines.slice(told);
    told = lines.length;
    return fresh.toSorted();
  };
}

/** A script of bash that is called as git is, in a folder of its own; the path finds it before the real one. */
export function wrapGit(script: (real: string) => readonly string[]): {
  readonly folder: string;
  readonly path: string;
} {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const folder = makeWorkspace({ git: ['#!/bin/bash', ...script(JSON.stringify(real)), ''].join('\n') });
  chmodSync(join(folder, 'git'), 0o755);
  return { folder, path: `${folder}${delimiter}${process.env['PATH']}` };
}
