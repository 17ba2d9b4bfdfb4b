import { once } from 'node:events';
import { CommanderError } from 'commander';
import type { PlanningOptions } from '../run/run-with-plan.ts';
import { makeReport } from '../report/make-report.ts';
import { makeStoppedResult, type CommandResult, type CommandRun } from '../run/command-result.ts';
import type { ServeOptions, RunningService } from '../commands/serve.ts';
import type { PlanToConfirm } from '../commands/sync.ts';
import { REPORT_MODES } from '../domain/edits.ts';
import { mapStrings } from '../domain/json.ts';
import type { System } from '../domain/system.ts';
import type { NoteOptions } from '../forges/gitlab/publish-note.ts';
import { makeProblem, toProblem } from '../problem.ts';
import { renderProblem, renderWarnings } from '../report/problem-list.ts';
import { PLAIN_STYLE, makeOutputStyle } from '../report/output-style.ts';
import { READING_MODES } from '../report/formats/summary.ts';
import { renderText } from '../report/formats/terminal-text.ts';
import { emitReport, REPORT_OUTPUT, type ReportTarget } from './emit-report.ts';
import { FORMATS, type PrintFlags, type ReportFlags, type SyncFlags } from './flags.ts';
import type { SafeProcess } from './process-interface.ts';
import { openTargets, parseTargets } from './output-targets.ts';
import { makeInterview } from './questions.ts';
import { chooseStyle, usesColor } from './terminal.ts';
import { makeSystem } from './make-system.ts';

export type ReportMode = CommandRun['mode'];

/** The callback for each call to the service. Undefined without `--verbose`. */
export type OnCall = PlanningOptions['onCall'];

type CommandWork = (system: System, onCall: OnCall) => Promise<CommandResult>;

/** Runs a command, writes its report and resolves to the exit code. */
export async function runReportCommand(
  mode: ReportMode,
  flags: ReportFlags,
  host: SafeProcess,
  work: CommandWork,
  withoutDiffs = false,
): Promise<number> {
  const targets = await openTargets(flags, REPORT_OUTPUT, host);
  const { quiet } = flags;
  const interviewer = (stop: AbortSignal) => makeInterview(host, { stop, colour: usesColor(flags, host, host.errors) });
  // A read-only command stops within one request. Its report is the only line that the user needs.
  const onInterrupt = READING_MODES.includes(mode) ? '\n' : INTERRUPTED;
  const system = makeSystem(host, { quiet, onInterrupt, interviewer });
  const { run, shownReport, exitCode } = await work(system, makeCallWriter(flags, host)).catch((error: unknown) => {
    const problem = system.stopSignal.aborted ? makeProblem('apply/interrupted') : toProblem(error);
    // The questions of `init` read Ctrl-C as a key press and not as a signal, so `stopSignal` is not aborted.
    const interrupted = system.stopSignal.aborted || problem.code === 'usage/cancelled';
    return { ...makeStoppedResult(mode, problem), exitCode: interrupted ? 130 : 1 };
  });
  const isWritten = await emitReport(
    { report: makeReport(run), shownReport },
    { ...flags, targets, folder: run.folder, withoutDiffs },
    host,
  );
  // If a report could not be written, the exit code 0 becomes 1. All other exit codes stay the same.
  return isWritten ? exitCode : exitCode || 1;
}

/** Prints the report of an earlier run, and resolves to the exit code. */
export async function runShow(
  file: string,
  flags: PrintFlags & Pick<SyncFlags, 'diff'>,
  host: SafeProcess,
): Promise<number> {
  const targets = await openTargets(flags, REPORT_OUTPUT, host);
  const { readReport } = await import('../report/read-report.ts');
  const report = readReport(file, host.workingDirectory);
  const options = { ...flags, targets, folder: null, withoutDiffs: !flags.diff };
  return (await emitReport({ report }, options, host)) ? 0 : 1;
}

/** The message that a command that may write prints at the first SIGINT or SIGTERM. */
export const INTERRUPTED =
  '\nInterrupted: promptsync finishes the request in flight and then stops. Interrupt again to stop at once.\n';

/** Prints each call to the service on standard error. Returns undefined without `--verbose`. */
export function makeCallWriter({ verbose }: Pick<ReportFlags, 'verbose'>, host: SafeProcess): OnCall {
  if (!verbose) return undefined;
  return ({ method, path, status, milliseconds, attempt }) => {
    const retryNote = attempt > 1 ? ` (attempt ${attempt})` : '';
    const response = `${status ?? 'no response'} ${Math.round(milliseconds)} ms`;
    host.errors.write(`${method} ${path} ${response}${retryNote}\n`);
  };
}

/** Creates the function that renders a plan on standard error before the command asks the user to confirm it. */
export function makePlanRenderer(
  flags: Pick<SyncFlags, 'quiet' | 'color' | 'diff'>,
  host: SafeProcess,
): (plan: PlanToConfirm) => Promise<string> {
  return async ({ report, folder }) => {
    const style = await chooseStyle('errors', host, { ...flags, folder });
    // Redact before rendering, because markup and line breaks could split a secret.
    const redacted = mapStrings(report, host.secrets.hide);
    const warnings = flags.quiet ? [] : renderWarnings(redacted, undefined, makeOutputStyle(style));
    const options = { ...style, quiet: false, withoutDiffs: !flags.diff };
    return [renderText(redacted, options), ...warnings].join('\n');
  };
}

/** Runs `plan` or `sync`. Before `sync` asks for confirmation, it shows the plan on standard error. */
export async function runSync(flags: SyncFlags, host: SafeProcess): Promise<number> {
  const { syncPrompts } = await import('../commands/sync.ts');
  const renderPlan = makePlanRenderer(flags, host);
  const mode = flags.dryRun ? 'dry-run' : 'apply';
  const contactPolicy = flags.offline ? 'offline' : 'always';
  const work: CommandWork = (system, onCall) =>
    syncPrompts({ ...flags, environments: flags.environment, renderPlan, onCall, contactPolicy }, system);
  return runReportCommand(mode, flags, host, work, !flags.diff);
}

/** Publishes a report to GitLab, prints one line about it, and resolves to the exit code. */
export async function runComment(options: Omit<NoteOptions, 'hide'>, host: SafeProcess): Promise<number> {
  const { publishNote } = await import('../forges/gitlab/publish-note.ts');
  const system = makeSystem(host, { onInterrupt: INTERRUPTED });
  try {
    host.output.write(`${await publishNote({ ...options, hide: host.secrets.hide }, system)}\n`);
    return 0;
  } catch (error) {
    host.errors.write(`${renderProblem(toProblem(error), PLAIN_STYLE)}\n`);
    return system.stopSignal.aborted ? 130 : 1;
  }
}

/** Runs the embedded service until a signal arrives, and resolves to the exit code. */
export async function runServe({ db, port, seed }: ServeOptions, host: SafeProcess): Promise<number> {
  const { serveEmbedded } = await import('../commands/serve.ts');
  const system = makeSystem(host, { onInterrupt: '' });
  const { service, problems } = await serveEmbedded({ db, port, seed }, system);
  host.errors.write(problems.map((problem) => `${renderProblem(problem, PLAIN_STYLE)}\n`).join(''));
  if (service === null) return 1;
  host.output.write(formatServeGreeting(service, seed));
  if (!system.stopSignal.aborted) await once(system.stopSignal, 'abort');
  await service.close();
  return 0;
}

function formatServeGreeting({ baseUrl, keyVariable, prompts }: RunningService, seed: ServeOptions['seed']): string {
  const advice = prompts === 0 && seed === undefined ? ' To register the prompts of a workspace, use --seed.' : '';
  return [
    `The embedded service listens at ${baseUrl}; use it only for trials and tests.`,
    `API key: ${keyVariable === null ? '"embedded"' : `the value of ${keyVariable}`}`,
    `Registered prompts: ${prompts}.${advice} Press Ctrl-C to stop the service.\n`,
  ].join('\n');
}

/**
 * Resolves to the exit code 1. commander has already printed a usage error as text, so a report follows only for a file
 * or another format. If `writesReports` is false, the error must not overwrite the output files of the command.
 */
export async function reportFailure(error: unknown, writesReports: boolean, host: SafeProcess): Promise<number> {
  const isUsageError = error instanceof CommanderError;
  if (isUsageError && !writesReports) return 1;
  const targets = await parseTypedTargets(host);
  if (isUsageError && targets.every(({ format, file }) => format === 'text' && file === null)) return 1;
  const problem = isUsageError ? makeProblem('usage/invalid', { reason: describeUsageError(error) }) : toProblem(error);
  const { run } = makeStoppedResult(readTypedMode(host), problem);
  await emitReport({ report: makeReport(run) }, { quiet: false, color: false, targets, folder: null }, host);
  return 1;
}

/** Reads the targets of a command line that commander could not parse. Invalid output flags mean standard output. */
async function parseTypedTargets(host: SafeProcess): Promise<readonly ReportTarget[]> {
  const words = host.arguments.join('\0');
  const valuesOf = (flag: RegExp) => [...words.matchAll(flag)].flatMap(([, value]) => value ?? []);
  const typed = valuesOf(/(?:^|\0)--format[=\0](\w+)(?=\0|$)/g).at(-1);
  const format = FORMATS.find((one) => one === typed);
  const output = valuesOf(/(?:^|\0)(?:--output[=\0]|-o\0?)([^\0]+)/g);
  return openTargets({ format, output }, REPORT_OUTPUT, host).catch(() =>
    parseTargets({ format, output: [] }, REPORT_OUTPUT),
  );
}

/** An invalid `sync` counts as a dry run, because it wrote nothing. */
function readTypedMode({ arguments: [command] }: SafeProcess): ReportMode {
  return REPORT_MODES.find((mode) => mode === command) ?? 'dry-run';
}

/** Returns the message without commander's prefix `error:`, because the report already shows the severity. */
function describeUsageError({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'No command was specified.' : message.replace(/^error: /, '');
}
