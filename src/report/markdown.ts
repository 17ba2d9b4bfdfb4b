import { isError } from '../problem.ts';
import { renderDiffs } from './diff-text.ts';
import { renderCodeBlock, renderCodeSpan, escapeHtml, shortenBlanks } from './escape.ts';
import { describeDifference, makeHistoryTables, type HistoryTable } from './history.ts';
import { NOT_ASKED_CODE, listProblems, renderProblem } from './problems.ts';
import type { Report, ReportChange, ReportProblem, ReportPrompt } from './schema.ts';
import { makeMatrixCell, formatMatrixCell, listEnvironments } from './status.ts';
import { PLAIN_STYLE } from './style.ts';
import { listDifferingRows, hasHistory, renderOutcome } from './summary.ts';
import * as words from './describe.ts';

/** The limit on the length of a page, in a unit that the caller chooses, for example bytes. */
type SizeLimit = {
  /** The greatest length of a page, in the unit of `measure`. */
  readonly most: number;
  /** Returns the length of a text. */
  readonly measure: (text: string) => number;
};

/** What the page contains besides the report, and the limit on its length. */
export type MarkdownOptions = {
  /** The subject of the page, for example `plan`. */
  readonly title: string;
  /** The folder of the prompts, if the repository has several such folders. Null if it has one. */
  readonly folder: string | null;
  /** The commit to show, for example the head of a pull request. Null shows the commit of the report. */
  readonly commit: string | null;
  /** The URL of the CI run, where readers find the complete report. Null outside of CI. */
  readonly runUrl: string | null;
  /** Null if the page may have any length. */
  readonly limit: SizeLimit | null;
};

/**
 * Renders the report as GitHub Markdown. Values from files and from the service are in code, so they cannot act as
 * Markdown.
 */
export function renderMarkdown(report: Report, options: MarkdownOptions): string {
  const [head, foot] = [renderMarkdownHead(report, options), renderMarkdownFoot(report, options)];
  const { limit } = options;
  const room = limit && { ...limit, most: limit.most - limit.measure(head + foot) - RESERVED_LENGTH };
  const { text, omitted } = fitSections(makeSections(report), room);
  return `${head}${renderOmittedNote(omitted, report, options)}${text}${foot}`;
}

/**
 * The length that is kept free for the note on omitted items, because promptsync knows that note only after fitting the
 * sections.
 */
const RESERVED_LENGTH = 1_000;

function renderMarkdownHead(report: Report, { title, folder }: MarkdownOptions): string {
  const where = folder === null ? '' : ` in ${renderCodeSpan(folder)}`;
  const reason = report.problems.find(({ code }) => code === NOT_ASKED_CODE);
  const note = reason === undefined ? '' : `\n> [!NOTE]\n> ${escapeNote(`${reason.message} ${reason.hint}`)}\n`;
  return `### promptsync ${title}${where}\n\n${renderOutcome(report, PLAIN_STYLE.colors)}\n${note}`;
}

/**
 * Returns plain words unchanged, and any other text as a code span. `promptsync show` reads reports from files that may
 * contain any text.
 */
function escapeNote(text: string): string {
  return /^(?:[a-z0-9-]+[,;:.]?(?: |$))*$/i.test(text) ? text : renderCodeSpan(text);
}

/**
 * Renders a note on the items that the page omits, and on the texts that the report itself omits because they are
 * larger than 100 kB. Empty if nothing is omitted.
 */
function renderOmittedNote(omitted: readonly OmittedItems[], { prompts }: Report, { runUrl }: MarkdownOptions): string {
  const parts = omitted.map(({ item, count }) => words.formatCount([count, item, `${item}s`]));
  const where = runUrl === null ? 'the report of the run' : `the summary and the page of [the run](${runUrl})`;
  const large = prompts.flatMap(words.listTextChanges).filter(({ texts }) => texts.text_omitted === true).length;
  const notes = [
    ...(parts.length === 0 ? [] : [`Left out for want of room: ${parts.join(', ')}. All of it is in ${where}.`]),
    ...(large === 0
      ? []
      : [
          `Too large to be shown: ${words.formatCount([large, 'text', 'texts'])} (over 100 kB); git diff shows files of this size.`,
        ]),
  ];
  if (notes.length === 0) return '';
  return `\n> [!WARNING]\n> This page is not complete. ${notes.join(' ')}\n`;
}

function renderMarkdownFoot(report: Report, { commit, runUrl }: MarkdownOptions): string {
  const { service, plan_digest: digest, problems, committed } = report;
  const shown = commit ?? report.commit;
  const parts = [
    shown === null ? [] : [`commit ${renderCodeSpan(shown.slice(0, 12))}`],
    committed === undefined ? [] : [`committed ${renderCodeSpan(committed.commit.slice(0, 12))}`],
    service === null ? [] : [`service ${renderCodeSpan(service)}`],
    problems.some(({ code }) => code === NOT_ASKED_CODE) ? ['the service was not asked'] : [],
    digest === null ? [] : [`plan ${renderCodeSpan(digest)}`],
    runUrl === null ? [] : [`[run](${runUrl})`],
  ];
  const line = parts.flat().join(' · ');
  return line === '' ? '' : `\n${line}\n`;
}

/** Makes the sections of a page in their order. Earlier sections get space first. */
function makeSections(report: Report): readonly Section[] {
  const { prompts, mode, files = [] } = report;
  const problems = listProblems(report);
  const warnings = problems.filter((problem) => !isError(problem) && problem.code !== NOT_ASKED_CODE);
  const wasApplied = mode === 'apply' || prompts.some(({ status }) => status === 'applied');
  const head = renderTableHead(['prompt', 'change']);
  return [
    makeSection('#### Problems\n', 'problem', 0.3, problems.filter(isError), renderProblemItems),
    ...makeMatrixSections(report),
    makeSection('#### Waiting for promotion\n\n', 'note', 0.5, prompts, (prompt) =>
      words
        .describeWaitingPromotions(prompt, renderCodeSpan)
        .map((text) => `- ${renderCodeSpan(prompt.key)}: ${text}\n`),
    ),
    makeSection(`#### ${wasApplied ? 'Changes' : 'What would change'}\n\n${head}`, 'row', 0.5, prompts, (prompt) =>
      renderPromptRows(prompt, report.plan_digest !== null),
    ),
    makeSection('#### Kept metadata\n', 'metadata note', 0.5, prompts, renderMetadataItems),
    ...makeHistorySections(report),
    makeSection('#### Orphans\n\n', 'orphan', 0.5, words.describeOrphans(report, renderCodeSpan), (text) => [
      `- ${text}\n`,
    ]),
    makeSection('#### Files\n\n', 'file', 0.5, files, ({ path, status }) => [`- ${renderCodeSpan(path)}: ${status}\n`]),
    makeSection('#### Breaking\n\n', 'breaking note', 0.4, prompts, (prompt) =>
      words.describeBreakingChanges(prompt, renderCodeSpan).map((text) => `- ${renderCodeSpan(prompt.key)}: ${text}\n`),
    ),
    makeSection(
      `#### Drift\n\nAlready there${mode === 'apply' ? ' before this run' : ', whatever is merged'}:\n\n`,
      'drift note',
      0.5,
      prompts,
      (prompt) =>
        prompt.drift.map(
          (drift) => `- ${renderCodeSpan(prompt.key)}: ${words.describeDrift(drift, prompt, mode, renderCodeSpan)}\n`,
        ),
    ),
    makeSection('#### Texts\n', 'diff', 0.95, prompts, renderDiffItems),
    makeSection('#### Warnings\n', 'warning', 1, warnings, renderProblemItems),
  ];
}

/** Makes a section from values. Each value becomes any number of items. */
function makeSection<Value>(
  open: string,
  item: string,
  share: number,
  values: readonly Value[],
  renderItems: (value: Value) => readonly string[],
): Section {
  return { open: `\n${open}`, items: values.flatMap(renderItems), item, share };
}

/** Makes the table of what each environment serves. Only the report of `promptsync status` has it. */
function makeMatrixSections(report: Report): readonly Section[] {
  if (report.mode !== 'status') return [];
  const environments = listEnvironments(report);
  const head = renderTableHead(['prompt', ...environments.map(renderCodeSpan)]);
  const formatCells = (prompt: ReportPrompt): readonly string[] =>
    environments.map((environment) => formatMatrixCell(makeMatrixCell(prompt, environment)));
  const renderRows = (prompt: ReportPrompt): readonly string[] => [
    renderTableRow([prompt.key, ...formatCells(prompt)].map(renderCodeSpan)),
  ];
  return [makeSection(`#### Environments\n\n${head}`, 'row', 0.7, report.prompts, renderRows)];
}

/**
 * Renders one problem as a block. Each problem is an item, so that a full page omits single problems and not all of
 * them.
 */
function renderProblemItems(problem: ReportProblem): readonly string[] {
  return [`\n${renderCodeBlock(renderProblem(problem, PLAIN_STYLE).split('\n'), 'text')}\n`];
}

/**
 * Renders a table row for each environment, field and edit that changes. A new version gets a row only if no
 * environment will serve it, or if it keeps metadata. A prompt that failed or was not attempted gets a row with its
 * status.
 * @param hasPlanDigest whether promptsync made a plan; without a plan and without edits, failed prompts get no row
 */
function renderPromptRows(prompt: ReportPrompt, hasPlanDigest: boolean): readonly string[] {
  const { key, status, changes, edits = [] } = prompt;
  const shown = changes.filter((change) => !onlyRestoresBase(change, prompt));
  const rows = shown.flatMap((change) =>
    change.kind === 'create-version' && !change.metadata_from && !words.hasNoFollower(change, changes)
      ? []
      : words
          .describeChange(change)
          .map((text) => `${renderCodeSpan(text)}${words.describeChangeNotes(change, prompt, renderCodeSpan)}`),
  );
  const isUnfinished = (hasPlanDigest || edits.length > 0) && (status === 'failed' || status === 'not_attempted');
  const edited = edits.map((edit) => renderCodeSpan(words.describeEdit(edit)));
  // If a prompt failed, its edits are in the file only if they conflict. The user resolves them there.
  const writtenEdits = edits.some(words.isConflict) ? edited : [];
  const cells =
    rows.length === 0 && isUnfinished ? [words.describeStatus(status), ...writtenEdits] : [...rows, ...edited];
  return cells.map((cell) => renderTableRow([renderCodeSpan(key), cell]));
}

/** Renders the metadata that new versions keep from earlier ones, as a block below the key of the prompt. */
function renderMetadataItems({ key, changes }: ReportPrompt): readonly string[] {
  return changes.flatMap((change) => {
    const lines = words.listKeptMetadataLines(change);
    if (lines.length === 0) return [];
    const note = words.describeVersionNotes(change, changes, renderCodeSpan).trim();
    return [`\n${renderCodeSpan(key)} ${note}\n\n${renderCodeBlock(lines.map(shortenBlanks), 'text')}\n`];
  });
}

/**
 * Returns true if a change only restores what the base wants. The page lists it as drift, not as a change of the files.
 */
function onlyRestoresBase(change: ReportChange, { drift }: ReportPrompt): boolean {
  if (change.kind === 'create-version' || change.status !== undefined) return false;
  const restored = words.findDriftOfChange(change, drift).filter(({ restores }) => restores);
  return restored.length === (change.kind === 'update-prompt' ? Object.keys(change.fields).length : 1);
}

function renderDiffItems(prompt: ReportPrompt): readonly string[] {
  const lines = prompt.status === 'failed' ? [] : renderDiffs(prompt, PLAIN_STYLE, 'whole');
  if (lines.length === 0) return [];
  const summary = `<summary><code>${escapeHtml(prompt.key)}</code> <code>${escapeHtml(prompt.path)}</code></summary>`;
  return [`\n<details>${summary}\n\n${renderCodeBlock(lines, 'diff')}\n\n</details>\n`];
}

/** Renders the first two lines of a table. The cells must be Markdown. */
function renderTableHead(columns: readonly string[]): string {
  return renderTableRow(columns) + renderTableRow(columns.map(() => '---'));
}

/** Renders a line of a table, with its line feed. The cells must be Markdown. */
function renderTableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/**
 * Makes the sections of `promptsync history`: for each prompt its tables, then notes on environments that differ from
 * their pins.
 */
function makeHistorySections({ prompts }: Report): readonly Section[] {
  return prompts.filter(hasHistory).flatMap((prompt) => {
    const heading = `\n#### ${renderCodeSpan(prompt.key)}\n`;
    const tables = makeHistoryTables(prompt, renderCodeSpan);
    const notes = makeSection('', 'drift note', 0.9, listDifferingRows(prompt), (row) => [
      `- ${describeDifference(row, renderCodeSpan)}\n`,
    ]);
    return [...tables.map((table, index) => makeHistorySection(table, index === 0 ? heading : '')), notes];
  });
}

function makeHistorySection({ title, columns, rows, item }: HistoryTable, heading: string): Section {
  const above = title === null ? '' : `\n${title}\n`;
  if (rows.length === 0 && title !== null) return { open: heading, items: [above], item, share: 0.9 };
  const open = `${heading}${above}\n${renderTableHead(columns)}`;
  return { open, items: rows.map(renderTableRow), item, share: 0.9 };
}

/** A section of a page. It contains each item completely or not at all. The page omits a section without items. */
type Section = {
  /** The heading, and the head of a table if the items are its rows. */
  readonly open: string;
  readonly items: readonly string[];
  /** The noun for one item, for example `diff`. The note on omitted items uses it. */
  readonly item: string;
  /**
   * The largest share of the remaining space that the section may take, from 0 to 1. The rest is for later sections.
   */
  readonly share: number;
};

/** The number of items that one section omits. */
type OmittedItems = { readonly item: string; readonly count: number };

type FittedSections = {
  readonly text: string;
  /** The incomplete sections. */
  readonly omitted: readonly OmittedItems[];
};

/**
 * Renders as many items as fit into the limit, those of earlier sections first. Without a limit it renders all of them.
 */
function fitSections(sections: readonly Section[], limit: SizeLimit | null): FittedSections {
  const measure = limit?.measure ?? (() => 0);
  let room = limit?.most ?? Number.MAX_SAFE_INTEGER;
  const fitted = sections.map(({ open, items, item, share }) => {
    let left = room * share - measure(open);
    const kept = items.filter((text) => {
      const fits = measure(text) <= left;
      if (fits) left -= measure(text);
      return fits;
    });
    const text = kept.length === 0 ? '' : `${open}${kept.join('')}`;
    room -= measure(text);
    return { text, item, count: items.length - kept.length };
  });
  return {
    text: fitted.map(({ text }) => text).join(''),
    omitted: fitted.flatMap(({ item, count }) => (count === 0 ? [] : [{ item, count }])),
  };
}
