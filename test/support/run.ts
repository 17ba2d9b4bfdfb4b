import { PassThrough, type Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ProcessInterface } from '../../src/cli/process-interface.ts';
import { main } from '../../src/cli/main.ts';
import { ReportShape, type Report } from '../../src/report/schema/report-schema.ts';
import { KEY } from './service.ts';

/** Parses a JSON report. Expects exactly the fields of its schema, in the order of the schema. */
export function parseReport(json: string): Report {
  const value: unknown = JSON.parse(json);
  const report = ReportShape.parse(value);
  // `show` prints a parsed report again, and its output must equal that of the run.
  expect(JSON.stringify(report, null, 2)).toBe(JSON.stringify(value, null, 2));
  return report;
}

export type RunOptions = {
  readonly environment?: Readonly<Record<string, string>>;
  /** The typed input. The input ends after it. */
  readonly input?: string | Readable;
  /** Whether input and both outputs are a terminal. */
  readonly terminal?: boolean;
  /** The width of the terminal. Without it, the width is unknown. */
  readonly columns?: number;
  /** Whether the terminal supports links. */
  readonly hyperlinks?: boolean;
  readonly now?: () => number;
  /** Waits. By default, waits only a hundredth of the time. */
  readonly sleep?: ProcessInterface['sleep'];
  /** Receives each text written to standard output. */
  readonly onOutput?: (text: string) => void;
  /** Receives each text written to standard error. */
  readonly onError?: (text: string) => void;
  /** Receives the function that handles signals. */
  readonly onSignal?: (signal: () => void) => void;
};

export type Ran = { readonly exitCode: number; readonly stdout: string; readonly stderr: string };

/** Runs one command line in this process. Expects no key in any output, and only valid JSON reports. */
export async function run(folder: string, words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const exitCode = await main(makeHost(folder, words, options, written));
  expect(written.stdout + written.stderr).not.toContain(KEY);
  const printsReport = words.includes('json') && !['bundle', 'doctor'].includes(words[0] ?? '');
  if (printsReport && written.stdout !== '') parseReport(written.stdout);
  return { exitCode, ...written };
}

export type Reported = Ran & { readonly report: Report };

export async function runJson(folder: string, words: readonly string[], options: RunOptions = {}): Promise<Reported> {
  const ran = await run(folder, [...words, '--format', 'json'], options);
  return { ...ran, report: parseReport(ran.stdout) };
}

function makeHost(
  folder: string,
  words: readonly string[],
  options: RunOptions,
  written: { stdout: string; stderr: string },
): ProcessInterface {
  const { environment = {}, terminal = false, input = '', now = Date.now } = options;
  const typed = typeof input === 'string' ? new PassThrough().end(input) : input;
  const stream = (name: 'stdout' | 'stderr', onWrite?: (text: string) => void): ProcessInterface['output'] => ({
    write: (text) => {
      written[name] += text;
      onWrite?.(text);
    },
    isTTY: terminal,
    columns: options.columns,
  });
  let ids = 0;
  return {
    nodeVersion: process.versions.node,
    arguments: words,
    environment,
    workingDirectory: folder,
    input: () => Object.assign(typed, { isTTY: terminal }),
    output: stream('stdout', options.onOutput),
    errors: stream('stderr', options.onError),
    hyperlinks: async () => ({ output: options.hyperlinks === true, errors: options.hyperlinks === true }),
    onSignal: options.onSignal ?? (() => {}),
    exit: () => {},
    now,
    random: () => 0,
    sleep:
      options.sleep ?? (async (milliseconds, signal) => void (await setTimeout(milliseconds / 100, 0, { signal }))),
    makeUniqueId: () => `operation-${++ids}-${Math.random()}`,
  };
}
