import { CommanderError } from 'commander';
import package_ from '../../package.json' with { type: 'json' };
import type { CommandResult } from '../commands/result.ts';
import { interruptibleSleep, type World } from '../commands/world.ts';
import { makeProblem, problemOf, type Problem } from '../problem.ts';
import type { Emission } from './emit.ts';
import type { Host } from './host.ts';
import { makeProgram, type Handlers, type ServeFlags, type SharedFlags, type SyncFlags } from './program.ts';
import { progressReporter } from './progress.ts';

/** Runs one command line and resolves to its exit code. Never throws. */
export async function main(host: Host): Promise<number> {
  let exitCode = 0;
  const finish = async (code: Promise<number>): Promise<void> => {
    exitCode = await code;
  };
  const handlers: Handlers = {
    sync: (flags) => finish(runSync(flags, host)),
    validate: (flags) => finish(runReporting(flags, host, validateWith(flags))),
    status: (flags) => finish(runReporting(flags, host, statusWith(flags, host))),
    serve: (flags) => finish(runServing(flags, host)),
  };
  try {
    const streams = { out: (text: string) => host.output.write(text), err: (text: string) => host.errors.write(text) };
    await makeProgram(handlers, streams, package_.version).parseAsync([...host.arguments], { from: 'user' });
    return exitCode;
  } catch (error) {
    return fail(error, host);
  }
}

// Each command loads what it needs when it is called: `--help` needs none of it.

async function runServing(flags: ServeFlags, host: Host): Promise<number> {
  const { runServe } = await import('./run-serve.ts');
  return runServe(flags, host, worldOf(host, true, ''));
}

type Work = (world: World) => Promise<CommandResult>;

async function runSync(flags: SyncFlags, host: Host): Promise<number> {
  const { sync } = await import('../commands/sync.ts');
  const { config, only, dryRun, yes, exitCode, expectPlan, maxChanges, allowDirty } = flags;
  const withTexts = flags.format === 'text' && !flags.quiet;
  const colour = wantsColour(flags, host, host.errors);
  const chosen = { config, only, dryRun, yes, exitCode, expectPlan, maxChanges, allowDirty, withTexts, colour };
  return runReporting(flags, host, (world) => sync({ ...chosen, onCall: callWriter(flags, host) }, world));
}

function validateWith({ config, only }: SharedFlags): Work {
  return async (world) => (await import('../commands/validate.ts')).validate({ config, only }, world);
}

function statusWith(flags: SharedFlags, host: Host): Work {
  const { config, only } = flags;
  const onCall = callWriter(flags, host);
  return async (world) => (await import('../commands/status.ts')).status({ config, only, onCall }, world);
}

async function runReporting(flags: SharedFlags, host: Host, work: Work): Promise<number> {
  const { checkOutput, emit } = await import('./emit.ts');
  await checkOutput(flags.output, host);
  const world = worldOf(host, flags.quiet);
  const result = await work(world).catch((error: unknown) => unfinished(problemOf(error)));
  const { format, output, quiet } = flags;
  const emission = { format, quiet, colour: wantsColour(flags, host, host.output) };
  await emit(result, output === undefined ? emission : { ...emission, output }, host);
  return result.exitCode;
}

/** What is reported when a command could not even begin. */
function unfinished(problem: Problem): CommandResult {
  const run = { mode: 'dry-run' as const, service: null, commit: null, files: [], plan: null, outcomes: null };
  return { run: { ...run, problems: [problem] }, texts: new Map(), exitCode: 1 };
}

function worldOf(host: Host, quiet: boolean, onInterrupt = INTERRUPTED): World {
  const { workingDirectory, environment, now, random, newId, errors, input } = host;
  const stop = interruption(host, onInterrupt);
  const write = (text: string): void => void errors.write(text);
  const terminal = input.isTTY === true && errors.isTTY === true;
  return {
    workingDirectory,
    environment,
    now,
    random,
    newId,
    sleep: interruptibleSleep(stop),
    stop,
    notice: (line) => write(`${line}\n`),
    onProgress: quiet ? () => {} : progressReporter({ write, terminal: errors.isTTY === true, now }),
    confirm: terminal ? async (question) => (await import('./ask.ts')).ask(host, question, stop) : null,
  };
}

const INTERRUPTED = '\nInterrupted: the call in flight is finished. Once more ends at once.\n';

/** The first signal lets the call in flight end; the second ends the process at once. */
function interruption({ onSignal, errors, exit }: Host, notice: string): AbortSignal {
  const controller = new AbortController();
  onSignal(() => {
    if (controller.signal.aborted) return exit(130);
    errors.write(notice);
    controller.abort();
  });
  return controller.signal;
}

function callWriter({ verbose }: SharedFlags, { errors }: Host) {
  if (!verbose) return undefined;
  return (call: { method: string; path: string; status: number | null; milliseconds: number }): void => {
    errors.write(`${call.method} ${call.path} ${call.status ?? 'no answer'} ${Math.round(call.milliseconds)} ms\n`);
  };
}

function wantsColour({ color }: SharedFlags, { environment }: Host, stream: NodeJS.WriteStream): boolean {
  if (!color || (environment['NO_COLOR'] ?? '') !== '') return false;
  return stream.isTTY === true || (environment['FORCE_COLOR'] ?? '') !== '';
}

/** Commander has printed its own errors to standard error; a JSON report is owed all the same. */
async function fail(error: unknown, host: Host): Promise<number> {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const wantsJson = /(^|\0)--format(=|\0)json(\0|$)/.test(host.arguments.join('\0'));
  const usage = error instanceof CommanderError;
  const problem = usage ? makeProblem('usage/invalid', { reason: error.message }) : problemOf(error);
  const emission: Emission = { format: wantsJson ? 'json' : 'text', quiet: true, colour: false };
  if (usage && !wantsJson) return 1;
  const { emit } = await import('./emit.ts');
  await emit(unfinished(problem), emission, host);
  return 1;
}
