import { isError } from '../problem.ts';
import { describeBaselines, listBaselinePrompts, omitListedBaseline } from './baselines.ts';
import { describeBreakingChanges, describeUnusedInputs } from './breaking-changes.ts';
import { renderCodeBlock, renderCodeSpan, shortenBlanks } from './escape.ts';
import { describeDifference, makeHistoryTables, type HistoryTable } from './history.ts';
import { escapeSectionLines, wrapSection } from './comment-sections.ts';
import { isAppliedTitle } from './run-outcome.ts';
import {
  CHANGE_TABLE_HEAD,
  divideChanges,
  makeDriftSections,
  makeEnvironmentSections,
  renderChangeCells,
  renderHeadlineName,
  renderOtherDiffs,
} from './markdown-changes.ts';
import {
  fitSections,
  makeDiffSection,
  makeSection,
  type OmittedItems,
  renderPromptName,
  renderTableHead,
  renderTableRow,
  type Section,
  type SizeLimit,
} from './markdown-sections.ts';
import {
  NOT_ASKED_CODE,
  getGroupedProblem,
  groupProblems,
  listProblems,
  renderPlaces,
  renderProblem,
  type ProblemGroup,
} from './problems.ts';
import type { Report, ReportProblem, ReportPrompt } from './schema.ts';
import { makeMatrixCell, formatMatrixCell, listEnvironments, listMatrixSigns, sortByAttention } from './status.ts';
import { PLAIN_STYLE } from './style.ts';
import { describeImportCommits, listDifferingRows, hasHistory, renderOutcome } from './summary.ts';
import { formatCount, shortenCommitId, shortenDigest } from '../text.ts';
import * as words from './describe.ts';
import { describeWaitingPromotions } from './waiting.ts';

/** The options of a page: its maximum length, and what to show in addition to the report. */
export type MarkdownOptions = {
  /** The subject of the page, for example `plan`. */
  readonly title: string;
  /**
   * The path of the workspace, relative to the repository root: the folder that promptsync ran in, or the configuration
   * file that the user named. Null to omit it, for example because it is the root.
   */
  readonly workspace: string | null;
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
  return renderPage(renderMarkdownHead(report, options), makeSections(report, options.limit), report, options);
}

/**
 * Renders the report as the text of a comment. Hidden lines enclose the section of each environment, so that a later
 * job can replace it.
 */
export function renderComment(report: Report, options: MarkdownOptions): string {
  const head = renderMarkdownHead(report, options);
  return renderPage(head, makeSections(report, options.limit), report, options, wrapEnvironment);
}

function wrapEnvironment(environment: string, text: string): string {
  return wrapSection([environment], text);
}

/**
 * Renders a report that covers only some environments as their section in a comment. Its headings are one level below
 * those of the comment.
 */
export function renderCommentSection(
  report: Report & { readonly environments: readonly string[] },
  options: MarkdownOptions,
): string {
  const { environments } = report;
  const names = environments.map(renderHeadlineName).join(', ');
  const outcome = [renderOutcome(report, PLAIN_STYLE.colors), ...words.describeBehindHint(report, renderCodeSpan)];
  const head = `\n#### ${names}: ${options.title}\n\n${outcome.join(' ')}\n`;
  const sections = makeSections(report, options.limit).map((section) => ({
    ...section,
    open: section.open.replaceAll(/^####(?= )/gm, '#####'),
  }));
  const text = renderPage(head, sections, report, options);
  return wrapSection(environments, text, isAppliedTitle(options.title));
}

function renderPage(
  head: string,
  sections: readonly Section[],
  report: Report,
  options: MarkdownOptions,
  wrap?: typeof wrapEnvironment,
): string {
  const foot = renderMarkdownFoot(report, options);
  const { limit } = options;
  const reserved = RESERVED_LENGTH + (wrap === undefined ? 0 : RESERVED_LENGTH_FOR_HIDDEN_LINES);
  const room = limit && { ...limit, most: limit.most - limit.measure(head + foot) - reserved };
  const safeSections = sections.map((section) => ({ ...section, items: section.items.map(escapeSectionLines) }));
  const { text, omitted } = fitSections(safeSections, room, wrap);
  return `${head}${renderOmittedNote(omitted, report, options)}${text}${foot}`;
}

/**
 * The length reserved for the note on omitted items. The omitted items are known only after the sections have been
 * fitted into the page.
 */
const RESERVED_LENGTH = 1_000;

/** The length reserved for the hidden lines of up to ten sections. */
const RESERVED_LENGTH_FOR_HIDDEN_LINES = 1_000;

function renderMarkdownHead(report: Report, { title, workspace }: MarkdownOptions): string {
  const where = workspace === null ? '' : ` in ${renderCodeSpan(workspace)}`;
  const reason = report.problems.find(({ code }) => code === NOT_ASKED_CODE);
  const note = reason === undefined ? '' : `\n> [!NOTE]\n> ${escapeNote(`${reason.message} ${reason.hint}`)}\n`;
  const steps = (report.next_steps ?? []).map((step) => `\n- ${escapeNote(step)}`).join('');
  const coverage = words.describeCoverage(report, renderCodeSpan);
  const outcome = [
    renderOutcome(report, PLAIN_STYLE.colors),
    ...(coverage === null ? [] : [coverage]),
    ...words.describeBehindHint(report, renderCodeSpan),
  ].join(' ');
  return `### promptsync ${title}${where}\n\n${outcome}\n${steps && `${steps}\n`}${note}`;
}

/**
 * Returns the text unchanged if it consists of plain words and simple code spans. Otherwise, renders it as a code span.
 * The text can be unsafe, because `promptsync show` renders reports from files that can contain anything.
 */
function escapeNote(text: string): string {
  return /^(?:(?:[a-z0-9-]+|`[\w ./-]+`)[,;:.]?(?: |$))*$/i.test(text) ? text : renderCodeSpan(text);
}

/**
 * Renders a note about omitted content. The page omits items that do not fit, and the report itself omits large text.
 * Returns an empty string if nothing is omitted.
 */
function renderOmittedNote(omitted: readonly OmittedItems[], { prompts }: Report, { runUrl }: MarkdownOptions): string {
  const parts = omitted.map(({ item, count }) => formatCount(count, item));
  const where = runUrl === null ? "the run's report" : `the summary and the page of [the run](${runUrl})`;
  const large = prompts.flatMap(words.listTextChanges).filter(({ texts }) => texts.text_omitted === true).length;
  const notes = [
    ...(parts.length === 0 ? [] : [`This page omits ${parts.join(', ')}. For the complete report, see ${where}.`]),
    ...(large === 0
      ? []
      : [
          `It omits the text of ${formatCount(large, 'change')} because of its size, but ${large === 1 ? 'the change still counts' : 'these changes still count'} as reviewed. To see changes in large files, run git diff.`,
        ]),
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
function makeSections(report: Report, limit: SizeLimit | null): readonly Section[] {
  const { prompts, mode, files = [] } = report;
  const baselinePrompts = listBaselinePrompts(report);
  const problems = listProblems(report);
  const warnings = problems.filter((problem) => !isError(problem) && problem.code !== NOT_ASKED_CODE);
  const environments = makeEnvironmentSections(report);
  const changesTitle = environments.length > 0 ? 'Other changes' : chooseChangesTitle(report);
  return [
    makeSection('#### Problems\n', 'problem', 0.3, problems.filter(isError), renderProblemItems),
    ...makeMatrixSections(report),
    makeNoteSection('Waiting for promotion', 'note', prompts, describeWaitingPromotions),
    ...environments,
    makeSection(`#### ${changesTitle}\n\n${CHANGE_TABLE_HEAD}`, 'change', 0.5, prompts, (prompt) =>
      renderPromptRows(omitListedBaseline(prompt, baselinePrompts), report),
    ),
    makeSection('', 'list of baselines', 0.5, [baselinePrompts], (listed) => renderBaselineItems(listed, mode)),
    makeDiffSection(prompts.flatMap(renderOtherDiffs)),
    makeSection('#### Kept metadata\n', 'metadata note', 0.5, prompts, renderMetadataItems),
    ...makeHistorySections(report),
    makeSection('#### Orphans\n\n', 'orphan', 0.5, words.describeOrphans(report, renderCodeSpan), (text) => [
      `- ${text}\n`,
    ]),
    makeSection('#### Files\n\n', 'file', 0.5, files, ({ path, status }) => [`- ${renderCodeSpan(path)}: ${status}\n`]),
    makeSection('#### Commits\n\n', 'commit', 0.5, describeImportCommits(report, renderCodeSpan), (text) => [
      `- ${text}\n`,
    ]),
    makeNoteSection('Breaking', 'breaking note', prompts, describeBreakingChanges),
    makeNoteSection('Composed prompts', 'composed note', prompts, words.describeAffectedPrompts),
    makeNoteSection('No longer used', 'note', prompts, describeUnusedInputs),
    ...makeDriftSections(report),
    makeSection('#### Warnings\n', 'warning', 0.3, groupProblems(warnings), (group) =>
      renderWarningItems(group, limit === null ? Infinity : MAX_PLACES_ON_PAGE),
    ),
  ];
}

/** Builds a section with notes about prompts. Each note begins with the key of its prompt. */
function makeNoteSection(
  title: string,
  item: string,
  prompts: readonly ReportPrompt[],
  describe: (prompt: ReportPrompt, show: words.ShowText) => readonly string[],
): Section {
  return makeSection(`#### ${title}\n\n`, item, 0.4, prompts, (prompt) =>
    describe(prompt, renderCodeSpan).map((text) => `- ${renderCodeSpan(prompt.key)}: ${text}\n`),
  );
}

/** Renders the baselines of these prompts as one line. Returns no line if there are no prompts. */
function renderBaselineItems(prompts: readonly ReportPrompt[], mode: Report['mode']): readonly string[] {
  return prompts.length === 0 ? [] : [`${describeBaselines(prompts.map(renderPromptName), mode, Infinity)}\n`];
}

function chooseChangesTitle({ mode, prompts }: Report): string {
  return mode === 'apply' || prompts.some(({ status }) => status === 'applied') ? 'Changes' : 'What would change';
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

/**
 * The maximum number of places to list for a group of warnings if the length of the page is limited. promptsync never
 * shortens an item of a page, so the page would omit a group with a longer list.
 */
const MAX_PLACES_ON_PAGE = 100;

/**
 * Renders a group of warnings as a code block. Lists the places of the warnings below the code block, because long
 * lines of code do not wrap.
 */
function renderWarningItems(group: ProblemGroup, maxPlaces: number): readonly string[] {
  const places = renderPlaces(group, maxPlaces, renderCodeSpan);
  return renderProblemItems(getGroupedProblem(group)).map((item) => `${item}${places === null ? '' : `\n${places}\n`}`);
}

/**
 * Renders the table rows of a prompt for everything that belongs to no environment:
 * - one row for each changed field and each edit
 * - one row for each change of the messages of a chat prompt, if the command edits its text
 * - one row for a new version, but only if no environment will serve it or if it keeps metadata
 * - one row with the status, if the prompt failed or was not attempted and has no changes to show
 *
 * If the report has no plan, only a prompt with edits can get a row with its status.
 */
function renderPromptRows(prompt: ReportPrompt, report: Report): readonly string[] {
  const { status, changes } = prompt;
  const { ofEnvironments, others } = divideChanges(prompt);
  const edits = others.edits ?? [];
  const rows = others.changes.flatMap((change) =>
    change.kind === 'create-version' && !change.metadata_from && !words.hasNoFollower(change, changes)
      ? []
      : renderChangeCells(change, prompt, report),
  );
  const hasEdits = (prompt.edits ?? []).length > 0;
  const isUnfinished = (report.plan_digest !== null || hasEdits) && (status === 'failed' || status === 'not_attempted');
  const messages = words.listMessageChanges(others).map(renderCodeSpan);
  const edited = [...edits.map((edit) => renderCodeSpan(words.describeEdit(edit))), ...messages];
  // The edits to a failed prompt are in the file only if they contain a conflict for the user to resolve.
  const writtenEdits = edits.some(words.isConflict) ? edited : [];
  const hasChangeRows = rows.length + ofEnvironments.changes.length > 0;
  const cells = !hasChangeRows && isUnfinished ? [words.describeStatus(status), ...writtenEdits] : [...rows, ...edited];
  return cells.map((cell) => renderTableRow([renderPromptName(prompt), cell]));
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
