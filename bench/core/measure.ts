import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { join } from 'node:path';
import type { Sample } from './case.ts';

const USAGE = join(import.meta.dirname, 'usage.cjs');

export type RunOptions = {
  readonly cwd?: string;
  /** Besides PATH, nothing of this process's own is handed on. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Which exit codes are in order: 0 unless told. */
  readonly exitCodes?: readonly number[];
};

export type Run = Sample & { readonly stdout: string };

/** Runs a Node program to its end and measures it from the outside. Rejects when it fails. */
export async function runNode(words: readonly string[], options: RunOptions = {}): Promise<Run> {
  const { cwd = process.cwd(), environment = {}, exitCodes = [0] } = options;
  const env = { ...pathOnly(), ...environment };
  const started = performance.now();
  const child = spawn(process.execPath, ['--require', USAGE, ...words], {
    ...{ cwd, env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] },
  });
  const ended = new Promise<{ code: number | null; milliseconds: number }>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, milliseconds: performance.now() - started }));
  });
  const [stdout, stderr, usage] = await Promise.all([child.stdout, child.stderr, child.stdio[3]].map(read));
  const { code, milliseconds } = await ended;
  if (code === null || !exitCodes.includes(code)) {
    throw new Error(`${words.join(' ')} exited with ${code}: ${`${stderr}${stdout}`.slice(-2_000)}`);
  }
  return { milliseconds, ...parseUsage(usage ?? ''), stdout: stdout ?? '' };
}

/** Measures work of this process. */
export async function timed(work: () => unknown): Promise<Sample> {
  const before = process.cpuUsage();
  const started = performance.now();
  await work();
  const milliseconds = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  return { milliseconds, cpu: (user + system) / 1_000 };
}

function read(stream: unknown): Promise<string> {
  // `spawn` made it from 'pipe'.
  return text(stream as Readable);
}

/** As `usage.cjs` writes it. */
function parseUsage(json: string): Pick<Sample, 'cpu' | 'peak'> {
  return json === '' ? {} : JSON.parse(json);
}

/** Settings of whoever runs this would be measured with it. */
function pathOnly(): Readonly<Record<string, string>> {
  const kept = ['PATH', 'SystemRoot', 'TEMP', 'TMPDIR', 'TMP'];
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}
