import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { vi } from 'vitest';
import { makeWorkspace } from './folder.ts';

/**
 * Records every git process from now on, until the test restores the variables. The returned function lists the
 * commands of the processes since its last call.
 */
export function countGit(): () => readonly string[] {
  const { folder, path } = wrapGit((real) => [
    '(while [ "$1" = -c ]; do shift 2; done; echo "$1" >> "${0%/*}/started")',
    `exec ${real} "$@"`,
  ]);
  vi.stubEnv('PATH', path);
  const started = join(folder, 'started');
  let readLines = 0;
  return () => {
    const lines = existsSync(started) ? readFileSync(started, 'utf8').split('\n').slice(0, -1) : [];
    const fresh = lines.slice(readLines);
    readLines = lines.length;
    return fresh.toSorted();
  };
}

/** Makes a folder with a bash script named `git`. The returned `PATH` finds the script before the real git. */
export function wrapGit(script: (real: string) => readonly string[]): {
  readonly folder: string;
  readonly path: string;
} {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const folder = makeWorkspace({ git: ['#!/bin/bash', ...script(JSON.stringify(real)), ''].join('\n') });
  chmodSync(join(folder, 'git'), 0o755);
  return { folder, path: `${folder}${delimiter}${process.env['PATH']}` };
}
