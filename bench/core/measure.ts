import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { join } from 'node:path';

/** The figures of one run. */
export type Sample = {
  /** The wall time of the run. */
  readonly milliseconds: number;
  /** The user and system CPU time of the process, in milliseconds. */
  readonly cpu?: number;
  /** The peak resident memory of the process, in MB (10^6 bytes). */
  readonly peak?: number;
  /** The number of requests that the run sent to the service. */
  readonly requests?: number;
};

/** The module that makes a measured process report its CPU time and memory on descriptor 3. */
const USAGE = join(import.meta.dirname, 'usage.cjs');

/** The home folder of measured processes. promptsync keeps its compile cache there, as it does for a user. */
const HOME = join(import.meta.dirname, '../../node_modules/.cache/promptsync/bench-home');

export type RunOptions = {
  readonly cwd?: string;
  /** The variables of the process. In addition, it has `HOME` and those of `pickInheritedVariables`. */
  readonly environment?: Readonly<Record<string, string>>;
};

export type Run = Sample & { readonly stdout: string };

/** Runs a Node program in a process and measures the process. Rejects if the exit code is not 0. */
export async function runNode(args: readonly string[], options: RunOptions = {}): Promise<Run> {
  const { cwd = process.cwd(), environment = {} } = options;
  mkdirSync(HOME, { recursive: true });
  const env = { ...pickInheritedVariables(), HOME, ...environment };
  const started = performance.now();
  const child = spawn(process.execPath, ['--require', USAGE, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const ended = new Promise<{ code: number | null; milliseconds: number }>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, milliseconds: performance.now() - started }));
  });
  const [stdout, stderr, usage] = await Promise.all([child.stdout, child.stderr, child.stdio[3]].map(readStream));
  const { code, milliseconds } = await ended;
  if (code !== 0) {
    throw new Error(`${args.join(' ')} exited with ${code}: ${`${stderr}${stdout}`.slice(-2_000)}`);
  }
  return { milliseconds, ...parseUsage(usage ?? ''), stdout: stdout ?? '' };
}

/** Measures a function that runs in this process. */
export async function timed(work: () => unknown): Promise<Sample> {
  const before = process.cpuUsage();
  const started = performance.now();
  await work();
  const milliseconds = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  return { milliseconds, cpu: (user + system) / 1_000 };
}

function readStream(stream: unknown): Promise<string> {
  // `spawn` makes a readable stream for each 'pipe'.
  return text(stream as Readable);
}

/** Parses the figures that `usage.cjs` writes. */
function parseUsage(json: string): Pick<Sample, 'cpu' | 'peak'> {
  return json === '' ? {} : JSON.parse(json);
}

/** Returns the few variables that a process needs. Other variables of the user could change the measurement. */
function pickInheritedVariables(): Readonly<Record<string, string>> {
  const names = ['PATH', 'SystemRoot', 'TEMP', 'TMPDIR', 'TMP'];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}
