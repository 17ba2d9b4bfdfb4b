import { PassThrough } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { vi } from 'vitest';
import type { ActionProcess } from '../../../src/forges/github/action-runner.ts';
import { runAction } from '../../../src/forges/github/run-action.ts';
import { type ActionOptions, type ActionRun, runnerVariables } from '../../support/action.ts';
import { makeWorkspace } from '../../support/folder.ts';

export type StepOptions = Omit<ActionOptions, 'onOutput'> & {
  /** Receives the function that handles signals. */
  readonly onSignal?: ActionProcess['onSignal'] | undefined;
};

/**
 * Runs the action from the sources in this process, which takes a fraction of the time of the bundle. Returns the same
 * result as `runAction` in support/action.ts, which runs the bundle. Waits only a hundredth of the time.
 */
export async function runStep(workspace: string, options: StepOptions): Promise<ActionRun> {
  const { eventName, event, inputs = {}, onSignal = () => {} } = options;
  const runner = makeWorkspace({ 'event.json': JSON.stringify(event), 'temp/.keep': '' });
  const written = { stdout: '', stderr: '', summary: '' };
  const outputs: Record<string, string> = {};
  const append = (name: keyof typeof written) => (text: string) => void (written[name] += text);
  const print = (command: string, text: string) => append('stdout')(`::${command}::${escapeCommand(text)}\n`);
  const host: ActionProcess = {
    nodeVersion: process.versions.node,
    arguments: [],
    environment: { ...runnerVariables(workspace, runner, eventName), ...options.environment },
    workingDirectory: workspace,
    input: () => new PassThrough().end(),
    output: { write: append('stdout') },
    errors: { write: append('stderr') },
    onSignal,
    exit: () => {},
    now: Date.now,
    random: () => 0,
    sleep: async (milliseconds, signal) => void (await setTimeout(milliseconds / 100, undefined, { signal })),
    makeUniqueId: () => crypto.randomUUID(),
    runner: {
      getInput: (name) => (inputs[name] ?? '').trim(),
      setOutput: (name, value) => void (outputs[name] = value),
      setSecret: (secret) => print('add-mask', secret),
      annotate: (kind, message, { title, file, startLine, startColumn }) => {
        const place = Object.entries({ title, file, line: startLine, col: startColumn });
        const fields = place.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${escapeField(value)}`]));
        print(`${kind} ${fields.join(',')}`, message);
      },
      writeSummary: async (markdown) => append('summary')(`${markdown}\n`),
    },
  };
  const exitCode = await withShortWaits(() => runAction(host));
  return { exitCode, ...written, outputs };
}

/**
 * Shortens the waits of the GitHub client to a hundredth. It waits a second between two writes, three seconds between two
 * comments, and up to four seconds before it repeats a request. Leaves other timers as they are: those of undici have
 * arguments.
 */
export async function withShortWaits<Result>(run: () => Promise<Result>): Promise<Result> {
  const start = globalThis.setTimeout;
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation((handle, milliseconds = 0, ...values: []) => {
    const isWait = milliseconds > 500 && milliseconds <= 4_000 && values.length === 0;
    return start(handle, isWait ? milliseconds / 100 : milliseconds, ...values);
  });
  return run().finally(() => spy.mockRestore());
}

/** Escapes the text of a command like `@actions/core`. */
function escapeCommand(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeField(value: string | number): string {
  return escapeCommand(String(value)).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
