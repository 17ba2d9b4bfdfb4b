import type { PrepareOptions } from '../commands/preparing/prepare-plan.ts';
import type { Drawn } from '../commands/sync.ts';
import { refused } from '../commands/result.ts';
import { problemOf } from '../problem.ts';
import type { Run } from '../report/make-report.ts';
import { wantsColour } from './colour.ts';
import { forLog } from './for-log.ts';
import { interviewer } from './interview.ts';
import type { SharedFlags, SyncFlags } from './program.ts';
import type { HidingHost } from './secrets.ts';
import type { Work } from './works.ts';
import { worldOf } from './world-of.ts';

/** Plans or applies, and resolves to the exit code. */
export async function runSync(flags: SyncFlags, host: HidingHost): Promise<number> {
  const { sync } = await import('../commands/sync.ts');
  const { config, only, dryRun, yes, exitCode, changedSince } = flags;
  const { expectPlan, maxChanges, allowDirty, base, onDrift } = flags;
  const chosen = { config, only, changedSince, dryRun, yes, exitCode };
  const guards = { expectPlan, maxChanges, allowDirty, base, onDrift };
  const draw = async (shown: Drawn) => (await import('./draw-text.ts')).drawPlan(shown, flags, host);
  const work: Work = (world) => sync({ ...chosen, ...guards, draw, onCall: callWriter(flags, host) }, world);
  return runReporting(dryRun ? 'dry-run' : 'apply', flags, host, work);
}

export type OnCall = PrepareOptions['onCall'];

/** What of the flags every report depends on. */
export type ReportFlags = Omit<SharedFlags, 'only' | 'config'>;

/** Does a command's work, writes its report and resolves to the exit code. */
export async function runReporting(
  mode: Run['mode'],
  flags: ReportFlags,
  host: HidingHost,
  work: Work,
): Promise<number> {
  const { format, output, quiet, full, color } = flags;
  if (output !== undefined) await (await import('./write-report.ts')).checkOutput(output, host);
  const { keep } = host.secrets;
  const asks = (stop: AbortSignal) => interviewer(host, { stop, colour: wantsColour(flags, host, host.errors) });
  let folder: string | null = null;
  const keepFolder = (path: string): void => void (folder = path);
  const world = worldOf(host, { quiet, onInterrupt: INTERRUPTED, keepSecret: keep, keepFolder, interviewer: asks });
  const result = await work(world).catch((error: unknown) => {
    const problem = problemOf(error);
    // While a question is drawn, the terminal hands on Ctrl-C as a key and not as a signal.
    const interrupted = world.stop.aborted || problem.code === 'usage/cancelled';
    return { ...refused(mode, problem), exitCode: interrupted ? 130 : 1 };
  });
  const { emit } = await import('./emit.ts');
  const told = await emit(result, { format, output, quiet, full, color, folder }, host);
  return told ? result.exitCode : result.exitCode || 1;
}

const INTERRUPTED = '\nInterrupted: the call in flight is finished. Once more ends at once.\n';

/** What `--verbose` writes of each call; undefined without it. */
export function callWriter({ verbose }: Pick<SharedFlags, 'verbose'>, host: HidingHost): OnCall {
  if (!verbose) return undefined;
  return ({ method, path, status, milliseconds, attempt }) => {
    const again = attempt > 1 ? ` (attempt ${attempt})` : '';
    const answer = `${status ?? 'no answer'} ${Math.round(milliseconds)} ms`;
    host.errors.write(forLog(`${method} ${path} ${answer}${again}\n`, host));
  };
}
