import { PAGE } from './html-page-assets.ts';
import { isError } from '../../problem.ts';
import { escapeLine } from '../escape.ts';
import { isInterrupted, NOT_ASKED_CODE } from '../problem-list.ts';
import type { Report, ReportProblem, ReportPrompt } from '../schema/report-schema.ts';
import { listEnvironments, sortByAttention } from './status-matrix.ts';
import { PLAIN_STYLE } from '../output-style.ts';
import { describeImportCommits, hasHistory, findNextSteps, renderOutcome } from './summary.ts';
import { describeCloneHints } from '../describe-changes.ts';
import { describeOrphans, getServiceNoun, getWords, listTextChanges } from '../describe-report.ts';
import { shortenDigest } from '../../text.ts';
import { markup, NO_MARKUP, type Markup } from './html-markup.ts';
import {
  renderProblemList,
  renderPromptRow,
  PROMPT_TRAITS,
  listTraits,
  type PageContext,
  type PromptTrait,
} from './html-prompt.ts';

/** The maximum number of prompts that are expanded at first. If more need attention, all are collapsed. */
const MAX_OPEN_PROMPTS = 10;

/**
 * Renders a self-contained HTML page. Its content security policy allows only its own script and style, and no network
 * requests. All content is visible without the script. `title` is the subject of the page, for example `plan`.
 */
export function renderHtml(report: Report, title: string, withoutDiffs = false): string {
  const { mode, vocabulary, base, branch, commit } = report;
  const environments = listEnvironments(report);
  const findLink = makeLinkFinder(report);
  const context = { mode, vocabulary, base, branch, commit, environments, findLink, withoutDiffs };
  const body = markup`${renderHeader(report, context, title)}<main>
${renderProblemsAndFiles(report)}${report.prompts.length === 0 ? NO_MARKUP : renderMatrix(report, context)}${renderOrphans(report)}${renderProblemSection(report, 'Warnings')}</main>
${renderFooter(report)}`;
  // Put the outcome first, because it tells pages apart. Narrow browser tabs cut off the end of a title.
  const head = renderHead(`${renderOutcome(report, PLAIN_STYLE.colors)} promptsync ${title}`);
  return `<!doctype html>\n<html lang="en">\n<head>\n${head}</head>\n<body>\n${body.html}<script>${PAGE.script}</script>\n</body>\n</html>\n`;
}

function renderHead(title: string): string {
  const policy = [
    "default-src 'none'",
    `script-src '${PAGE.scriptHash}'`,
    `style-src '${PAGE.styleHash}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const { html } = markup`<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
`;
  const first = `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">\n`;
  return `${first}${html}<style>${PAGE.style}</style>\n`;
}

function renderMatrix(report: Report, context: PageContext): Markup {
  const noteworthy = report.prompts.filter(
    (prompt) => hasHistory(prompt) || listTraits(prompt, report.mode).includes('review'),
  );
  const open = new Set(noteworthy.length <= MAX_OPEN_PROMPTS ? noteworthy : []);
  const names = context.environments.map((environment) => markup`<span>${environment}</span>`);
  const prompts = report.mode === 'status' ? sortByAttention(report.prompts) : report.prompts;
  const hasTexts = !context.withoutDiffs && report.prompts.some((prompt) => listTextChanges(prompt).length > 0);
  return markup`<section aria-labelledby="prompts"><h2><span id="prompts">Prompts</span><output aria-live="polite"></output></h2>
${renderControls(report, hasTexts)}<div class="matrix ${chooseWidthClass(names.length)}"><div class="head" aria-hidden="true"><span>prompt</span>${names}<span>status</span></div>
${prompts.map((prompt) => renderPromptRow(prompt, context, open.has(prompt)))}</div>
<p class="none" hidden>No prompt matches the filters.</p></section>
`;
}

/** Chooses a CSS class. On a wide page, all classes except `many` show the environments as columns. */
function chooseWidthClass(environmentCount: number): string {
  if (environmentCount > 6) return 'many';
  return environmentCount > 3 ? 'several' : 'few';
}

/** Returns a function that finds the id of a row: its key, with an index if an earlier prompt has the same key. */
function makeLinkFinder({ prompts }: Report): PageContext['findLink'] {
  const taken = new Set<string>();
  const links = new Map<ReportPrompt, string>();
  for (const [index, prompt] of prompts.entries()) {
    const key = encodeURIComponent(prompt.key.toWellFormed()).replaceAll('%2F', '/');
    const link = `prompt:${taken.has(key) ? `${key}#${index}` : key}`;
    taken.add(key);
    links.set(prompt, link);
  }
  return (prompt) => links.get(prompt) ?? '';
}

/** Renders the title, the outcome, help for first-time readers, the next step, and facts such as the commit. */
function renderHeader(report: Report, context: PageContext, title: string): Markup {
  const hasErrors = report.problems.some(isError);
  const isIncomplete = report.summary.blocked + report.summary.failed > 0 || isInterrupted(report);
  const state = hasErrors || isIncomplete ? 'bad' : 'fine';
  const nextSteps = [...describeCloneHints(report, escapeLine), ...findNextSteps(report)];
  const steps = nextSteps.map((step) => markup`<p>${step}</p>\n`);
  const commits = describeImportCommits(report, (text) => text).map((line) => markup`<p>${line}</p>\n`);
  return markup`<header>
<h1>promptsync ${title}</h1>
<p class="outcome ${state}">${renderOutcome(report, PLAIN_STYLE.colors)}</p>
${context.environments.length === 0 ? NO_MARKUP : markup`<p>${renderReadingHelp(report)}</p>\n`}${commits}${steps}${renderFacts(report)}</header>
`;
}

/** The kind of values that the cells of the matrix contain. */
type CellContent = 'plan' | 'apply' | 'now' | 'files' | 'edits';

function renderReadingHelp(report: Report): string {
  const { environment } = getWords(report);
  const cells: Readonly<Record<CellContent, string>> = {
    plan: `v6 → v7 means that the ${environment} serves version 6 now and would serve version 7 after a sync.`,
    apply: `v6 → v7 means that the ${environment} served version 6 before this run and serves version 7 now.`,
    now: `The cells show the versions that the ${environment}s serve now.`,
    files: 'The cells show the pins in the file before and after this run.',
    edits: 'Each cell shows the pin in the file now and the pin after the edit.',
  };
  const distances = [
    ...(report.prompts.some(({ waiting = [] }) => waiting.length > 0)
      ? [`↑2 means that the ${environment} is at least 2 versions behind its promotion source.`]
      : []),
    ...(report.prompts.some(({ ahead = [] }) => ahead.length > 0)
      ? [`↓2 means that it is at least 2 versions ahead, so promote leaves it alone.`]
      : []),
  ];
  const table = `The rows are prompts, and the columns are ${environment}s.`;
  return [table, cells[chooseReadingHelp(report)], ...distances].join(' ');
}

function chooseReadingHelp({ mode, prompts }: Report): CellContent {
  if (mode === 'apply') return 'apply';
  if (prompts.some(({ edits = [] }) => edits.length > 0)) {
    return prompts.some(({ status }) => status === 'applied') ? 'files' : 'edits';
  }
  return prompts.some(({ changes }) => changes.length > 0) ? 'plan' : 'now';
}

function renderFacts(report: Report): Markup {
  const facts = [
    [getServiceNoun(report), report.service],
    [`${getWords(report).environment}s covered`, report.environments?.join(', ') ?? null],
    ['commit', report.commit],
    ['changed since', report.changed_since ?? null],
    ['committed', report.committed?.commit ?? null],
  ] as const;
  const known = facts.flatMap(([name, value]) =>
    value === null ? [] : [markup`<div><dt>${name}</dt> <dd><code>${value}</code></dd></div>\n`],
  );
  return known.length === 0 ? NO_MARKUP : markup`<dl>${known}</dl>\n`;
}

/** Renders the plan digest at the end of the page, because users need it only for `--expect-plan`. */
function renderFooter({ plan_digest: digest }: Report): Markup {
  return digest === null ? NO_MARKUP : markup`<footer>plan <code>${shortenDigest(digest)}</code></footer>\n`;
}

/** Lists the warning that promptsync did not contact the service among the errors: it affects everything else. */
function renderProblemSection({ problems }: Report, title: 'Problems' | 'Warnings'): Markup {
  const isImportant = (problem: ReportProblem): boolean => isError(problem) || problem.code === NOT_ASKED_CODE;
  const selected = problems.filter((problem) => isImportant(problem) === (title === 'Problems'));
  if (selected.length === 0) return NO_MARKUP;
  return markup`<section aria-labelledby="${title}"><h2 id="${title}">${title}</h2>\n${renderProblemList(selected)}</section>\n`;
}

function renderOrphans(report: Report): Markup {
  const items = describeOrphans(report, escapeLine).map((text) => markup`<li>${text}</li>\n`);
  if (items.length === 0) return NO_MARKUP;
  return markup`<section aria-labelledby="orphans"><h2 id="orphans">Orphans</h2>\n<ul>${items}</ul></section>\n`;
}

/** Renders the errors of the run, and the files that `promptsync init` wrote or kept in addition to prompt files. */
function renderProblemsAndFiles(report: Report): readonly Markup[] {
  const { files = [] } = report;
  return [
    renderProblemSection(report, 'Problems'),
    files.length === 0
      ? NO_MARKUP
      : markup`<section aria-labelledby="files"><h2 id="files">Files</h2>\n<ul>${files.map(({ path, status }) => markup`<li><code>${path}</code>: ${status}</li>\n`)}</ul></section>\n`,
  ];
}

const FILTERS = {
  all: 'All',
  review: 'To review',
  changed: 'Changed',
  drift: 'Drift',
  blocked: 'Blocked',
  failed: 'Not done',
} as const satisfies Record<PromptTrait | 'all', string>;

/** Renders the controls, which are hidden until the script runs, because they do not work without it. */
function renderControls({ prompts, mode }: Report, hasTexts: boolean): Markup {
  const traits = prompts.flatMap((prompt) => listTraits(prompt, mode));
  const counts = PROMPT_TRAITS.map((name) => [name, traits.filter((trait) => trait === name).length] as const);
  const filters = [['all', prompts.length] as const, ...counts.filter(([, count]) => count > 0)];
  return markup`<form class="controls" hidden>
<input type="search" id="search" placeholder="Search names and text" aria-label="Search names and text" autocomplete="off">
${filters.length < 2 ? NO_MARKUP : markup`<fieldset><legend>Show</legend>${filters.map(renderRadio)}</fieldset>\n`}${hasTexts ? VIEW_CHOICE : NO_MARKUP}<span class="buttons"><button type="button" value="expand">Expand</button> <button type="button" value="collapse">Collapse</button></span>
</form>
`;
}

const VIEW_CHOICE: Markup = markup`<fieldset class="view"><legend>Text view</legend>
<label><input type="radio" name="view" value="unified" checked><span>Unified</span></label>
<label><input type="radio" name="view" value="split"><span>Side by side</span></label></fieldset>
`;

/** Selects `To review` initially, because readers open the page to review prompts. */
function renderRadio([name, count]: readonly [name: keyof typeof FILTERS, count: number]): Markup {
  const input = markup`<input type="radio" name="show" value="${name}"${name === 'review' ? markup` checked` : NO_MARKUP}>`;
  return markup`<label>${input}<span>${FILTERS[name]} <b>${count}</b></span></label>\n`;
}
