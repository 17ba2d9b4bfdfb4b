import { once } from 'node:events';
import { CommanderError } from 'commander';
import type { WalkOptions } from '../commands/walk.ts';
import { refused, type CommandResult } from '../commands/result.ts';
import type { ServeOptions, Serving } from '../commands/serve.ts';
import type { Drawn } from '../commands/sync.ts';
import { MODES } from '../domain/edits.ts';
import { mapStrings } from '../domain/json.ts';
import type { World } from '../domain/world.ts';
import type { CommentOptions } from '../gitlab/comment.ts';
import { makeProblem, problemOf } from '../problem.ts';
import { makeReport, type Run } from '../report/make-report.ts';
import { renderProblem, renderProblems } from '../report/problems.ts';
import { PLAIN, styleFor } from '../report/style.ts';
import { renderText } from '../report/text.ts';
import { emit, openTargets, type Target, targetsOf } from './emit.ts';
import { FORMATS, type PrintFlags, type ReportFlags, type SyncFlags } from './flags.ts';
import type { SafeHost } from './host.ts';
import { interviewer } from './questions.ts';
import { styleOn, wantsColour } from './terminal.ts';
import { worldOf } from './world.ts';

export type Mode = Run['mode'];
export type OnCall = WalkOptions['onCall'];

/** What a command does. `onCall` is undefined without `--verbose`. */
type Work = (world: World, onCall: OnCall) => Promise<CommandResult>;

/** Does a command's work, writes its report and resolves to the exit code. */
export async function runReporting(mode: Mode, flags: ReportFlags, host: SafeHost, work: Work): Promise<number> {
  const targets = await openTargets(flags, host);
  const { quiet } = flags;
  const asks = (stop: AbortSignal) => interviewer(host, { stop, colour: wantsColour(flags, host, host.errors) });
  let folder: string | null = null;
  const keepFolder = (path: string): void => void (folder = path);
  const world = worldOf(host, { quiet, onInterrupt: INTERRUPTED, keepFolder, interviewer: asks });
  const { run, asked, exitCode } = await work(world, callWriter(flags, host)).catch((error: unknown) => {
    const problem = problemOf(error);
    // While a question is drawn, the terminal hands on Ctrl-C as a key and not as a signal.
    const interrupted = world.stop.aborted || problem.code === 'usage/cancelled';
    return { ...refused(mode, problem), exitCode: interrupted ? 130 : 1 };
  });
  const written = await emit({ report: makeReport(run), asked }, { ...flags, targets, folder }, host);
  return written ? exitCode : exitCode || 1;
}

/** Prints the report of an earlier run, and resolves to the exit code. */
export async function runShow(file: string, flags: PrintFlags, host: SafeHost): Promise<number> {
  const targets = await openTargets(flags, host);
  const { readReport } = await import('../commands/read-report.ts');
  const report = readReport(file, host.workingDirectory);
  return (await emit({ report }, { ...flags, targets, folder: null }, host)) ? 0 : 1;
}

const INTERRUPTED = '\nInterrupted: the call in flight is finished. Once more ends at once.\n';

/** What `--verbose` writes of each call; undefined without it. */
function callWriter({ verbose }: ReportFlags, host: SafeHost): OnCall {
  if (!verbose) return undefined;
  return ({ method, path, status, milliseconds, attempt }) => {
    const again = attempt > 1 ? ` (attempt ${attempt})` : '';
    const answer = `${status ?? 'no answer'} ${Math.round(milliseconds)} ms`;
    host.errors.write(`${method} ${path} ${answer}${again}\n`);
  };
}

/** Plans or applies; a person sees the plan before the question. */
export async function runSync(flags: SyncFlags, host: SafeHost): Promise<number> {
  const { sync } = await import('../commands/sync.ts');
  const draw = async ({ report, folder }: Drawn): Promise<string> => {
    const style = await styleOn('errors', host, { ...flags, folder });
    // Marks and line breaks would tear a secret apart.
    const shown = mapStrings(report, host.secrets.hide);
    const warnings = flags.quiet ? [] : renderProblems(shown, 'warning', styleFor(style));
    return [renderText(shown, { ...style, quiet: false }), ...warnings].join('\n');
  };
  const mode = flags.dryRun ? 'dry-run' : 'apply';
  const asking = flags.offline ? 'offline' : 'always';
  return runReporting(mode, flags, host, (world, onCall) => sync({ ...flags, draw, onCall, asking }, world));
}

/** Publishes a report, says in one line what was done, and resolves to the exit code. */
export async function runComment(options: Omit<CommentOptions, 'hide'>, host: SafeHost): Promise<number> {
  const { comment } = await import('../gitlab/comment.ts');
  const world = worldOf(host, { onInterrupt: INTERRUPTED });
  try {
    host.output.write(`${await comment({ ...options, hide: host.secrets.hide }, world)}\n`);
    return 0;
  } catch (error) {
    host.errors.write(`${renderProblem(problemOf(error), PLAIN)}\n`);
    return world.stop.aborted ? 130 : 1;
  }
}

/** Serves until a signal comes, and resolves to the exit code. */
export async function runServe({ db, port, seed }: ServeOptions, host: SafeHost): Promise<number> {
  const { serve } = await import('../commands/serve.ts');
  const world = worldOf(host, { onInterrupt: '' });
  const { serving, problems } = await serve({ db, port, seed }, world);
  host.errors.write(problems.map((problem) => `${renderProblem(problem, PLAIN)}\n`).join(''));
  if (serving === null) return 1;
  host.output.write(greeting(serving));
  if (!world.stop.aborted) await once(world.stop, 'abort');
  await serving.close();
  return 0;
}

function greeting({ baseUrl, keyVariable, prompts }: Serving): string {
  return [
    `The embedded service listens at ${baseUrl}; it is for trying and testing only.`,
    `API key: ${keyVariable === null ? '"embedded"' : `the value of ${keyVariable}`}`,
    `Prompts made known: ${prompts}. Ctrl-C ends it.\n`,
  ].join('\n');
}

/** Commander has printed its own errors to standard error; a report in another format is owed all the same. */
export async function fail(error: unknown, host: SafeHost): Promise<number> {
  const usage = error instanceof CommanderError;
  const targets = await targetsTyped(host);
  if (usage && targets.every(({ format, file }) => format === 'text' && file === null)) return 1;
  const problem = usage ? makeProblem('usage/invalid', { reason: reasonOf(error) }) : problemOf(error);
  const { run } = refused(modeOf(host), problem);
  await emit({ report: makeReport(run) }, { quiet: false, color: false, targets, folder: null }, host);
  return 1;
}

/** What was asked for, as words say it that may not be understood; standard output where the outputs are what is wrong. */
async function targetsTyped(host: SafeHost): Promise<readonly Target[]> {
  const words = host.arguments.join('\0');
  const valuesOf = (flag: RegExp) => [...words.matchAll(flag)].flatMap(([, value]) => value ?? []);
  const typed = valuesOf(/(?:^|\0)--format[=\0](\w+)(?=\0|$)/g).at(-1);
  const format = FORMATS.find((one) => one === typed);
  const output = valuesOf(/(?:^|\0)(?:--output[=\0]|-o\0?)([^\0]+)/g);
  return openTargets({ format, output }, host).catch(() => targetsOf({ format, output: [] }));
}

/** What the report would be of; a sync that was not understood has changed nothing. */
function modeOf({ arguments: [command] }: SafeHost): Mode {
  return MODES.find((mode) => mode === command) ?? 'dry-run';
}

/** Commander begins its messages with a word that the report has in `severity`; without a command it has no message. */
function reasonOf({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'No command was given.' : message.replace(/^error: /, '');
}
