import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CommandResult } from '../commands/result.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import { coloursFor } from '../rendering/colours.ts';
import { inertForRunner } from '../rendering/inert.ts';
import { makeReport } from '../rendering/make-report.ts';
import { renderJson } from '../rendering/render-json.ts';
import { renderProblem } from '../rendering/render-problem.ts';
import { renderStatus } from '../rendering/render-status.ts';
import { renderSummary } from '../rendering/render-summary.ts';
import { renderText } from '../rendering/render-text.ts';
import type { Report } from '../schemas/report.ts';
import type { Host } from './host.ts';
import type { Format, SharedFlags } from './program.ts';

/** Where and how a report goes out. */
export type Emission = Pick<SharedFlags, 'format' | 'output' | 'quiet'> & { readonly colour: boolean };

/** Writes the report to standard output or to the file, and warnings to standard error. */
export async function emit({ run, texts }: CommandResult, emission: Emission, host: Host): Promise<void> {
  const report = makeReport(run);
  const { format, output, quiet, colour } = emission;
  const text = guard(render(report, format, { colour: colour && output === undefined, quiet, texts }), host, format);
  if (output === undefined) host.output.write(text);
  else await writeAtomically(resolve(host.workingDirectory, output), text, output);
  if (!quiet) say(report, output, host);
}

/** Throws a `ProblemError` when the report could not be written there later: better known before anything is done. */
export async function checkOutput(output: string | undefined, { workingDirectory }: Host): Promise<void> {
  if (output === undefined) return;
  const path = resolve(workingDirectory, output);
  const folder = await stat(dirname(path)).catch(() => null);
  const file = await stat(path).catch(() => null);
  if (folder?.isDirectory() !== true) throw unwritable(output, 'there is no such folder');
  if (file?.isDirectory() === true) throw unwritable(output, 'it is a folder');
}

type RenderOptions = Parameters<typeof renderText>[1];

function render(report: Report, format: Format, options: RenderOptions): string {
  if (format === 'json') return renderJson(report);
  return report.mode === 'status' ? renderStatus(report, options.colour) : renderText(report, options);
}

function guard(text: string, { environment }: Host, format: Format): string {
  return format === 'text' && environment['GITHUB_ACTIONS'] === 'true' ? inertForRunner(text) : text;
}

/** Warnings, and with a report that went to a file its errors and last line as well. */
function say(report: Report, output: string | undefined, { errors, environment }: Host): void {
  const colours = coloursFor(false);
  const all = [...report.problems, ...report.prompts.flatMap(({ problems }) => problems)];
  const shown = all.filter(({ severity }) => severity === 'warning' || output !== undefined);
  const lines = shown.map((problem) => renderProblem(problem, colours));
  if (output !== undefined) lines.push(renderSummary(report, colours));
  const text = lines.map((line) => `${line}\n`).join('');
  errors.write(environment['GITHUB_ACTIONS'] === 'true' ? inertForRunner(text) : text);
}

/** Whoever reads the file never sees half of it. */
async function writeAtomically(path: string, text: string, shown: string): Promise<void> {
  const temporary = `${path}.promptsync-new`;
  try {
    await writeFile(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw unwritable(shown, error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason');
  }
}

function unwritable(path: string, reason: string): ProblemError {
  return new ProblemError(makeProblem('usage/output-unwritable', { path, reason }));
}
