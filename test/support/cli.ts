import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { GIT_VARIABLES, makeFolder } from './folder.ts';
import type { Ran } from './run.ts';
import { KEY } from './service.ts';

/** The bundle that before-all.ts creates from the sources. */
export const CLI = join(process.env['TESTS_FOLDER'] ?? '', 'bundle/cli.cjs');

export type CliOptions = {
  /** Adds or replaces variables. `undefined` removes a variable. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Receives the process and all of its output so far, whenever it writes. */
  readonly onOutput?:
    ((child: ChildProcess, written: { readonly stdout: string; readonly stderr: string }) => void) | undefined;
};

/** Returns the variables of this process without those that would change the behavior of promptsync. */
export function childEnvironment(more: Readonly<Record<string, string | undefined>> = {}): NodeJS.ProcessEnv {
  const own =
    /^(CI|(?:ACTIONS|CI|GITHUB|GITLAB|INPUT|RUNNER)_.*|NO_COLOR|FORCE_COLOR|PROMPTSYNC_.*|NODE_OPTIONS|VITEST.*|NODE_ENV)$/;
  const inherited = Object.entries(process.env).filter(([name]) => !own.test(name));
  return { ...Object.fromEntries(inherited), ...GIT_VARIABLES, ...more };
}

/** Returns the variables for a shell in which `promptsync` is a command. */
export function withCommand(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const programs = makeFolder();
  writeFileSync(join(programs, 'promptsync'), `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`);
  chmodSync(join(programs, 'promptsync'), 0o755);
  return { ...variables, PATH: `${programs}${delimiter}${variables['PATH'] ?? ''}` };
}

export function startCli(folder: string, words: readonly string[], { environment, ...options }: CliOptions = {}) {
  return startNode(CLI, words, { ...options, cwd: folder, environment: childEnvironment(environment) });
}

type NodeOptions = Omit<CliOptions, 'environment'> & {
  readonly cwd: string;
  /** All variables of the process. */
  readonly environment: NodeJS.ProcessEnv;
};

/** The exit code for a process that a signal ended. */
export const KILLED = -2;

export type Started = {
  readonly child: ChildProcess;
  readonly written: { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<Ran>;
};

/** Starts a script as a child process. Kills the process at the end of the test. */
export function startNode(script: string, words: readonly string[], options: NodeOptions): Started {
  const started = spawnNode(script, words, options);
  onTestFinished(() => void started.child.kill('SIGKILL'));
  return started;
}

/** Starts a script as a child process. A concurrent test uses this function and has to wait for the end itself. */
export function spawnNode(script: string, words: readonly string[], options: NodeOptions): Started {
  const { cwd, environment: env, onOutput } = options;
  const child = spawn(process.execPath, [script, ...words], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
      onOutput?.(child, written);
    });
  }
  const ended = new Promise<Ran>((done, fail) => {
    child.on('error', fail);
    child.on('close', (code, signal) => done({ exitCode: code ?? (signal === null ? -1 : KILLED), ...written }));
  });
  return { child, written, ended };
}

/** Runs the command line as a child process, and expects no output to contain the key. */
export async function runCli(folder: string, words: readonly string[], options: CliOptions = {}): Promise<Ran> {
  const ran = await startCli(folder, words, options).ended;
  expect(ran.stdout + ran.stderr).not.toContain(KEY);
  return ran;
}

/** Starts `promptsync serve` as a child process, on a free port and with the key of the tests. */
export async function startServe(folder: string, words: readonly string[]) {
  const environment = { PROMPTSYNC_API_KEY: KEY };
  const { child, written, ended } = startCli(folder, ['serve', '--port', '0', ...words], { environment });
  const baseUrl = await vi.waitFor(
    () => {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(written.stdout)?.[0];
      if (found === undefined) throw new Error(`not serving yet: ${written.stderr}`);
      return found;
    },
    { timeout: 60_000, interval: 20 },
  );
  /** Stops the process with a signal and returns its exit code. */
  const end = async (signal: NodeJS.Signals): Promise<number> => {
    child.kill(signal);
    const { exitCode, stdout, stderr } = await ended;
    expect(stdout + stderr).not.toContain(KEY);
    return exitCode;
  };
  return { baseUrl, end };
}
