import { spawn, type ChildProcess } from 'node:child_process';
import { childEnvironment, CLI } from '../support/cli.ts';
import type { Ran } from '../support/run.ts';
import type { Stage } from './stage.ts';

/** A process that can be ended from within a test that runs beside others. */
export type Child = {
  readonly process: ChildProcess;
  readonly ended: Promise<Ran & { readonly signal: NodeJS.Signals | null }>;
};

export function startChild({ scene, environment }: Stage, words: readonly string[], entry = CLI): Child {
  const child = spawn(process.execPath, [entry, ...words], {
    cwd: scene.folder,
    env: childEnvironment(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (written.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (written.stderr += text));
  const ended: Child['ended'] = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ exitCode: code ?? -1, signal, ...written }));
  });
  return { process: child, ended };
}
