import { isError } from '../problem.ts';
import { describeBaselines, listBaselinePrompts, omitListedBaseline } from './baselines.ts';
import { renderDiffs } from './diff-text.ts';
import { renderCodeBlock, renderCodeSpan, escapeHtml, shortenBlanks } from './escape.ts';
import { describeDifference, makeHistoryTables, type HistoryTable } from './history.ts';
import {
  NOT_ASKED_CODE,
  getGroupedProblem,
  groupProblems,
  listProblems,
  renderPlaces,
  renderProblem,
  type ProblemGroup,
} from './problems.ts';
import type { Report, ReportChange, ReportProblem, ReportPrompt } from './schema.ts';
import { makeMatrixCell, formatMatrixCell, listEnvironments, listMatrixSigns, sortByAttention } from './status.ts';
import { PLAIN_STYLE } from './style.ts';
import { describeImportCommits, listDifferingRows, hasHistory, renderOutcome } from './summary.ts';
import { formatCount, shortenCommitId, shortenDigest } from '../text.ts';
import * as words from './describe.ts';
import { describeWaitingPromotions } from './waiting.ts';

/** The maximum length of a page. The caller chooses the unit, for example bytes. */
type SizeLimit = {
  /** The maximum length, in the unit that `measure` returns. */
  readonly most: number;
  /** Returns the length of a string. */
  readonly measure: (text: string) => number;
};

/** The options of a page: its maximum length, and what to show in addition to the report. */
export type MarkdownOptions = {
  /** The subject of the page, for example `plan`. */
  readonly title: string;
  /**
   * The folder that promptsync ran in, relative to the repository root. Null to omit it, for example because it is the
   * root.
   */
  readonly folder: string | null;
  /** The commit to show, for example the head of a pull request. Null to show the commit of the report. */
  readonly commit: string | null;
  /** The URL of the CI run, which has the complete report. Null outside CI. */
  readonly runUrl: string | null;
  /** The maximum length of the page. Null if there is no limit. */
  readonly limit: SizeLimit | null;
};

/**
 * Renders the report as GitHub Markdown. Values from files and from the service are rendered as code, so that they
 * cannot act as Markdown.
 */
export function renderMarkdown(report: Report, options: MarkdownOptions): string {
  const [head, foot] = [renderMarkdownHead(report, options), renderMarkdownFoot(report, options)];
  const { limit } = options;
  const room = limit && { ...limit, most: limit.most - limit.measure(head + foot) - RESERVED_LENGTH };
  const { text, omitted } = fitSections(makeSections(report), room);
  return `${head}${renderOmittedNote(omitted, report, options)}${text}${foot}`;
}

/**
 * The length reserved for the note on omitted items. The omitted items are known only after the sections have been
 * fitted into the page.
 */
const RESERVED_LENGTH = 1_000;

function renderMarkdownHead(report: Report, { title, folder }: MarkdownOptions): string {
  const where = folder === null ? '' : ` in ${renderCodeSpan(folder)}`;
  const reason = report.problems.find(({ code }) => code === NOT_ASKED_CODE);
  const note = reason === undefined ? '' : `\n> [!NOTE]\n> ${escapeNote(`${reason.message} ${reason.hint}`)}\n`;
  const steps = (report.next_steps ?? []).map((step) => `\n- ${escapeNote(step)}`).join('');
  return `### promptsync ${title}${where}\n\n${renderOutcome(report, PLAIN_STYLE.colors)}\n${steps && `${steps}\n`}${note}`;
}

/**
 * Returns the text unchanged if it consists of plain words. Otherwise, renders it as a code span. The text can be
 * unsafe, because `promptsync show` renders reports from files that can contain anything.
 */
function escapeNote(text: string): string {
  return /^(?:[a-z0-9-]+[,;:.]?(?: |$))*$/i.test(text) ? text : renderCodeSpan(text);
}

/**
 * Renders a note about omitted content. The page omits items that do not fit, and the report itself omits texts over
 * 100 kB. Returns an empty string if nothing is omitted.
 */
function renderOmittedNote(omitted: readonly OmittedItems[], { prompts }: Report, { runUrl }: MarkdownOptions): string {
  const parts = omitted.map(({ item, count }) => formatCount(count, item));
  const where = runUrl === null ? 'the report of the run' : `the summary and the page of [the run](${runUrl})`;
  const large = prompts.flatMap(words.listTextChanges).filter(({ texts }) => texts.text_omitted === true).length;
  const notes = [
    ...(parts.length === 0 ? [] : [`There was no room for ${parts.join(', ')}. See ${where} for everything.`]),
    ...(large === 0
      ? []
      : [`Too large to show: ${formatCount(large, 'text')} (over 100 kB); git diff shows files of this size.`]),
  ];
  if (notes.length === 0) return '';
  return `\n> [!WARNING]\n> This page is not complete. ${notes.join(' ')}\n`;
}

function renderMarkdownFoot(report: Report, { commit, runUrl }: MarkdownOptions): string {
  const { service, plan_digest: digest, problems, committed } = report;
  const shown = commit ?? report.commit;
  const serviceNoun = words.getServiceNoun(report);
  const parts = [
    shown === null ? [] : [`commit ${renderCodeSpan(shortenCommitId(shown))}`],
    committed === undefined ? [] : [`committed ${renderCodeSpan(shortenCommitId(committed.commit))}`],
    service === null ? [] : [`${serviceNoun} ${renderCodeSpan(service)}`],
    problems.some(({ code }) => code === NOT_ASKED_CODE) ? [`${serviceNoun} not contacted`] : [],
    digest === null ? [] : [`plan ${renderCodeSpan(shortenDigest(digest))}`],
    runUrl === null ? [] : [`[run](${runUrl})`],
  ];
  const line = parts.flat().join(' · ');
  return line === '' ? '' : `\n${line}\n`;
}

/**
 * Builds the sections of a page in display order. If the length of the page is limited, earlier sections get space
 * first.
 */
function makeSections(report: Report): readonly Section[] {
  const { prompts, mode, files = [] } = report;
  const baselinePrompts = listBaselinePrompts(report);
  const problems = listProblems(report);
  const warnings = problems.filter((problem) => !isError(problem) && problem.code !== NOT_ASKED_CODE);
  const wasApplied = mode === 'apply' || prompts.some(({ status }) => status === 'applied');
  const head = renderTableHead(['prompt', 'change']);
  return [
    makeSection('#### Problems\n', 'problem', 0.3, problems.filter(isError), renderProblemItems),
    ...makeMatrixSections(report),
    makeSection('#### Waiting for promotion\n\n', 'note', 0.5, prompts, (prompt) =>
      describeWaitingPromotions(prompt, renderCodeSpan).map((text) => `- ${renderCodeSpan(prompt.key)}: ${text}\n`),
    ),
    makeSection(`#### ${wasApplied ? 'Changes' : 'What would change'}\n\n${head}`, 'row', 0.5, prompts, (prompt) =>
      renderPromptRows(omitListedBaseline(prompt, baselinePrompts), report.plan_digest !== null),
    ),
    makeSection('', 'list of baselines', 0.5, [baselinePrompts], (listed) => renderBaselineItems(listed, mode)),
    makeSection('#### Kept metadata\n', 'metadata note', 0.5, prompts, renderMetadataItems),
    ...makeHistorySections(report),
    makeSection('#### Orphans\n\n', 'orphan', 0.5, words.describeOrphans(report, renderCodeSpan), (text) => [
      `- ${text}\n`,
    ]),
    makeSection('#### Files\n\n', 'file', 0.5, files, ({ path, status }) => [`- ${renderCodeSpan(path)}: ${status}\n`]),
    makeSection('#### Commits\n\n', 'commit', 0.5, describeImportCommits(report, renderCodeSpan), (text) => [
      `- ${text}\n`,
    ]),
    makeSection('#### Breaking\n\n', 'breaking note', 0.4, prompts, (prompt) =>
      words.describeBreakingChanges(prompt, renderCodeSpan).map((text) => `- ${renderCodeSpan(prompt.key)}: ${text}\n`),
    ),
    makeSection('#### Composed prompts\n\n', 'composed note', 0.4, prompts, (prompt) =>
      words.describeAffectedPrompts(prompt, renderCodeSpan).map((text) => `- ${renderCodeSpan(prompt.key)}: ${text}\n`),
    ),
    makeDriftSection(report),
    makeSection('#### Texts\n', 'diff', 0.95, prompts, renderDiffItems),
    makeSection('#### Warnings\n', 'warning', 1, groupProblems(warnings), renderWarningItems),
  ];
}

/** Renders the baselines of these prompts as one line. Returns no line if there are no prompts. */
function renderBaselineItems(prompts: readonly ReportPrompt[], mode: Report['mode']): readonly string[] {
  return prompts.length === 0 ? [] : [`${describeBaselines(prompts.map(renderPromptName), mode, Infinity)}\n`];
}

function makeDriftSection(report: Report): Section {
  const { mode, prompts } = report;
  const intro = words.applyReportWords(report, mode === 'apply' ? DRIFT_BEFORE_RUN : DRIFT_NOW);
  return makeSection(`#### Drift\n\n${intro}\n\n`, 'drift note', 0.5, prompts, (prompt) =>
    prompt.drift.map((drift) => {
      return `- ${renderPromptName(prompt)}: ${words.describeDrift(drift, prompt, mode, renderCodeSpan)}\n`;
    }),
  );
}

const DRIFT_NOW = 'These differences already exist in the service:';
const DRIFT_BEFORE_RUN = 'These differences existed in the service before this run:';

/** Builds a section from values. `renderItems` can return any number of items for a value. */
function makeSection<Value>(
  open: string,
  item: string,
  share: number,
  values: readonly Value[],
  renderItems: (value: Value) => readonly string[],
): Section {
  return { open: `\n${open}`, items: values.flatMap(renderItems), item, share };
}

/**
 * Builds the table of the versions that environments serve. Only the report of `promptsync status` contains this table.
 */
function makeMatrixSections(report: Report): readonly Section[] {
  if (report.mode !== 'status') return [];
  const environments = listEnvironments(report);
  const head = renderTableHead(['prompt', ...environments.map(renderCodeSpan)]);
  const formatCells = (prompt: ReportPrompt): readonly string[] =>
    environments.map((environment) => formatMatrixCell(makeMatrixCell(prompt, environment)));
  const renderRows = (prompt: ReportPrompt): readonly string[] => [
    renderTableRow([renderPromptName(prompt), ...formatCells(prompt).map(renderCodeSpan)]),
  ];
  const title = words.applyReportWords(report, 'Environments');
  return [
    makeSection(`#### ${title}\n\n${head}`, 'row', 0.7, sortByAttention(report.prompts), renderRows),
    makeSection('', 'legend', 0.7, listMatrixSigns(report), ({ sign, meaning }) => [
      `- ${renderCodeSpan(sign)}: ${meaning}\n`,
    ]),
  ];
}

/**
 * Renders one problem as a code block. Each problem is a separate item, so that a page with too little space omits only
 * some of the problems.
 */
function renderProblemItems(problem: ReportProblem): readonly string[] {
  return [`\n${renderCodeBlock(renderProblem(problem, PLAIN_STYLE).split('\n'), 'text')}\n`];
}

/** Renders a group of warnings as a code block. Lists their places below it, because long lines of code do not wrap. */
function renderWarningItems(group: ProblemGroup): readonly string[] {
  const places = renderPlaces(group, renderCodeSpan);
  return renderProblemItems(getGroupedProblem(group)).map((item) => `${item}${places === null ? '' : `\n${places}\n`}`);
}

/**
 * Renders the table rows of a prompt:
 * - one row for each changed environment, each changed field and each edit
 * - one row for each change of the messages of a chat prompt
 * - one row for a new version, but only if no environment will serve it or if it keeps metadata
 * - one row with the status, if the prompt failed or was not attempted and has no changes to show
 * @param hasPlanDigest whether the report has a plan; without a plan, only a prompt with edits can get a row with its
 * status
 */
function renderPromptRows(prompt: ReportPrompt, hasPlanDigest: boolean): readonly string[] {
  const { status, changes, edits = [] } = prompt;
  const shown = changes.filter((change) => !onlyRestoresBase(change, prompt));
  const rows = shown.flatMap((change) =>
    change.kind === 'create-version' && !change.metadata_from && !words.hasNoFollower(change, changes)
      ? []
      : words
          .describeChange(change)
          .map((text) => `${renderCodeSpan(text)}${words.describeChangeNotes(change, prompt, renderCodeSpan)}`),
  );
  const isUnfinished = (hasPlanDigest || edits.length > 0) && (status === 'failed' || status === 'not_attempted');
  const messages = shown.length > 0 || edits.length > 0 ? words.listMessageChanges(prompt).map(renderCodeSpan) : [];
  const edited = [...edits.map((edit) => renderCodeSpan(words.describeEdit(edit))), ...messages];
  // The edits of a failed prompt are in the file only if they contain a conflict for the user to resolve.
  const writtenEdits = edits.some(words.isConflict) ? edited : [];
  const cells =
    rows.length === 0 && isUnfinished ? [words.describeStatus(status), ...writtenEdits] : [...rows, ...edited];
  return cells.map((cell) => renderTableRow([renderPromptName(prompt), cell]));
}

/** Renders the key of a prompt. If the report contains the address of its page in the service, the key is a link. */
function renderPromptName({ key, url }: Pick<ReportPrompt, 'key' | 'url'>): string {
  return url === undefined ? renderCodeSpan(key) : `[${renderCodeSpan(key)}](${url})`;
}

/** Renders the metadata that new versions keep from earlier versions, as a code block below the key of the prompt. */
function renderMetadataItems({ key, changes }: ReportPrompt): readonly string[] {
  return changes.flatMap((change) => {
    const lines = words.listKeptMetadataLines(change);
    if (lines.length === 0) return [];
    const note = words.describeVersionNotes(change, changes, renderCodeSpan).trim();
    return [`\n${renderCodeSpan(key)} ${note}\n\n${renderCodeBlock(lines.map(shortenBlanks), 'text')}\n`];
  });
}

/**
 * Returns true if a planned change only restores what the base commit wants. The page lists such a change as drift,
 * because it does not come from a change to the files.
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

/** Renders the header row of a table and the separator row below it. The cells must already be Markdown. */
function renderTableHead(columns: readonly string[]): string {
  return renderTableRow(columns) + renderTableRow(columns.map(() => '---'));
}

/** Renders one table row, including its line feed. The cells must already be Markdown. */
function renderTableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/**
 * Builds the sections of `promptsync history`. Each prompt has its tables, followed by notes about environments that do
 * not serve the pinned version.
 */
function makeHistorySections(report: Report): readonly Section[] {
  return report.prompts.filter(hasHistory).flatMap((prompt) => {
    const heading = `\n#### ${renderPromptName(prompt)}\n`;
    const tables = makeHistoryTables(prompt, renderCodeSpan, report);
    const notes = makeSection('', 'drift note', 0.9, listDifferingRows(prompt), (row) => [
      `- ${describeDifference(row, renderCodeSpan)}\n`,
    ]);
    const [first, ...others] = [...tables.map(makeHistorySection), notes].filter(({ items }) => items.length > 0);
    return first === undefined ? [] : [{ ...first, open: `${heading}${first.open}` }, ...others];
  });
}

function makeHistorySection({ title, columns, rows, item }: HistoryTable): Section {
  const above = title === null ? '' : `\n${title}\n`;
  if (rows.length === 0 && title !== null) return { open: '', items: [above], item, share: 0.9 };
  return { open: `${above}\n${renderTableHead(columns)}`, items: rows.map(renderTableRow), item, share: 0.9 };
}

/** A section of a page. The page includes each item completely or not at all. It omits a section without items. */
type Section = {
  /** The text before the items: the heading and, if the items are table rows, the header row of the table. */
  readonly open: string;
  readonly items: readonly string[];
  /** The singular noun for an item, for example `diff`. The note on omitted items uses it. */
  readonly item: string;
  /**
   * The maximum share of the remaining space that the section may use, from 0 to 1. The rest is left for later
   * sections.
   */
  readonly share: number;
};

/** The number of items that the page omits from one section, and the noun for such an item. */
type OmittedItems = { readonly item: string; readonly count: number };

type FittedSections = {
  readonly text: string;
  /** One entry for each section that is incomplete. */
  readonly omitted: readonly OmittedItems[];
};

/**
 * Renders as many items as fit into the limit, starting with the first section. Renders all items if there is no limit.
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
