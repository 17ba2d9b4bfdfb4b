import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { GIT_VARIABLES, makeFolder } from './folder.ts';
import type { Ran } from './run.ts';
import { KEY } from './service.ts';

/** The bundle that before-all.ts has made of the sources. */
export const CLI = join(process.env['TESTS_FOLDER'] ?? '', 'bundle/cli.cjs');

export type CliOptions = {
  /** Undefined: without it. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Called with the process and with what it has written so far, whenever it writes. */
  readonly onOutput?:
    ((child: ChildProcess, written: { readonly stdout: string; readonly stderr: string }) => void) | undefined;
};

/** Variables of a child process: those of this one, without what would change promptsync's ways. */
export function childEnvironment(more: Readonly<Record<string, string | undefined>> = {}): NodeJS.ProcessEnv {
  const own =
    /^(CI|(?:ACTIONS|CI|GITHUB|GITLAB|INPUT|RUNNER)_.*|NO_COLOR|FORCE_COLOR|PROMPTSYNC_.*|NODE_OPTIONS|VITEST.*|NODE_ENV)$/;
  const inherited = Object.entries(process.env).filter(([name]) => !own.test(name));
  return { ...Object.fromEntries(inherited), ...GIT_VARIABLES, ...more };
}

/** The variables for a shell in which `promptsync` is a command. */
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
  /** All of its variables. */
  readonly environment: NodeJS.ProcessEnv;
};

/** The exit code of a process that a signal has ended. */
export const KILLED = -2;

export type Started = {
  readonly child: ChildProcess;
  readonly written: { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<Ran>;
};

/** Starts a script in a process of its own, which does not outlive the test. */
export function startNode(script: string, words: readonly string[], options: NodeOptions): Started {
  const started = spawnNode(script, words, options);
  onTestFinished(() => void started.child.kill('SIGKILL'));
  return started;
}

/** The same for a test that runs beside others: it is to wait for the end. */
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

/** Runs the command line in a process of its own. */
export async function runCli(folder: string, words: readonly string[], options: CliOptions = {}): Promise<Ran> {
  const ran = await startCli(folder, words, options).ended;
  expect(ran.stdout + ran.stderr).not.toContain(KEY);
  return ran;
}

/** `promptsync serve` in a process of its own, on a free port unless one is given, accepting the key of the tests. */
export async function startServe(
  folder: string,
  words: readonly string[] = [],
  environment: Readonly<Record<string, string>> = { PROMPTSYNC_API_KEY: KEY },
) {
  const { child, written, ended } = startCli(folder, ['serve', '--port', '0', ...words], { environment });
  const baseUrl = await vi.waitFor(
    () => {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(written.stdout)?.[0];
      if (found === undefined) throw new Error(`not serving yet: ${written.stderr}`);
      return found;
    },
    { timeout: 60_000, interval: 20 },
  );
  /** Ends it with a signal, and resolves to its exit code. */
  const end = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number> => {
    child.kill(signal);
    const { exitCode, stdout, stderr } = await ended;
    expect(stdout + stderr).not.toContain(KEY);
    return exitCode;
  };
  return { baseUrl, stdout: () => written.stdout, end };
}
