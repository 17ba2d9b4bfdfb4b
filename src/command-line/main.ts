import { CommanderError } from 'commander';
import package_ from '../../package.json' with { type: 'json' };
import type { PrepareOptions } from '../commands/prepare-plan.ts';
import { notRun, type CommandResult } from '../commands/result.ts';
import type { World } from '../commands/world.ts';
import { makeProblem, problemOf, type Problem } from '../problem.ts';
import { inertText } from '../rendering/inert.ts';
import type { Run } from '../rendering/make-report.ts';
import type { HistoryFlags } from './add-history.ts';
import { wantsColour } from './colour.ts';
import type { Emission } from './emit.ts';
import { forLog } from './for-log.ts';
import type { Host } from './host.ts';
import { makeProgram, type Handlers, type SharedFlags, type SyncFlags } from './program.ts';
import { promoteWith, pullWith, rollbackWith } from './run-edits.ts';
import { hidingHost, type HidingHost } from './secrets.ts';
import { worldOf } from './world-of.ts';
import { checkOutput } from './write-report.ts';

/** Runs one command line and resolves to its exit code. Never throws. */
export async function main(given: Host): Promise<number> {
  const host = hidingHost(given);
  let exitCode = 0;
  const finish = async (code: Promise<number>): Promise<void> => {
    exitCode = await code;
  };
  const handlers: Handlers = {
    sync: (flags) => finish(runSync(flags, host)),
    validate: (flags) => finish(runReporting('validate', flags, host, validateWith(flags))),
    status: (flags) => finish(runReporting('status', flags, host, statusWith(flags, host))),
    promote: (keys, flags) =>
      finish(runReporting('promote', flags, host, promoteWith(keys, flags, callWriter(flags, host)))),
    rollback: (key, flags) =>
      finish(runReporting('rollback', flags, host, rollbackWith(key, flags, callWriter(flags, host)))),
    pull: (keys, flags) => finish(runReporting('pull', flags, host, pullWith(keys, flags, callWriter(flags, host)))),
    history: (key, flags) => finish(runReporting('history', flags, host, historyWith(key, flags, host))),
    serve: (flags) => finish(import('./run-serve.ts').then(({ runServe }) => runServe(flags, host))),
  };
  const streams = {
    out: (text: string) => host.output.write(text),
    // What was typed is quoted in there, and a workflow may have typed what somebody else said.
    err: (text: string) => host.errors.write(forLog(inertText(text), host)),
  };
  try {
    await makeProgram(handlers, streams, package_.version).parseAsync([...host.arguments], { from: 'user' });
    return exitCode;
  } catch (error) {
    return fail(error, host);
  }
}

// Every command loads what it needs when it is called: `--help` needs none of it.

type Work = (world: World) => Promise<CommandResult>;

async function runSync(flags: SyncFlags, host: HidingHost): Promise<number> {
  const { sync } = await import('../commands/sync.ts');
  const { config, only, dryRun, yes, exitCode, expectPlan, maxChanges, allowDirty, base, onDrift } = flags;
  const withTexts = flags.format !== 'json' && !flags.quiet;
  const colour = wantsColour(flags, host, host.errors);
  const chosen = { config, only, dryRun, yes, exitCode, withTexts, colour };
  const guards = { expectPlan, maxChanges, allowDirty, base, onDrift };
  const work: Work = (world) => sync({ ...chosen, ...guards, onCall: callWriter(flags, host) }, world);
  return runReporting(dryRun ? 'dry-run' : 'apply', flags, host, work);
}

function validateWith({ config, only }: SharedFlags): Work {
  return async (world) => (await import('../commands/validate.ts')).validate({ config, only }, world);
}

function statusWith(flags: SharedFlags, host: HidingHost): Work {
  const { config, only } = flags;
  const onCall = callWriter(flags, host);
  return async (world) => (await import('../commands/status.ts')).status({ config, only, onCall }, world);
}

function historyWith(key: string, flags: HistoryFlags, host: HidingHost): Work {
  const { config, environment } = flags;
  const onCall = callWriter(flags, host);
  return async (world) => (await import('../commands/history.ts')).history({ key, config, environment, onCall }, world);
}

type ReportFlags = Omit<SharedFlags, 'only'>;

async function runReporting(mode: Run['mode'], flags: ReportFlags, host: HidingHost, work: Work): Promise<number> {
  const { format, output, quiet } = flags;
  await checkOutput(output, host);
  const { keep, hide } = host.secrets;
  const world = worldOf(host, { quiet, onInterrupt: INTERRUPTED, keepSecret: keep });
  const result = await work(world).catch((error: unknown) => unfinished(mode, problemOf(error)));
  const colour = wantsColour(flags, host, host.output);
  const { emit } = await import('./emit.ts');
  const told = await emit(result, { format, output, quiet, colour, hide }, host);
  return told ? result.exitCode : result.exitCode || 1;
}

const INTERRUPTED = '\nInterrupted: the call in flight is finished. Once more ends at once.\n';

/** What is reported when a command could not even begin. */
function unfinished(mode: Run['mode'], problem: Problem): CommandResult {
  return { run: notRun(mode, { files: [], problems: [problem] }), texts: new Map(), exitCode: 1 };
}

function callWriter({ verbose }: ReportFlags, { errors }: HidingHost): PrepareOptions['onCall'] {
  if (!verbose) return undefined;
  return ({ method, path, status, milliseconds }) =>
    errors.write(`${method} ${path} ${status ?? 'no answer'} ${Math.round(milliseconds)} ms\n`);
}

/** Commander has printed its own errors to standard error; a JSON report is owed all the same. */
async function fail(error: unknown, host: HidingHost): Promise<number> {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const words = host.arguments.join('\0');
  const wantsJson = /(^|\0)--format(=|\0)json(\0|$)/.test(words);
  if (error instanceof CommanderError && !wantsJson) return 1;
  const usage = error instanceof CommanderError;
  const problem = usage ? makeProblem('usage/invalid', { reason: reasonOf(error) }) : problemOf(error);
  const output = usage ? /(?:^|\0)(?:--output[=\0]|-o\0?)([^\0]+)/.exec(words)?.[1] : undefined;
  const { hide } = host.secrets;
  const emission: Emission = { format: wantsJson ? 'json' : 'text', quiet: false, colour: false, output, hide };
  const { emit } = await import('./emit.ts');
  await emit(unfinished('dry-run', problem), emission, host);
  return 1;
}

/** Commander begins its messages with a word that the report has in `severity`; without a command it has no message. */
function reasonOf({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'No command was given.' : message.replace(/^error: /, '');
}
