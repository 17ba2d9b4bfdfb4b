import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, normalize, sep } from 'node:path';
import type { CommandResult } from '../commands/result.ts';
import { makeProblem, messageOf } from '../problem.ts';
import { inertForRunner } from '../rendering/inert.ts';
import { makeReport } from '../rendering/make-report.ts';
import { renderJson } from '../rendering/render-json.ts';
import { renderMarkdown, type MarkdownOptions } from '../rendering/render-markdown.ts';
import { renderText } from '../rendering/render-text.ts';
import { restoredIn } from '../rendering/restored.ts';
import type { Report } from '../schemas/report.ts';
import { annotate, annotateRun } from './annotate.ts';
import type { Mode } from './choose-mode.ts';
import type { Context } from './context.ts';
import { differing, failureOf, type FailureReason } from './failure.ts';
import type { HidingActionHost } from './host.ts';
import { pathsFromRoot } from './paths.ts';
import { tellGitHub } from './tell-github.ts';

/** GitHub takes 1 MiB for each step. */
const SUMMARY = { most: 900 * 1024, measure: (text: string): number => Buffer.byteLength(text, 'utf8') };

/** Tells a run everywhere: log, annotations, files, outputs, summary, GitHub. Resolves to the exit code. */
export async function tell(
  result: CommandResult,
  mode: Mode,
  context: Context | null,
  host: HidingActionHost,
): Promise<number> {
  const { runner, secrets } = host;
  const report = makeReport(result.run);
  const failure = failureOf(mode, result, report);
  const page = pageOf(result, mode, context);
  host.output.write(inertForRunner(renderText(report, { colour: false, quiet: false, texts: result.texts })));
  annotateAll(report, mode, context, host);
  tellOutputs(report, failure, await writeReports(report, page, host), host);
  const obstacles = [
    ...(await writeSummary(report, page, host)),
    ...(context === null ? [] : await tellGitHub(context, { mode, report, failure, page, hide: secrets.hide })),
  ];
  for (const obstacle of obstacles) annotateRun('notice', obstacle, runner);
  return failure === '' ? 0 : 1;
}

function pageOf({ run, texts }: CommandResult, mode: Mode, context: Context | null): MarkdownOptions {
  const folder = normalize(context?.inputs['working-directory'] ?? '.').replace(/[\\/]$/, '');
  return {
    ...{ texts, restored: restoredIn(run), title: mode, limit: null },
    folder: folder === '.' ? null : folder.split(sep).join('/'),
    commit: context?.event.pull?.head ?? null,
    runUrl: context?.runUrl ?? null,
  };
}

function annotateAll(report: Report, mode: Mode, context: Context | null, { runner }: HidingActionHost): void {
  const problems = [...report.problems, ...report.prompts.flatMap((prompt) => prompt.problems)];
  annotate(problems, context === null ? (path) => path : pathsFromRoot(context), runner);
  const prompts = differing(report);
  if (mode === 'drift' && prompts > 0) annotateRun('error', makeProblem('action/drift-found', { prompts }), runner);
}

type Paths = { readonly json: string; readonly markdown: string };

/** The whole report, without a limit, where later steps can read it. */
async function writeReports(report: Report, page: MarkdownOptions, host: HidingActionHost): Promise<Paths> {
  const { environment, newId, secrets } = host;
  const folder = join(environment['RUNNER_TEMP'] || tmpdir(), `promptsync-${newId()}`);
  await mkdir(folder, { recursive: true });
  const paths = { json: join(folder, 'report.json'), markdown: join(folder, 'report.md') };
  await writeFile(paths.json, secrets.hide(renderJson(report)));
  await writeFile(paths.markdown, secrets.hide(renderMarkdown(report, page).text));
  return paths;
}

function tellOutputs(report: Report, failure: FailureReason, paths: Paths, { runner }: HidingActionHost): void {
  const changes = report.prompts.some((prompt) => prompt.changes.length > 0);
  runner.setOutput('changes', String(changes));
  runner.setOutput('summary', JSON.stringify(report.summary));
  runner.setOutput('plan-digest', report.plan_digest ?? '');
  runner.setOutput('report-json', paths.json);
  runner.setOutput('report-markdown', paths.markdown);
  runner.setOutput('failure-reason', failure);
}

async function writeSummary(report: Report, page: MarkdownOptions, { runner }: HidingActionHost) {
  try {
    await runner.writeSummary(renderMarkdown(report, { ...page, limit: SUMMARY }).text);
    return [];
  } catch (error) {
    return [makeProblem('action/not-told', { what: 'summary', reason: messageOf(error) })];
  }
}
