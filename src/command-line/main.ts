import package_ from '../../package.json' with { type: 'json' };
import type { PrepareOptions } from '../commands/preparing/prepare-plan.ts';
import { refused } from '../commands/result.ts';
import { problemOf } from '../problem.ts';
import { inertText } from '../rendering/inert.ts';
import type { Run } from '../rendering/make-report.ts';
import { wantsColour } from './colour.ts';
import { fail } from './fail.ts';
import { forLog } from './for-log.ts';
import type { Host } from './host.ts';
import { interviewer } from './interview.ts';
import { makeProgram, type Handlers, type SharedFlags, type SyncFlags } from './program.ts';
import { hidingHost, type HidingHost } from './secrets.ts';
import {
  historyWith,
  importWith,
  initWith,
  promoteWith,
  pullWith,
  rollbackWith,
  statusWith,
  validateWith,
  type Work,
} from './works.ts';
import { worldOf } from './world-of.ts';
import { checkOutput } from './write-report.ts';

/** Runs one command line and resolves to its exit code. Never throws. */
export async function main(given: Host): Promise<number> {
  const host = hidingHost(given);
  let exitCode = 0;
  const finish = async (code: Promise<number>): Promise<void> => {
    exitCode = await code;
  };
  const report = (mode: Run['mode'], flags: ReportFlags, work: (onCall: OnCall) => Work): Promise<void> =>
    finish(runReporting(mode, flags, host, work(callWriter(flags, host))));
  const handlers: Handlers = {
    sync: (flags) => finish(runSync(flags, host)),
    validate: (flags) => report('validate', flags, () => validateWith(flags)),
    status: (flags) => report('status', flags, (onCall) => statusWith(flags, onCall)),
    init: (flags) => report('init', flags, (onCall) => initWith(flags, onCall)),
    import: (ids, flags) => report('import', flags, (onCall) => importWith(ids, flags, onCall)),
    promote: (keys, flags) => report('promote', flags, (onCall) => promoteWith(keys, flags, onCall)),
    rollback: (key, flags) => report('rollback', flags, (onCall) => rollbackWith(key, flags, onCall)),
    pull: (keys, flags) => report('pull', flags, (onCall) => pullWith(keys, flags, onCall)),
    history: (key, flags) => report('history', flags, (onCall) => historyWith(key, flags, onCall)),
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

async function runSync(flags: SyncFlags, host: HidingHost): Promise<number> {
  const { sync } = await import('../commands/sync.ts');
  const { config, only, dryRun, yes, exitCode, expectPlan, maxChanges, allowDirty, base, onDrift, changedSince } =
    flags;
  const withTexts = flags.format !== 'json' && !flags.quiet;
  const colour = wantsColour(flags, host, host.errors);
  const chosen = { config, only, changedSince, dryRun, yes, exitCode, withTexts, colour };
  const guards = { expectPlan, maxChanges, allowDirty, base, onDrift };
  const work: Work = (world) => sync({ ...chosen, ...guards, onCall: callWriter(flags, host) }, world);
  return runReporting(dryRun ? 'dry-run' : 'apply', flags, host, work);
}

type OnCall = PrepareOptions['onCall'];

/** What of the flags every report depends on. */
type ReportFlags = Omit<SharedFlags, 'only' | 'config'>;

async function runReporting(mode: Run['mode'], flags: ReportFlags, host: HidingHost, work: Work): Promise<number> {
  const { format, output, quiet } = flags;
  await checkOutput(output, host);
  const { keep, hide } = host.secrets;
  const asks = (stop: AbortSignal) => interviewer(host, { stop, colour: wantsColour(flags, host, host.errors) });
  const world = worldOf(host, { quiet, onInterrupt: INTERRUPTED, keepSecret: keep, interviewer: asks });
  const result = await work(world).catch((error: unknown) => {
    const problem = problemOf(error);
    // While a question is drawn, the terminal hands on Ctrl-C as a key and not as a signal.
    const interrupted = world.stop.aborted || problem.code === 'usage/cancelled';
    return { ...refused(mode, problem), exitCode: interrupted ? 130 : 1 };
  });
  const colour = wantsColour(flags, host, host.output);
  const { emit } = await import('./emit.ts');
  const told = await emit(result, { format, output, quiet, colour, hide }, host);
  return told ? result.exitCode : result.exitCode || 1;
}

const INTERRUPTED = '\nInterrupted: the call in flight is finished. Once more ends at once.\n';

function callWriter({ verbose }: Pick<SharedFlags, 'verbose'>, { errors }: HidingHost): OnCall {
  if (!verbose) return undefined;
  return ({ method, path, status, milliseconds }) =>
    errors.write(`${method} ${path} ${status ?? 'no answer'} ${Math.round(milliseconds)} ms\n`);
}
