import type { CommandResult } from '../run/command-result.ts';
import { mapStrings } from '../domain/json.ts';
import { makeProblem, describeSystemError, getSystemCode, type Problem } from '../problem.ts';
import { escapeLine, renderJson } from '../report/escape.ts';
import { renderErrors, renderProblem, renderWarnings } from '../report/problem-list.ts';
import { renderEndedRun, renderSummary } from '../report/formats/summary.ts';
import { renderText, type TextOptions } from '../report/formats/terminal-text.ts';
import type { Report } from '../report/schema/report-schema.ts';
import { PLAIN_STYLE, makeOutputStyle } from '../report/output-style.ts';
import { getCommandName } from '../report/describe-report.ts';
import type { Format, PrintFlags } from './flags.ts';
import { escapeForLog, type SafeProcess } from './process-interface.ts';
import { type OutputKind, type OutputTarget, writeOutputFile } from './output-targets.ts';
import { chooseStyle } from './terminal.ts';

export type ReportTarget = OutputTarget<Format>;

export const REPORT_OUTPUT: OutputKind<Format> = {
  name: 'report',
  defaultFormat: 'text',
  formatsByEnding: new Map([
    ['.txt', 'text'],
    ['.json', 'json'],
    ['.md', 'markdown'],
    ['.html', 'html'],
    ['.xml', 'junit'],
  ]),
};

export type OutputOptions = Pick<PrintFlags, 'quiet' | 'color'> & {
  readonly targets: readonly ReportTarget[];
  readonly withoutDiffs?: boolean;
  /** The absolute path of the folder that paths in the report are relative to. Null if that folder is unknown. */
  readonly folder: string | null;
};

/** `shownReport` is the report that the user saw before the confirmation question, if there was a question. */
type ReportToEmit = Pick<CommandResult, 'shownReport'> & { readonly report: Report };

/**
 * Writes the report to all targets, and its warnings to standard error. Returns false if a file cannot be written. The
 * report for the first such file then goes to standard output, so that the user can see which changes were made.
 */
export async function emitReport(
  { report: unredactedReport, shownReport }: ReportToEmit,
  options: OutputOptions,
  host: SafeProcess,
): Promise<boolean> {
  const { hide } = host.secrets;
  // Redact the strings before rendering. Markup, wrapping and escaping could split a secret, and `hide` would miss it.
  const report = mapStrings(unredactedReport, hide);
  const wereTextsShown = shownReport !== undefined && !goesToFiles(options);
  const withoutDiffs = options.withoutDiffs ?? false;
  const obstacles: Problem[] = [];
  for (const { format, file } of options.targets) {
    const isPrintedText = format === 'text' && file === null;
    const style = isPrintedText ? await chooseStyle('output', host, options) : { colour: false };
    // Escape the content of files, too, because a file such as /dev/stdout can be the log of a GitHub runner.
    const text = escapeForLog(
      hide(await renderReport(report, format, { ...style, quiet: options.quiet, withoutDiffs, wereTextsShown })),
      host,
    );
    const problem = file === null ? null : await writeOutputFile(text, file, REPORT_OUTPUT, host);
    if (file === null || (problem !== null && obstacles.length === 0)) host.output.write(text);
    if (problem !== null) obstacles.push(problem);
  }
  const redactedShownReport = shownReport && mapStrings(shownReport, hide);
  await printProblems(report, { ...options, obstacles, shownReport: redactedShownReport }, host);
  return obstacles.length === 0;
}

function goesToFiles({ targets }: OutputOptions): boolean {
  return targets.some(({ file }) => file !== null);
}

type EmittedState = Pick<CommandResult, 'shownReport'> & {
  /** One problem for each file that could not be written. */
  readonly obstacles: readonly Problem[];
};

/** The options for rendering. If the user has already seen the texts, a text report omits them. */
type RenderOptions = TextOptions & { readonly wereTextsShown: boolean };

/** Renders a report in one format. Loads only the renderer of that format. */
async function renderReport(report: Report, format: Format, options: RenderOptions): Promise<string> {
  const title = getCommandName(report);
  switch (format) {
    case 'text':
      return renderTextReport(report, options);
    case 'json':
      return renderJson(report);
    case 'markdown': {
      const { renderMarkdown } = await import('../report/formats/markdown.ts');
      const { withoutDiffs } = options;
      return renderMarkdown(report, { title, workspace: null, commit: null, runUrl: null, limit: null, withoutDiffs });
    }
    case 'html':
      return (await import('../report/formats/html-page.ts')).renderHtml(report, title, options.withoutDiffs);
    case 'junit':
      return (await import('../report/formats/junit.ts')).renderJunit(report, title);
  }
}

async function renderTextReport(report: Report, options: RenderOptions): Promise<string> {
  const onlyLine = renderEndedRun(report);
  if (onlyLine !== null) return `${onlyLine}\n`;
  if (report.mode === 'history')
    return (await import('../report/formats/render-history.ts')).renderHistory(report, options);
  if (report.mode === 'status')
    return (await import('../report/formats/status-matrix.ts')).renderStatus(report, options);
  return renderText(report, { ...options, withoutDiffs: options.withoutDiffs === true || options.wereTextsShown });
}

/** Prints the problems that the user has not seen yet. If the report goes to files, also prints a summary. */
async function printProblems(report: Report, options: OutputOptions & EmittedState, host: SafeProcess): Promise<void> {
  const { obstacles, targets, shownReport } = options;
  const onlyLine = renderEndedRun(report);
  const quiet = options.quiet || onlyLine !== null;
  const toFiles = goesToFiles(options);
  const style = makeOutputStyle(await chooseStyle('errors', host, options));
  const warnings = quiet ? [] : renderWarnings(report, shownReport, style);
  const errors = toFiles && onlyLine === null ? renderErrors(report, style) : [];
  const lines = obstacles.map((problem) => `${renderProblem(problem, style)}\n`);
  if (toFiles) lines.push(`${onlyLine ?? renderSummary(report, style, quiet)}\n`);
  const files = targets.flatMap(({ file }) => (file === null ? [] : escapeLine(file)));
  if (toFiles && !quiet && obstacles.length === 0) lines.push(`Report: ${files.join(', ')}\n`);
  host.errors.write([...warnings, ...errors, ...lines].join(''));
}

/** Returns the message for a working directory that promptsync could not find. */
export function describeMissingFolder(error: unknown): string {
  const problem = makeProblem('usage/no-current-folder', { reason: getSystemCode(error) });
  return `${renderProblem(problem, PLAIN_STYLE)}\n`;
}

/** Returns the message for a failed write to standard output, for example because the disk is full. */
export function describeBrokenOutput(error: Error): string {
  const problem = makeProblem('usage/stdout-unwritable', { reason: describeSystemError(error) });
  return `${renderProblem(problem, PLAIN_STYLE)}\n`;
}
