import { access, constants, stat } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import type { CommandResult } from '../commands/result.ts';
import { mapStrings } from '../domain/json.ts';
import { findTrackedLink } from '../files/paths.ts';
import { replaceFile } from '../files/read-write.ts';
import { makeProblem, ProblemError, getSystemCode, type Problem } from '../problem.ts';
import { renderJson } from '../report/escape.ts';
import { renderProblem, renderProblems } from '../report/problems.ts';
import { renderSummary } from '../report/summary.ts';
import { renderText, type TextOptions } from '../report/text.ts';
import type { Report } from '../report/schema.ts';
import { PLAIN_STYLE, makeStyle } from '../report/style.ts';
import { getCommandName } from '../report/describe.ts';
import type { Format, PrintFlags } from './flags.ts';
import { escapeForLog, type Host, type SafeHost } from './host.ts';
import { chooseStyle } from './terminal.ts';

/** A format of the report, and the file to write it to. Null means standard output. */
export type OutputTarget = { readonly format: Format; readonly file: string | null };

/** Where to write a report, and how to draw it. */
export type OutputOptions = Pick<PrintFlags, 'quiet' | 'color'> & {
  readonly targets: readonly OutputTarget[];
  /** The folder that the paths of the report are relative to; null if it is unknown. */
  readonly folder: string | null;
};

/** A report, and the report that a question of the command already showed. */
type ReportToEmit = Pick<CommandResult, 'shownReport'> & { readonly report: Report };

/**
 * Writes the report in all requested formats, and warnings to standard error. If a file cannot be written, its report goes
 * to standard output instead, because it says what was done. Then this function returns false.
 */
export async function emitReport(
  { report: made, shownReport }: ReportToEmit,
  emission: OutputOptions,
  host: SafeHost,
): Promise<boolean> {
  const { hide } = host.secrets;
  // Redact before rendering, too: markup, wrapping and escaping would split a secret, so that it is no longer found.
  const report = mapStrings(made, hide);
  const withoutDiffs = shownReport !== undefined && !goesToFiles(emission);
  const obstacles: Problem[] = [];
  for (const { format, file } of emission.targets) {
    const drawn = format === 'text' && file === null;
    const style = drawn ? await chooseStyle('output', host, emission) : { colour: false };
    // A file can be a log, too, such as /dev/stdout.
    const text = escapeForLog(
      hide(await renderReport(report, format, { ...style, quiet: emission.quiet, withoutDiffs })),
      host,
    );
    const problem = file === null ? null : await writeReport(text, file, host);
    if (file === null || (problem !== null && obstacles.length === 0)) host.output.write(text);
    if (problem !== null) obstacles.push(problem);
  }
  await printReport(
    report,
    { ...emission, obstacles, shownReport: shownReport && mapStrings(shownReport, hide) },
    host,
  );
  return obstacles.length === 0;
}

function goesToFiles({ targets }: OutputOptions): boolean {
  return targets.some(({ file }) => file !== null);
}

type PrintedProblems = Pick<CommandResult, 'shownReport'> & { readonly obstacles: readonly Problem[] };

/** Renders a report. It loads only the renderer of the requested format. */
async function renderReport(report: Report, format: Format, options: TextOptions): Promise<string> {
  if (format === 'json') return renderJson(report);
  const title = getCommandName(report);
  if (format === 'markdown') {
    const { renderMarkdown } = await import('../report/markdown.ts');
    return renderMarkdown(report, { title, folder: null, commit: null, runUrl: null, limit: null });
  }
  if (format === 'html') return (await import('../report/html/page.ts')).renderHtml(report, title);
  if (format === 'junit') return (await import('../report/junit.ts')).renderJunit(report, title);
  if (report.mode === 'history') return (await import('../report/history.ts')).renderHistory(report, options);
  if (report.mode === 'status') return (await import('../report/status.ts')).renderStatus(report, options);
  return renderText(report, options);
}

/**
 * Prints the warnings that no question showed to standard error. If all reports go to files, it also prints the errors
 * and the last line.
 */
async function printReport(report: Report, emission: OutputOptions & PrintedProblems, host: SafeHost): Promise<void> {
  const { quiet, obstacles, shownReport } = emission;
  const toFiles = goesToFiles(emission);
  const style = makeStyle(await chooseStyle('errors', host, emission));
  const said = new Set(shownReport && renderProblems(shownReport, 'warning', style));
  const warnings = quiet ? [] : renderProblems(report, 'warning', style).filter((one) => !said.has(one));
  const errors = toFiles ? renderProblems(report, 'error', style) : [];
  const lines = obstacles.map((problem) => `${renderProblem(problem, style)}\n`);
  if (toFiles) lines.push(`${renderSummary(report, style)}\n`);
  host.errors.write([...warnings, ...errors, ...lines].join(''));
}

/**
 * Returns where a command line wants its reports. Throws a `ProblemError` if that is ambiguous, or if a file could not be
 * written later. The check runs before the command does anything.
 */
export async function openTargets(flags: OutputFlags, { workingDirectory }: Host): Promise<readonly OutputTarget[]> {
  const targets = parseTargets(flags);
  for (const { file } of targets) {
    const obstacle = file === null ? null : await findOutputObstacle(resolve(workingDirectory, file));
    if (file !== null && obstacle !== null) throw new ProblemError(makeUnwritableProblem(file, obstacle));
  }
  return targets;
}

type OutputFlags = Pick<PrintFlags, 'format' | 'output'>;

const FORMATS_BY_ENDING = {
  '.txt': 'text',
  '.json': 'json',
  '.md': 'markdown',
  '.html': 'html',
  '.xml': 'junit',
} as const;
const FORMAT_OF: ReadonlyMap<string, Format> = new Map(Object.entries(FORMATS_BY_ENDING));

/** Returns the targets of a command line. A file name determines its format. `--format` is allowed with one file only. */
export function parseTargets({ format, output }: OutputFlags): readonly OutputTarget[] {
  if (output.length === 0) return [{ format: format ?? 'text', file: null }];
  if (format !== undefined && output.length > 1) throw makeOutputError('--format is for a single --output');
  return output.map((file) => {
    const named = format ?? FORMAT_OF.get(extname(file));
    if (named === undefined) throw makeOutputError(`--output ${file} does not say in which format`);
    return { format: named, file };
  });
}

function makeOutputError(reason: string): ProblemError {
  return new ProblemError(makeProblem('usage/output-format', { reason }));
}

async function findOutputObstacle(path: string): Promise<string | null> {
  const link = findTrackedLink(path);
  if (link !== null) return `${link} is a symbolic link inside a repository`;
  const folder = await stat(dirname(path)).catch(() => null);
  if (folder?.isDirectory() !== true) return 'there is no such folder';
  const file = await stat(path).catch(() => null);
  if (file?.isDirectory() === true) return 'it is a folder';
  // Replacing a file needs write access to its folder; writing to a device needs access to the device.
  const written = file === null || file.isFile() ? dirname(path) : path;
  return access(written, constants.W_OK).then(() => null, getSystemCode);
}

/** Writes a report to its file. Returns a problem instead of throwing, because the command has done its work by then. */
async function writeReport(text: string, file: string, { workingDirectory }: Host): Promise<Problem | null> {
  return replaceFile(resolve(workingDirectory, file), text).then(
    () => null,
    (error: unknown) => makeUnwritableProblem(file, getSystemCode(error)),
  );
}

function makeUnwritableProblem(path: string, reason: string): Problem {
  return makeProblem('usage/output-unwritable', { path, reason });
}

/** Returns the message for a standard output that cannot be written, for example because the disk is full. */
export function describeBrokenOutput(error: Error): string {
  const problem = makeProblem('usage/stdout-unwritable', { reason: getSystemCode(error) });
  return `${renderProblem(problem, PLAIN_STYLE)}\n`;
}
