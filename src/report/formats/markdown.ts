import { isError } from '../../problem.ts';
import { describeBaselines, listBaselinePrompts, omitListedBaseline } from '../describe-baselines.ts';
import { escapeSectionLines, wrapSection } from './comment-sections.ts';
import { describeCloneHints } from '../describe-changes.ts';
import {
  describeCoverage,
  describeOrphans,
  describeStatus,
  getServiceNoun,
  listTextChanges,
} from '../describe-report.ts';
import { type EntryKind, listEntries } from '../change-entries.ts';
import { renderCodeBlock, renderCodeSpan, shortenBlanks } from '../escape.ts';
import { describeDifference, makeHistoryTables, type HistoryTable } from './render-history.ts';
import {
  CHANGE_TABLE_HEAD,
  isIntendedChange,
  makeDriftSections,
  makeEnvironmentSections,
  makePromptFacts,
  type PromptFacts,
  renderHeadlineName,
} from './markdown-changes.ts';
import {
  fitSections,
  makeSection,
  type OmittedItems,
  renderPromptName,
  renderTableHead,
  renderTableRow,
  type Section,
  type SizeLimit,
} from './markdown-sections.ts';
import { NOT_ASKED_CODE, groupProblems, listProblems, renderProblemGroup } from '../problem-list.ts';
import { isAppliedTitle } from './outcome-title.ts';
import type { Report, ReportProblem, ReportPrompt } from '../schema/report-schema.ts';
import {
  makeMatrixCell,
  formatMatrixCell,
  listEnvironments,
  listMatrixSigns,
  sortByAttention,
} from './status-matrix.ts';
import { makeScreen } from '../terminal-screen.ts';
import { PLAIN_STYLE, type OutputStyle } from '../output-style.ts';
import { describeImportCommits, listDifferingRows, hasHistory, renderOutcome } from './summary.ts';
import { formatCount, shortenCommitId, shortenDigest } from '../../text.ts';

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
  readonly limit: SizeLimit | null;
  readonly withoutDiffs?: boolean | undefined;
};

/** Renders GitHub Markdown. Values from files and the service are code, so that they cannot act as Markdown. */
export function renderMarkdown(report: Report, options: MarkdownOptions): string {
  return renderPage(renderMarkdownHead(report, options), makeSections(report, options), report, options);
}

/** Encloses the section of each environment in hidden lines, so that a later job can replace it. */
export function renderComment(report: Report, options: MarkdownOptions): string {
  const head = renderMarkdownHead(report, options);
  return renderPage(head, makeSections(report, options), report, options, wrapEnvironment);
}

function wrapEnvironment(environment: string, text: string): string {
  return wrapSection([environment], text);
}

/** Renders the section of some environments. Its headings are one level below those of the comment. */
export function renderCommentSection(
  report: Report & { readonly environments: readonly string[] },
  options: MarkdownOptions,
): string {
  const { environments } = report;
  const names = environments.map(renderHeadlineName).join(', ');
  const outcome = [renderOutcome(report, PLAIN_STYLE.colors), ...describeCloneHints(report, renderCodeSpan)];
  const head = `\n#### ${names}: ${options.title}\n\n${outcome.join(' ')}\n`;
  const sections = makeSections(report, options).map((section) => ({
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

/** The length reserved for the note on omitted items, which are not known until the sections are fitted. */
const RESERVED_LENGTH = 1_000;

/** The length reserved for the hidden lines of up to ten sections. */
const RESERVED_LENGTH_FOR_HIDDEN_LINES = 1_000;

function renderMarkdownHead(report: Report, { title, workspace }: MarkdownOptions): string {
  const where = workspace === null ? '' : ` in ${renderCodeSpan(workspace)}`;
  const reason = report.problems.find(({ code }) => code === NOT_ASKED_CODE);
  const note = reason === undefined ? '' : `\n> [!NOTE]\n> ${escapeNote(`${reason.message} ${reason.hint}`)}\n`;
  const steps = (report.next_steps ?? []).map((step) => `\n- ${escapeNote(step)}`).join('');
  const coverage = describeCoverage(report, renderCodeSpan);
  const outcome = [
    renderOutcome(report, PLAIN_STYLE.colors),
    ...(coverage === null ? [] : [coverage]),
    ...describeCloneHints(report, renderCodeSpan),
  ].join(' ');
  return `### promptsync ${title}${where}\n\n${outcome}\n${steps && `${steps}\n`}${note}`;
}

/** Renders unusual text as code, because `promptsync show` renders reports from files that can contain anything. */
function escapeNote(text: string): string {
  return /^(?:(?:[a-z0-9-]+|`[\w ./-]+`)[,;:.]?(?: |$))*$/i.test(text) ? text : renderCodeSpan(text);
}

/** Says what is missing: items that do not fit into the page, and large text that the report itself omits. */
function renderOmittedNote(omitted: readonly OmittedItems[], { prompts }: Report, { runUrl }: MarkdownOptions): string {
  const parts = omitted.map(({ item, count }) => formatCount(count, item));
  const where = runUrl === null ? "the run's report" : `the summary and the page of [the run](${runUrl})`;
  const large = prompts.flatMap(listTextChanges).filter(({ texts }) => texts.text_omitted === true).length;
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
  const serviceNoun = getServiceNoun(report);
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

/** Makes the sections in display order. If the length of the page is limited, earlier sections get space first. */
function makeSections(report: Report, { limit, withoutDiffs = false }: MarkdownOptions): readonly Section[] {
  const { mode, files = [] } = report;
  const baselinePrompts = listBaselinePrompts(report);
  const problems = listProblems(report);
  const warnings = problems.filter((problem) => !isError(problem) && problem.code !== NOT_ASKED_CODE);
  const prompts = report.prompts.map((prompt) => {
    const entries = listEntries(omitListedBaseline(prompt, baselinePrompts), report, renderCodeSpan);
    return makePromptFacts(prompt, entries, withoutDiffs);
  });
  const environments = makeEnvironmentSections(report, prompts);
  const changesTitle = environments.length > 0 ? 'Other changes' : chooseChangesTitle(report);
  return [
    makeProblemSection('Problems', problems.filter(isError), limit),
    ...makeMatrixSections(report),
    makeNoteSection('Waiting for promotion', 'waiting', prompts),
    ...environments,
    makeSection(`#### ${changesTitle}\n\n${CHANGE_TABLE_HEAD}`, 'change', 0.5, prompts, (facts) =>
      renderOtherRows(facts, report),
    ),
    makeSection('', 'list of baselines', 0.5, [baselinePrompts], (listed) => renderBaselineItems(listed, mode)),
    makeSection('#### Kept metadata\n', 'metadata note', 0.5, prompts, renderMetadataItems),
    ...makeHistorySections(report),
    makeSection('#### Orphans\n\n', 'orphan', 0.5, describeOrphans(report, renderCodeSpan), (text) => [`- ${text}\n`]),
    makeSection('#### Files\n\n', 'file', 0.5, files, ({ path, status }) => [`- ${renderCodeSpan(path)}: ${status}\n`]),
    makeSection('#### Commits\n\n', 'commit', 0.5, describeImportCommits(report, renderCodeSpan), (text) => [
      `- ${text}\n`,
    ]),
    makeNoteSection('Breaking', 'breaking', prompts),
    makeNoteSection('Composed prompts', 'affected', prompts),
    makeNoteSection('No longer used', 'unused', prompts),
    ...makeDriftSections(report, prompts),
    makeProblemSection('Warnings', warnings, limit),
  ];
}

/** Builds a section with the entries of one kind. Each begins with the key of its prompt. */
function makeNoteSection(title: string, kind: EntryKind, prompts: readonly PromptFacts[]): Section {
  return makeSection(`#### ${title}\n\n`, 'note', 0.4, prompts, ({ prompt, entries }) =>
    entries.filter((entry) => entry.kind === kind).map(({ text }) => `- ${renderCodeSpan(prompt.key)}: ${text}\n`),
  );
}

function renderBaselineItems(prompts: readonly ReportPrompt[], mode: Report['mode']): readonly string[] {
  return prompts.length === 0 ? [] : [`${describeBaselines(prompts.map(renderPromptName), mode, Infinity)}\n`];
}

function chooseChangesTitle({ mode, prompts }: Report): string {
  return mode === 'apply' || prompts.some(({ status }) => status === 'applied') ? 'Changes' : 'What would change';
}

/** Makes the table of the served versions, which only the report of `promptsync status` contains. */
function makeMatrixSections(report: Report): readonly Section[] {
  if (report.mode !== 'status') return [];
  const environments = listEnvironments(report);
  const head = renderTableHead(['prompt', ...environments.map(renderCodeSpan)]);
  const formatCells = (prompt: ReportPrompt): readonly string[] =>
    environments.map((environment) => formatMatrixCell(makeMatrixCell(prompt, environment)));
  const renderRows = (prompt: ReportPrompt): readonly string[] => [
    renderTableRow([renderPromptName(prompt), ...formatCells(prompt).map(renderCodeSpan)]),
  ];
  return [
    makeSection(`#### Active versions\n\n${head}`, 'row', 0.7, sortByAttention(report.prompts), renderRows),
    makeSection('', 'legend', 0.7, listMatrixSigns(report), ({ sign, meaning }) => [
      `- ${renderCodeSpan(sign)}: ${meaning}\n`,
    ]),
  ];
}

/**
 * The maximum number of files to list for a group of problems if the length of the page is limited. A page omits an
 * item that does not fit instead of shortening it, so a group with a longer list could be missing altogether.
 */
const MAX_FILES_ON_PAGE = 100;

/** The style of code blocks. Lines wrap at 80 columns, because a code block on a forge scrolls sideways instead. */
const PROBLEM_STYLE: OutputStyle = { ...PLAIN_STYLE, screen: makeScreen(80) };

/** Makes an item for each group of problems, so that a page with too little space omits only some of them. */
function makeProblemSection(title: string, problems: readonly ReportProblem[], limit: SizeLimit | null): Section {
  const maxFiles = limit === null ? Infinity : MAX_FILES_ON_PAGE;
  return makeSection(`#### ${title}\n`, 'problem', 0.3, groupProblems(problems), (group) => {
    const lines = renderProblemGroup(group, PROBLEM_STYLE, maxFiles)
      .split('\n')
      .map((line) => line.trimEnd());
    return [`\n${renderCodeBlock(lines, 'text')}\n`];
  });
}

/**
 * Renders the rows for everything that belongs to no environment. The first row shows the status of a prompt that
 * failed or was not attempted if it lists no changes. Without a plan, only prompts with edits show it.
 */
function renderOtherRows({ prompt, entries }: PromptFacts, report: Report): readonly string[] {
  const { status, changes, edits = [] } = prompt;
  const isUnfinished = status === 'failed' || status === 'not_attempted';
  const needsStatus = changes.length === 0 && isUnfinished && (report.plan_digest !== null || edits.length > 0);
  const texts = entries
    .filter((entry) => isIntendedChange(entry) && entry.environments.length === 0)
    .map(({ text }) => text);
  const cells = [...(needsStatus ? [describeStatus(status)] : []), ...texts];
  return cells.map((cell) => renderTableRow([renderPromptName(prompt), cell]));
}

/** Renders the metadata that new versions keep from earlier versions, as a code block below the key of the prompt. */
function renderMetadataItems({ prompt, entries }: PromptFacts): readonly string[] {
  return entries.flatMap(({ text, metadata }) => {
    if (metadata.length === 0) return [];
    return [`\n${renderCodeSpan(prompt.key)}: ${text}\n\n${renderCodeBlock(metadata.map(shortenBlanks), 'text')}\n`];
  });
}

/** Makes the tables of each prompt, then notes about environments that do not serve the pinned version. */
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
