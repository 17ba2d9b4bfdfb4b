import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { inPlaceOrder, makeProblem, systemCodeOf, type Problem } from '../problem.ts';
import { makeReport } from '../report/make-report.ts';
import { mergeProblems, type ReportFile } from '../report/merge-problems.ts';
import { mergeReports } from '../report/merge-reports.ts';
import { parseReport, type ParsedReport } from '../report/parse-report.ts';
import type { Report } from '../report/schema.ts';
import { exitCodeOfReport } from './report-exit-code.ts';
import { notRun } from './result.ts';

export type MergeOptions = {
  /** Of JSON reports, relative to the working directory. */
  readonly paths: readonly string[];
  /** Pending changes are told by the exit code. */
  readonly exitCode: boolean;
};

export type Merged = { readonly report: Report; readonly exitCode: number };

/** Merges the reports of all shards of a run; one of a run without shards is handed on as it is. Never throws. */
export async function mergeReportFiles({ paths, exitCode }: MergeOptions, workingDirectory: string): Promise<Merged> {
  const files: ReportFile[] = [];
  const unreadable: Problem[] = [];
  // One after the other: a thousand large ones fit into memory as values alone.
  for (const path of paths) {
    const { report, problems } = await readReport(path, workingDirectory);
    if (report !== null) files.push({ path, report });
    unreadable.push(...problems);
  }
  const problems = unreadable.length > 0 ? unreadable : mergeProblems(files);
  const [first, ...rest] = files.map(({ report }) => report);
  if (problems.length > 0 || first === undefined) return refusal(problems);
  const report = first.shard === undefined ? first : mergeReports([first, ...rest]);
  return { report, exitCode: exitCodeOfReport(report, { tellPending: exitCode }) };
}

function refusal(problems: readonly Problem[]): Merged {
  return { report: makeReport(notRun('report', { files: [], problems: inPlaceOrder(problems) })), exitCode: 1 };
}

/** In bytes. */
const LARGEST_REPORT = 256 * 1024 * 1024;

async function readReport(path: string, workingDirectory: string): Promise<ParsedReport> {
  const unreadable = (reason: string): ParsedReport => ({
    report: null,
    problems: [makeProblem('merge/unreadable', { reason }, { path })],
  });
  try {
    const full = resolve(workingDirectory, path);
    const found = await stat(full);
    if (!found.isFile()) return unreadable('it is no file');
    if (found.size > LARGEST_REPORT) return unreadable(`it has more than ${LARGEST_REPORT} bytes`);
    return parseReport(await readFile(full, 'utf8'), path);
  } catch (error) {
    return unreadable(systemCodeOf(error));
  }
}
