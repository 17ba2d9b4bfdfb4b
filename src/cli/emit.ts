import { access, constants, stat } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import type { CommandResult } from '../commands/result.ts';
import { mapStrings } from '../domain/json.ts';
import { trackedLink } from '../files/paths.ts';
import { replaceFile } from '../files/read-write.ts';
import { makeProblem, ProblemError, systemCodeOf, type Problem } from '../problem.ts';
import { renderJson } from '../report/escape.ts';
import { renderProblem, renderProblems } from '../report/problems.ts';
import { renderSummary } from '../report/summary.ts';
import { renderText, type TextOptions } from '../report/text.ts';
import type { Report } from '../report/schema.ts';
import { PLAIN, styleFor } from '../report/style.ts';
import { commandOf } from '../report/words.ts';
import type { Format, PrintFlags } from './flags.ts';
import { forLog, type Host, type SafeHost } from './host.ts';
import { styleOn } from './terminal.ts';

/** One form of a report, and the file that takes it; null: standard output. */
export type Target = { readonly format: Format; readonly file: string | null };

/** Where and how a report goes out. */
export type Emission = Pick<PrintFlags, 'quiet' | 'color'> & {
  readonly targets: readonly Target[];
  /** The folder that paths of the report are relative to; null: not known. */
  readonly folder: string | null;
};

/** A report, and what a question has shown of it. */
type Emitted = Pick<CommandResult, 'asked'> & { readonly report: Report };

/**
 * Writes the report in all its forms, and warnings to standard error. Where a file cannot take its own, that one goes to
 * standard output, because it says what was done; then the result is false.
 */
export async function emit({ report: made, asked }: Emitted, emission: Emission, host: SafeHost): Promise<boolean> {
  const { hide } = host.secrets;
  // Before it is rendered as well: what marks, wraps and escapes would tear a secret apart.
  const report = mapStrings(made, hide);
  const withoutDiffs = asked !== undefined && !isToFiles(emission);
  const obstacles: Problem[] = [];
  for (const { format, file } of emission.targets) {
    const drawn = format === 'text' && file === null;
    const style = drawn ? await styleOn('output', host, emission) : { colour: false };
    // A file may be a log as well, such as /dev/stdout.
    const text = forLog(hide(await render(report, format, { ...style, quiet: emission.quiet, withoutDiffs })), host);
    const problem = file === null ? null : await writeReport(text, file, host);
    if (file === null || (problem !== null && obstacles.length === 0)) host.output.write(text);
    if (problem !== null) obstacles.push(problem);
  }
  await say(report, { ...emission, obstacles, asked: asked && mapStrings(asked, hide) }, host);
  return obstacles.length === 0;
}

function isToFiles({ targets }: Emission): boolean {
  return targets.some(({ file }) => file !== null);
}

type Said = Pick<CommandResult, 'asked'> & { readonly obstacles: readonly Problem[] };

/** What is for one kind of report alone is loaded for it. */
async function render(report: Report, format: Format, options: TextOptions): Promise<string> {
  if (format === 'json') return renderJson(report);
  const title = commandOf(report);
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

/** Warnings that no question has shown, and with a report that goes to a file its errors and last line as well. */
async function say(report: Report, emission: Emission & Said, host: SafeHost): Promise<void> {
  const { quiet, obstacles, asked } = emission;
  const toFiles = isToFiles(emission);
  const style = styleFor(await styleOn('errors', host, emission));
  const said = new Set(asked && renderProblems(asked, 'warning', style));
  const warnings = quiet ? [] : renderProblems(report, 'warning', style).filter((one) => !said.has(one));
  const errors = toFiles ? renderProblems(report, 'error', style) : [];
  const lines = obstacles.map((problem) => `${renderProblem(problem, style)}\n`);
  if (toFiles) lines.push(`${renderSummary(report, style)}\n`);
  host.errors.write([...warnings, ...errors, ...lines].join(''));
}

/**
 * What a command line asks for. Throws a `ProblemError` where that is not clear, or where a file could not take its
 * report later: better known before anything is done.
 */
export async function openTargets(flags: Asked, { workingDirectory }: Host): Promise<readonly Target[]> {
  const targets = targetsOf(flags);
  for (const { file } of targets) {
    const obstacle = file === null ? null : await obstacleAt(resolve(workingDirectory, file));
    if (file !== null && obstacle !== null) throw new ProblemError(unwritable(file, obstacle));
  }
  return targets;
}

type Asked = Pick<PrintFlags, 'format' | 'output'>;

const ENDINGS = { '.txt': 'text', '.json': 'json', '.md': 'markdown', '.html': 'html', '.xml': 'junit' } as const;
const FORMAT_OF: ReadonlyMap<string, Format> = new Map(Object.entries(ENDINGS));

/** The name of a file says its format; a flag that says it as well can be about a single one only. */
export function targetsOf({ format, output }: Asked): readonly Target[] {
  if (output.length === 0) return [{ format: format ?? 'text', file: null }];
  if (format !== undefined && output.length > 1) throw unclear('--format is for a single --output');
  return output.map((file) => {
    const named = format ?? FORMAT_OF.get(extname(file));
    if (named === undefined) throw unclear(`--output ${file} does not say in which format`);
    return { format: named, file };
  });
}

function unclear(reason: string): ProblemError {
  return new ProblemError(makeProblem('usage/output-format', { reason }));
}

async function obstacleAt(path: string): Promise<string | null> {
  const link = trackedLink(path);
  if (link !== null) return `${link} is a symbolic link inside a repository`;
  const folder = await stat(dirname(path)).catch(() => null);
  if (folder?.isDirectory() !== true) return 'there is no such folder';
  const file = await stat(path).catch(() => null);
  if (file?.isDirectory() === true) return 'it is a folder';
  // A file is replaced, which is up to its folder; a device is written to.
  const written = file === null || file.isFile() ? dirname(path) : path;
  return access(written, constants.W_OK).then(() => null, systemCodeOf);
}

/** Writes a report to its file. What stands in the way is returned: the work is done by then. */
async function writeReport(text: string, file: string, { workingDirectory }: Host): Promise<Problem | null> {
  return replaceFile(resolve(workingDirectory, file), text).then(
    () => null,
    (error: unknown) => unwritable(file, systemCodeOf(error)),
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
