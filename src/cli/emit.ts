import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CommandResult } from '../commands/result.ts';
import { mapStrings } from '../domain/json.ts';
import { trackedLink } from '../files/paths.ts';
import { replaceFile } from '../files/read-write.ts';
import { makeProblem, ProblemError, systemCodeOf, type Problem } from '../problem.ts';
import { renderJson } from '../report/escape.ts';
import { makeReport } from '../report/make-report.ts';
import { renderProblem, renderProblems } from '../report/problems.ts';
import { renderSummary } from '../report/summary.ts';
import { renderText, type TextOptions } from '../report/text.ts';
import type { Report } from '../report/schema.ts';
import { PLAIN, styleFor } from '../report/style.ts';
import type { Format, ReportFlags } from './flags.ts';
import { forLog, type Host, type SafeHost } from './host.ts';
import { styleOn } from './terminal.ts';

/** Where and how a report goes out. */
export type Emission = Pick<ReportFlags, 'format' | 'quiet' | 'color'> & {
  readonly output?: string | undefined;
  /** The folder that paths of the report are relative to; null: not known. */
  readonly folder: string | null;
};

/**
 * Writes the report to standard output or to the file, and warnings to standard error. A report that its file cannot
 * take goes to standard output, because it says what was done; then the result is false.
 */
export async function emit({ run, asked }: CommandResult, emission: Emission, host: SafeHost): Promise<boolean> {
  const { format, output, quiet } = emission;
  const { hide } = host.secrets;
  // Before it is rendered as well: what marks, wraps and escapes would tear a secret apart.
  const report = mapStrings(makeReport(run), hide);
  const style = format === 'text' && output === undefined ? await styleOn('output', host, emission) : { colour: false };
  const withoutDiffs = asked !== undefined && output === undefined;
  // A file may be a log as well, such as /dev/stdout.
  const text = forLog(hide(await render(report, format, { ...style, quiet, withoutDiffs })), host);
  const obstacles = output === undefined ? [] : await writeReport(text, output, host);
  if (output === undefined || obstacles.length > 0) host.output.write(text);
  await say(report, { ...emission, obstacles, asked: asked && mapStrings(asked, hide) }, host);
  return obstacles.length === 0;
}

type Said = Pick<CommandResult, 'asked'> & { readonly obstacles: readonly Problem[] };

/** What is for one kind of report alone is loaded for it. */
async function render(report: Report, format: Format, options: TextOptions): Promise<string> {
  if (format === 'json') return renderJson(report);
  const title = titleOf(report);
  if (format === 'markdown') {
    const { renderMarkdown } = await import('../report/markdown.ts');
    return renderMarkdown(report, { title, folder: null, commit: null, runUrl: null, limit: null });
  }
  if (format === 'html') return (await import('../report/html/page.ts')).renderHtml(report, title);
  if (report.mode === 'history') return (await import('../report/history.ts')).renderHistory(report, options);
  if (report.mode === 'status') return (await import('../report/status.ts')).renderStatus(report, options);
  return renderText(report, options);
}

/** A report is called as the command that it is of. */
function titleOf({ mode }: Report): string {
  if (mode === 'dry-run') return 'plan';
  return mode === 'apply' ? 'sync' : mode;
}

/** Warnings that no question has shown, and with a report that goes to a file its errors and last line as well. */
async function say(report: Report, emission: Emission & Said, host: SafeHost): Promise<void> {
  const { output, quiet, obstacles, asked } = emission;
  const style = styleFor(await styleOn('errors', host, emission));
  const said = new Set(asked && renderProblems(asked, 'warning', style));
  const warnings = quiet ? [] : renderProblems(report, 'warning', style).filter((one) => !said.has(one));
  const errors = output === undefined ? [] : renderProblems(report, 'error', style);
  const lines = obstacles.map((problem) => `${renderProblem(problem, style)}\n`);
  if (output !== undefined) lines.push(`${renderSummary(report, style)}\n`);
  host.errors.write([...warnings, ...errors, ...lines].join(''));
}

/** Throws a `ProblemError` when the report could not be written there later: better known before anything is done. */
export async function checkOutput(output: string, { workingDirectory }: Host): Promise<void> {
  const path = resolve(workingDirectory, output);
  const folder = await stat(dirname(path)).catch(() => null);
  const file = await stat(path).catch(() => null);
  const link = trackedLink(path);
  if (link !== null) throw new ProblemError(unwritable(output, `${link} is a symbolic link inside a repository`));
  if (folder?.isDirectory() !== true) throw new ProblemError(unwritable(output, 'there is no such folder'));
  if (file?.isDirectory() === true) throw new ProblemError(unwritable(output, 'it is a folder'));
}

/** Writes the report to the file that was asked for. What stands in the way is returned: the work is done by then. */
async function writeReport(text: string, output: string, { workingDirectory }: Host): Promise<readonly Problem[]> {
  return replaceFile(resolve(workingDirectory, output), text).then(
    () => [],
    (error: unknown) => [unwritable(output, systemCodeOf(error))],
  );
}

function unwritable(path: string, reason: string): Problem {
  return makeProblem('usage/output-unwritable', { path, reason });
}

/** What is printed where standard output takes nothing any more, a full disk for example. */
export function brokenOutput(error: Error): string {
  const problem = makeProblem('usage/stdout-unwritable', { reason: systemCodeOf(error) });
  return `${renderProblem(problem, PLAIN)}\n`;
}
