import { mapStrings } from '../domain/json.ts';
import { makeProblem } from '../problem.ts';
import { escapeForRunner } from '../report/escape.ts';
import { makeReport } from '../report/make-report.ts';
import { problemsIn } from '../report/problems.ts';
import { renderMarkdown } from '../report/markdown.ts';
import { renderText } from '../report/text.ts';
import { annotate, annotateRun } from './annotate.ts';
import { attempt } from './attempt.ts';
import { differing, failureOf } from './failure.ts';
import type { HidingActionHost } from './host.ts';
import { partsOf } from './plan-mark.ts';
import { pageOf } from './page.ts';
import { pathsFromRoot } from './paths.ts';
import { tellGitHub } from './tell-github.ts';
import { writeReports } from './write-reports.ts';
import type { Done, Telling } from './telling.ts';

/** GitHub takes 1 MiB for each step. */
const SUMMARY = { most: 900 * 1024, measure: (text: string): number => Buffer.byteLength(text, 'utf8') };

/**
 * Tells a run everywhere: log, annotations, files, outputs, summary, GitHub. Resolves to the exit code. What cannot be
 * told in one place is a notice: the work is done by then.
 */
export async function tell(done: Done, host: HidingActionHost): Promise<number> {
  const { result, mode, context } = done;
  const { runner, secrets } = host;
  // Before it is rendered as well: what marks and escapes would tear a secret apart.
  const [report, page] = mapStrings([makeReport(result.run), pageOf(done)] as const, secrets.hide);
  const telling: Telling = {
    mode,
    report,
    failure: failureOf(mode, result, report),
    page,
    parts: partsOf(result.run.plan ?? { prompts: [] }),
    hide: secrets.hide,
  };
  host.output.write(escapeForRunner(renderText(report, { colour: false, quiet: false })));
  annotateAll(done, telling, host);
  const obstacles = [
    ...(await attempt('outputs', () => tellOutputs(telling, host))),
    ...(await attempt('summary', () => writeSummary(telling, host))),
    ...(context === null ? [] : await tellGitHub(context, telling)),
  ];
  for (const obstacle of obstacles) annotateRun('notice', obstacle, runner);
  return telling.failure === '' ? 0 : 1;
}

function annotateAll({ mode, context }: Done, { report }: Telling, { runner }: HidingActionHost): void {
  annotate(problemsIn(report), context === null ? (path) => path : pathsFromRoot(context), runner);
  const prompts = differing(report);
  if (mode === 'drift' && prompts > 0) annotateRun('error', makeProblem('action/drift-found', { prompts }), runner);
}

/** What later steps may need first is told first. */
async function tellOutputs(telling: Telling, host: HidingActionHost): Promise<void> {
  const { report, failure } = telling;
  const { setOutput } = host.runner;
  setOutput('failure-reason', failure);
  setOutput('changes', String(report.prompts.some(({ changes }) => changes.length > 0)));
  setOutput('summary', JSON.stringify(report.summary));
  setOutput('plan-digest', report.plan_digest ?? '');
  const paths = await writeReports(telling, host);
  setOutput('report-json', paths.json);
  setOutput('report-markdown', paths.markdown);
  setOutput('report-html', paths.html);
}

async function writeSummary({ report, page }: Telling, { runner }: HidingActionHost): Promise<void> {
  await runner.writeSummary(renderMarkdown(report, { ...page, limit: SUMMARY }).text);
}
