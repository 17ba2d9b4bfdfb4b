import { isError } from '../problem.ts';
import { renderDiffs } from './diff-text.ts';
import { codeBlock, codeSpan, escapeHtml, shortenBlanks } from './escape.ts';
import { differsText, historyTables, type HistoryTable } from './history.ts';
import { NOT_ASKED, problemsIn, renderProblem } from './problems.ts';
import type { Report, ReportChange, ReportProblem, ReportPrompt } from './schema.ts';
import { cellOf, cellText, environmentsOf } from './status.ts';
import { PLAIN } from './style.ts';
import { differingRows, hasHistory, renderOutcome } from './summary.ts';
import * as words from './words.ts';

/** How long a page may be, in a unit of the reader's choice. */
type Limit = {
  readonly most: number;
  /** Length of a text in the unit of the limit. */
  readonly measure: (text: string) => number;
};

/** What a page says beside the report, and how long it may be. */
export type MarkdownOptions = {
  /** What the page is about, such as `plan`. */
  readonly title: string;
  /** The folder that the prompts are in, where a repository has several; null where it has one. */
  readonly folder: string | null;
  /** The commit that readers know it by; null: that of the report. */
  readonly commit: string | null;
  /** Address of the run, in which all can be seen; null outside of one. */
  readonly runUrl: string | null;
  readonly limit: Limit | null;
};

/** The report as GitHub's Markdown. What files and the service say stands in code throughout: there it does nothing. */
export function renderMarkdown(report: Report, options: MarkdownOptions): string {
  const [head, foot] = [headOf(report, options), footOf(report, options)];
  const { limit } = options;
  const room = limit && { ...limit, most: limit.most - limit.measure(head + foot) - RESERVE };
  const { text, leftOut } = fitSections(sectionsOf(report), room);
  return `${head}${noteOf(leftOut, report, options)}${text}${foot}`;
}

/** Room for the note on what is not shown, which is known last. */
const RESERVE = 1_000;

function headOf(report: Report, { title, folder }: MarkdownOptions): string {
  const where = folder === null ? '' : ` in ${codeSpan(folder)}`;
  const reason = report.problems.find(({ code }) => code === NOT_ASKED);
  const note = reason === undefined ? '' : `\n> [!NOTE]\n> ${sentences(`${reason.message} ${reason.hint}`)}\n`;
  return `### promptsync ${title}${where}\n\n${renderOutcome(report, PLAIN.colours)}\n${note}`;
}

/** Plain words as they are; a report is read from a file as well, which may hold anything. */
function sentences(text: string): string {
  return /^(?:[a-z0-9-]+[,;:.]?(?: |$))*$/i.test(text) ? text : codeSpan(text);
}

/** Says what is not shown, and where it is; empty where all is shown. The report itself holds no text of more than 100 kB. */
function noteOf(leftOut: readonly LeftOut[], { prompts }: Report, { runUrl }: MarkdownOptions): string {
  const parts = leftOut.map(({ item, count }) => words.counted([count, item, `${item}s`]));
  const where = runUrl === null ? 'the report of the run' : `the summary and the page of [the run](${runUrl})`;
  const large = prompts.flatMap(words.textsOf).filter(({ texts }) => texts.text_omitted === true).length;
  const notes = [
    ...(parts.length === 0 ? [] : [`Left out for want of room: ${parts.join(', ')}. All of it is in ${where}.`]),
    ...(large === 0
      ? []
      : [
          `Too large to be shown: ${words.counted([large, 'text', 'texts'])} (over 100 kB); git diff shows files of this size.`,
        ]),
  ];
  if (notes.length === 0) return '';
  return `\n> [!WARNING]\n> This page is not complete. ${notes.join(' ')}\n`;
}

function footOf(report: Report, { commit, runUrl }: MarkdownOptions): string {
  const { service, plan_digest: digest, problems, committed } = report;
  const shown = commit ?? report.commit;
  const parts = [
    shown === null ? [] : [`commit ${codeSpan(shown.slice(0, 12))}`],
    committed === undefined ? [] : [`committed ${codeSpan(committed.commit.slice(0, 12))}`],
    service === null ? [] : [`service ${codeSpan(service)}`],
    problems.some(({ code }) => code === NOT_ASKED) ? ['the service was not asked'] : [],
    digest === null ? [] : [`plan ${codeSpan(digest)}`],
    runUrl === null ? [] : [`[run](${runUrl})`],
  ];
  const line = parts.flat().join(' · ');
  return line === '' ? '' : `\n${line}\n`;
}

/** The parts of a page, in the order in which they are shown and get their room. */
function sectionsOf(report: Report): readonly Section[] {
  const { prompts, mode, files = [] } = report;
  const problems = problemsIn(report);
  const warnings = problems.filter((one) => !isError(one) && one.code !== NOT_ASKED);
  const did = mode === 'apply' || prompts.some(({ status }) => status === 'applied');
  const head = tableHead(['prompt', 'change']);
  return [
    section('#### Problems\n', 'problem', 0.3, problems.filter(isError), problemItems),
    ...matrixSections(report),
    section('#### Waiting for promotion\n\n', 'note', 0.5, prompts, (prompt) =>
      words.waitingTexts(prompt, codeSpan).map((text) => `- ${codeSpan(prompt.key)}: ${text}\n`),
    ),
    section(`#### ${did ? 'Changes' : 'What would change'}\n\n${head}`, 'row', 0.5, prompts, (prompt) =>
      rowsOf(prompt, report.plan_digest !== null),
    ),
    section('#### Kept metadata\n', 'metadata note', 0.5, prompts, metadataItems),
    ...historySections(report),
    section('#### Orphans\n\n', 'orphan', 0.5, words.orphanTexts(report, codeSpan), (text) => [`- ${text}\n`]),
    section('#### Files\n\n', 'file', 0.5, files, ({ path, status }) => [`- ${codeSpan(path)}: ${status}\n`]),
    section('#### Breaking\n\n', 'breaking note', 0.4, prompts, (prompt) =>
      words.breakingTexts(prompt, codeSpan).map((text) => `- ${codeSpan(prompt.key)}: ${text}\n`),
    ),
    section(
      `#### Drift\n\nAlready there${mode === 'apply' ? ' before this run' : ', whatever is merged'}:\n\n`,
      'drift note',
      0.5,
      prompts,
      (prompt) =>
        prompt.drift.map((drift) => `- ${codeSpan(prompt.key)}: ${words.driftText(drift, prompt, mode, codeSpan)}\n`),
    ),
    section('#### Texts\n', 'diff', 0.95, prompts, diffItems),
    section('#### Warnings\n', 'warning', 1, warnings, problemItems),
  ];
}

function section<One>(
  open: string,
  item: string,
  share: number,
  all: readonly One[],
  itemsOf: (one: One) => readonly string[],
): Section {
  return { open: `\n${open}`, items: all.flatMap(itemsOf), item, share };
}

/** What each environment serves, where that was the question. */
function matrixSections(report: Report): readonly Section[] {
  if (report.mode !== 'status') return [];
  const environments = environmentsOf(report);
  const head = tableHead(['prompt', ...environments.map(codeSpan)]);
  const cellsOf = (prompt: ReportPrompt) => environments.map((environment) => cellText(cellOf(prompt, environment)));
  const rowOf = (prompt: ReportPrompt) => [tableRow([prompt.key, ...cellsOf(prompt)].map(codeSpan))];
  return [section(`#### Environments\n\n${head}`, 'row', 0.7, report.prompts, rowOf)];
}

/** One block for all would be cut as a whole: each problem is one. */
function problemItems(problem: ReportProblem): readonly string[] {
  return [`\n${codeBlock(renderProblem(problem, PLAIN).split('\n'), 'text')}\n`];
}

/**
 * One for each environment and field; the version that an environment follows needs none of its own, unless it keeps
 * metadata. What was left out is named where there is a plan at all.
 */
function rowsOf(prompt: ReportPrompt, planned: boolean): readonly string[] {
  const { key, status, changes, edits = [] } = prompt;
  const shown = changes.filter((change) => !isDrift(change, prompt));
  const rows = shown.flatMap((change) =>
    change.kind === 'create-version' && !change.metadata_from && !words.isUnfollowed(change, changes)
      ? []
      : words.changeTexts(change).map((text) => `${codeSpan(text)}${words.changeNote(change, prompt, codeSpan)}`),
  );
  const left = (planned || edits.length > 0) && (status === 'failed' || status === 'not_attempted');
  const edited = edits.map((edit) => codeSpan(words.editText(edit)));
  // Of what failed only conflicts are in the file, for somebody to decide.
  const remains = edits.some(words.isConflict) ? edited : [];
  const all = rows.length === 0 && left ? [words.statusText(status), ...remains] : [...rows, ...edited];
  return all.map((cell) => tableRow([codeSpan(key), cell]));
}

/** The metadata that new versions take over, as a block below the prompt's key. */
function metadataItems({ key, changes }: ReportPrompt): readonly string[] {
  return changes.flatMap((change) => {
    const lines = words.keptMetadataLines(change);
    if (lines.length === 0) return [];
    const note = words.followNote(change, changes, codeSpan).trim();
    return [`\n${codeSpan(key)} ${note}\n\n${codeBlock(lines.map(shortenBlanks), 'text')}\n`];
  });
}

/** What only puts back what the base wants already is a drift note, and no change of the files. */
function isDrift(change: ReportChange, { drift }: ReportPrompt): boolean {
  if (change.kind === 'create-version' || change.status !== undefined) return false;
  const restored = words.driftAt(change, drift).filter(({ restores }) => restores);
  return restored.length === (change.kind === 'update-prompt' ? Object.keys(change.fields).length : 1);
}

function diffItems(prompt: ReportPrompt): readonly string[] {
  const lines = prompt.status === 'failed' ? [] : renderDiffs(prompt, PLAIN, 'whole');
  if (lines.length === 0) return [];
  const summary = `<summary><code>${escapeHtml(prompt.key)}</code> <code>${escapeHtml(prompt.path)}</code></summary>`;
  return [`\n<details>${summary}\n\n${codeBlock(lines, 'diff')}\n\n</details>\n`];
}

/** The first two lines of a table. The cells are Markdown already. */
function tableHead(columns: readonly string[]): string {
  return tableRow(columns) + tableRow(columns.map(() => '---'));
}

/** A line of a table, with its line feed. */
function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/** A history as parts of a page: of each prompt a table of its versions, and one of where they have been. */
function historySections({ prompts }: Report): readonly Section[] {
  return prompts.filter(hasHistory).flatMap((prompt) => {
    const heading = `\n#### ${codeSpan(prompt.key)}\n`;
    const tables = historyTables(prompt, codeSpan);
    const notes = section('', 'drift note', 0.9, differingRows(prompt), (row) => [`- ${differsText(row, codeSpan)}\n`]);
    return [...tables.map((table, index) => sectionOf(table, index === 0 ? heading : '')), notes];
  });
}

function sectionOf({ title, columns, rows, item }: HistoryTable, heading: string): Section {
  const above = title === null ? '' : `\n${title}\n`;
  if (rows.length === 0 && title !== null) return { open: heading, items: [above], item, share: 0.9 };
  const open = `${heading}${above}\n${tableHead(columns)}`;
  return { open, items: rows.map(tableRow), item, share: 0.9 };
}

/** One part of a page. Its items go in whole or not at all; without any of them the part is left out. */
type Section = {
  readonly open: string;
  readonly items: readonly string[];
  /** What an item is called when some are left out, such as `diff`. */
  readonly item: string;
  /** How much of the room it may take at most, from 0 to 1: what comes later needs some as well. */
  readonly share: number;
};

type LeftOut = { readonly item: string; readonly count: number };

/** As much of the sections as the limit allows, the earlier ones first. Without a limit all of it. */
function fitSections(sections: readonly Section[], limit: Limit | null) {
  const measure = limit?.measure ?? (() => 0);
  let room = limit?.most ?? Number.MAX_SAFE_INTEGER;
  const fitted = sections.map(({ open, items, item, share }) => {
    let left = room * share - measure(open);
    const kept = items.filter((one) => {
      const fits = measure(one) <= left;
      if (fits) left -= measure(one);
      return fits;
    });
    const text = kept.length === 0 ? '' : `${open}${kept.join('')}`;
    room -= measure(text);
    return { text, item, count: items.length - kept.length };
  });
  return {
    text: fitted.map(({ text }) => text).join(''),
    leftOut: fitted.flatMap(({ item, count }) => (count === 0 ? [] : [{ item, count }])),
  };
}
