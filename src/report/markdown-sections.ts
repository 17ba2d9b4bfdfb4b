import type { TextChange, Texts } from '../domain/text-changes.ts';
import { isError } from '../problem.ts';
import { type Breaking, breakingText, findBreaking } from './breaking.ts';
import { driftSentences } from './drift-sentences.ts';
import type { Section } from './fit.ts';
import { inertBlock, inertCode, inertHtml } from './inert-markdown.ts';
import { historySections } from './markdown-history.ts';
import { tableHead, tableRow } from './markdown-table.ts';
import { cellOf, cellText, environmentsOf } from './matrix.ts';
import { problemsIn } from './problems-in.ts';
import { changeNote, changeTexts, isUnfollowed } from './render-change.ts';
import { renderDiffs } from './render-diff.ts';
import { editText, isConflict } from './render-edit.ts';
import { renderProblem } from './render-problem.ts';
import { placeOf, type Restored } from './restored.ts';
import type { Report, ReportChange, ReportProblem, ReportPrompt } from './schema.ts';
import { PLAIN } from './style.ts';

/** What is known besides the report. */
export type Known = { readonly texts: Texts; readonly restored: Restored };

/** The parts of a page, in the order in which they are shown and get their room. */
export function sectionsOf(report: Report, { texts, restored }: Known): readonly Section[] {
  const { prompts } = report;
  const problems = problemsIn(report);
  const textsOf = ({ id }: ReportPrompt): readonly TextChange[] => texts.get(id) ?? [];
  const breaking = prompts.flatMap((prompt) =>
    findBreaking(prompt, textsOf(prompt)).map((one) => breakingItem(prompt, one)),
  );
  const did = report.mode === 'apply' || prompts.some(({ status }) => status === 'applied');
  const wouldOrDid = did ? 'Changes' : 'What would change';
  return [
    problemSection('Problems', problems.filter(isError), 0.3),
    ...matrixSections(report),
    {
      ...{ open: `\n#### ${wouldOrDid}\n\n${tableHead(['prompt', 'change'])}`, close: '', item: 'row', share: 0.5 },
      items: prompts.flatMap((prompt) => rowsOf(prompt, restored, report.plan_digest !== null)),
    },
    ...historySections(report),
    {
      ...{ open: '\n#### Files\n\n', close: '', item: 'file', share: 0.5 },
      items: (report.files ?? []).map(({ path, status }) => `- ${inertCode(path)}: ${status}\n`),
    },
    { open: '\n#### Breaking\n\n', items: breaking, close: '', item: 'breaking note', share: 0.4 },
    {
      ...{ open: `\n#### Drift\n\nAlready there${before(report)}:\n\n`, close: '', item: 'drift note', share: 0.5 },
      items: prompts.flatMap((prompt) => driftItems(prompt, report.mode, restored)),
    },
    {
      ...{ open: '\n#### Texts\n', close: '', item: 'diff', share: 0.95 },
      items: prompts.flatMap((prompt) => diffItems(prompt, textsOf(prompt))),
    },
    problemSection(
      'Warnings',
      problems.filter((one) => !isError(one) && one.code !== 'service/not-asked'),
      1,
    ),
  ];
}

/** What each environment serves, where that was the question. */
function matrixSections(report: Report): readonly Section[] {
  if (report.mode !== 'status') return [];
  const environments = environmentsOf(report);
  const head = tableHead(['prompt', ...environments.map(inertCode)]);
  const items = report.prompts.map((prompt) =>
    tableRow([prompt.key, ...environments.map((environment) => cellText(cellOf(prompt, environment)))].map(inertCode)),
  );
  return [{ open: `\n#### Environments\n\n${head}`, items, close: '', item: 'row', share: 0.7 }];
}

function before({ mode }: Report): string {
  return mode === 'apply' ? ' before this run' : ', whatever is merged';
}

/** One block for all would be cut as a whole: each problem is one. */
function problemSection(title: string, problems: readonly ReportProblem[], share: number): Section {
  // The same for many prompts, such as a service that is down, is said once.
  const texts = new Set(problems.map((problem) => renderProblem(problem, PLAIN)));
  const items = [...texts].map((text) => `\n${inertBlock(text.split('\n'), 'text')}\n`);
  return { open: `\n#### ${title}\n`, items, close: '', item: title === 'Problems' ? 'problem' : 'warning', share };
}

/**
 * One for each environment and field; the version that an environment follows needs none of its own. What was left out
 * is named where there is a plan at all.
 */
function rowsOf(prompt: ReportPrompt, restored: Restored, planned: boolean): readonly string[] {
  const { key, status, changes, edits = [] } = prompt;
  const shown = changes.filter((change) => !isDrift(change, prompt, restored));
  const rows = shown.flatMap((change) =>
    change.kind === 'create-version' && !isUnfollowed(change, changes) ? [] : cellsOf(change, prompt),
  );
  const left = (planned || edits.length > 0) && (status === 'failed' || status === 'not_attempted');
  const edited = edits.map((edit) => inertCode(editText(edit)));
  // Of what failed only conflicts are in the file, for somebody to decide.
  const remains = edits.some(isConflict) ? edited : [];
  const all = rows.length === 0 && left ? [status.replace('_', ' '), ...remains] : [...rows, ...edited];
  return all.map((cell) => tableRow([inertCode(key), cell]));
}

function cellsOf(change: ReportChange, prompt: ReportPrompt): readonly string[] {
  return changeTexts(change).map((text) => `${inertCode(text)}${changeNote(change, prompt)}`);
}

/** What only puts back what the base wants already is told as drift, and is no change of the files. */
function isDrift(change: ReportChange, { id }: ReportPrompt, restored: Restored): boolean {
  if (change.kind === 'create-version' || change.status !== undefined) return false;
  if (change.kind === 'set-active') return restored.has(placeOf(id, change));
  return Object.keys(change.fields).every((field) => restored.has(placeOf(id, { field })));
}

function driftItems(prompt: ReportPrompt, mode: Report['mode'], restored: Restored): readonly string[] {
  const context = { prompt, mode, restored, show: inertCode };
  return prompt.drift.map((drift) => `- ${inertCode(prompt.key)}: ${driftSentences(drift, context)}\n`);
}

function breakingItem({ key }: ReportPrompt, breaking: Breaking): string {
  return `- ${inertCode(key)}: ${breakingText(breaking, inertCode)}\n`;
}

function diffItems({ key, path, status }: ReportPrompt, texts: readonly TextChange[]): readonly string[] {
  const lines = status === 'failed' ? [] : renderDiffs(texts, PLAIN, 'whole');
  if (lines.length === 0) return [];
  const summary = `<summary><code>${inertHtml(key)}</code> <code>${inertHtml(path)}</code></summary>`;
  return [`\n<details>${summary}\n\n${inertBlock(lines, 'diff')}\n\n</details>\n`];
}
