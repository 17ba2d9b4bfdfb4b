import { PAGE } from './bundle.ts';
import { isError } from '../../problem.ts';
import { escapeLine } from '../escape.ts';
import { isInterrupted, NOT_ASKED } from '../problems.ts';
import type { Report, ReportPrompt } from '../schema.ts';
import { environmentsOf } from '../status.ts';
import { PLAIN } from '../style.ts';
import { isAboutFiles, hasHistory, nextStep, renderOutcome } from '../summary.ts';
import { orphanTexts, textsOf } from '../words.ts';
import { markup, nothing, type Markup } from './markup.ts';
import { problemList, promptRow, TRAITS, traitsOf, type PageContext, type Trait } from './prompt.ts';

/** Where more prompts than these have something to look at, the reader opens them. */
const MOST_OPEN = 10;

/**
 * The report as one page without anything beside it: it loads nothing, sends nothing, and runs its own script alone, as
 * its content security policy says. All of it can be read without the script, which filters and puts texts side by side.
 * @param title what it is about, such as `plan`
 */
export function renderHtml(report: Report, title: string): string {
  const context = { mode: report.mode, environments: environmentsOf(report), linkOf: linksOf(report) };
  const body = markup`${headerOf(report, context, title)}<main>
${notesOf(report)}${report.prompts.length === 0 ? nothing : matrixOf(report, context)}${orphansOf(report)}${problemsOf(report, 'Warnings')}</main>
${footerOf(report)}`;
  // What differs from one page to the next stands first: the tabs of a browser are narrow.
  const head = headOf(`${renderOutcome(report, PLAIN.colours)} promptsync ${title}`);
  return `<!doctype html>\n<html lang="en">\n<head>\n${head}</head>\n<body>\n${body.html}<script>${PAGE.script}</script>\n</body>\n</html>\n`;
}

function headOf(title: string): string {
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

function matrixOf(report: Report, context: PageContext): Markup {
  const worth = report.prompts.filter((one) => hasHistory(one) || one.waiting?.length || traitsOf(one, report.mode)[0]);
  const open = new Set(worth.length <= MOST_OPEN ? worth : []);
  const names = context.environments.map((environment) => markup`<span>${environment}</span>`);
  const width = names.length > 6 ? 'many' : names.length > 3 ? 'several' : 'few';
  const hasTexts = report.prompts.some((prompt) => textsOf(prompt).length > 0);
  return markup`<section aria-labelledby="prompts"><h2><span id="prompts">Prompts</span><output aria-live="polite"></output></h2>
${controlsOf(report, hasTexts)}<div class="matrix ${width}"><div class="head" aria-hidden="true"><span>prompt</span>${names}<span>status</span></div>
${report.prompts.map((prompt) => promptRow(prompt, context, open.has(prompt)))}</div>
<p class="none" hidden>No prompt is like that.</p></section>
`;
}

/** By key, for people; by place where a report names one key twice. */
function linksOf({ prompts }: Report): PageContext['linkOf'] {
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

/** What the page is about, what comes of it, and with what: for somebody who has never seen one. */
function headerOf(report: Report, context: PageContext, title: string): Markup {
  const errors = report.problems.some(({ severity }) => severity === 'error');
  const undone = report.summary.blocked + report.summary.failed > 0 || isInterrupted(report);
  const state = errors || undone ? 'bad' : 'fine';
  const next = isAboutFiles(report) ? nextStep(report) : null;
  return markup`<header>
<h1>promptsync ${title}</h1>
<p class="outcome ${state}">${renderOutcome(report, PLAIN.colours)}</p>
${context.environments.length === 0 ? nothing : markup`<p>${HOW_TO_READ[readingOf(report)]}</p>\n`}${next === null ? nothing : markup`<p>${next}</p>\n`}${factsOf(report)}</header>
`;
}

const HOW_TO_READ = {
  plan: 'A row is a prompt, a column an environment. v6 → v7: it serves version 6 now, and a sync would make it serve version 7.',
  apply:
    'A row is a prompt, a column an environment. v6 → v7: it served version 6, and serves version 7 since this run.',
  now: 'A row is a prompt, a column an environment, with the version that it serves now.',
  files: 'A row is a prompt, a column an environment, with what its pin was and is now in the file.',
  edits: 'A row is a prompt, a column an environment, with what its pin is and would be in the file.',
} as const;

function readingOf({ mode, prompts }: Report): keyof typeof HOW_TO_READ {
  if (mode === 'apply') return 'apply';
  if (prompts.some(({ edits = [] }) => edits.length > 0)) {
    return prompts.some(({ status }) => status === 'applied') ? 'files' : 'edits';
  }
  return prompts.some(({ changes }) => changes.length > 0) ? 'plan' : 'now';
}

function factsOf(report: Report): Markup {
  const facts = [
    ['service', report.service],
    ['commit', report.commit],
    ['changed since', report.changed_since ?? null],
    ['committed', report.committed?.commit ?? null],
  ] as const;
  const known = facts.flatMap(([name, value]) =>
    value === null ? [] : [markup`<div><dt>${name}</dt> <dd><code>${value}</code></dd></div>\n`],
  );
  return known.length === 0 ? nothing : markup`<dl>${known}</dl>\n`;
}

/** The digest is what `--expect-plan` takes: nobody reads it first. */
function footerOf({ plan_digest: digest }: Report): Markup {
  return digest === null ? nothing : markup`<footer>plan <code>${digest}</code></footer>\n`;
}

/** A warning stops nothing and comes last, but for what the whole page stands on. */
function problemsOf({ problems }: Report, title: 'Problems' | 'Warnings'): Markup {
  const some = problems.filter((one) => (isError(one) || one.code === NOT_ASKED) === (title === 'Problems'));
  if (some.length === 0) return nothing;
  return markup`<section aria-labelledby="${title}"><h2 id="${title}">${title}</h2>\n${problemList(some)}</section>\n`;
}

function orphansOf(report: Report): Markup {
  const items = orphanTexts(report, escapeLine).map((text) => markup`<li>${text}</li>\n`);
  if (items.length === 0) return nothing;
  return markup`<section aria-labelledby="orphans"><h2 id="orphans">Orphans</h2>\n<ul>${items}</ul></section>\n`;
}

/** What was found wrong with the run, and what a command has written besides prompts. */
function notesOf(report: Report): readonly Markup[] {
  const { files = [] } = report;
  return [
    problemsOf(report, 'Problems'),
    files.length === 0
      ? nothing
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
} as const satisfies Record<Trait | 'all', string>;

/**
 * What only the page's script can do. It is hidden where no script runs.
 * @param hasTexts whether there is anything to put side by side
 */
function controlsOf({ prompts, mode }: Report, hasTexts: boolean): Markup {
  const traits = prompts.flatMap((prompt) => traitsOf(prompt, mode));
  const counts = TRAITS.map((name) => [name, traits.filter((trait) => trait === name).length] as const);
  const filters = [['all', prompts.length] as const, ...counts.filter(([, count]) => count > 0)];
  return markup`<form class="controls" hidden>
<input type="search" id="search" placeholder="Search names and texts" aria-label="Search in names and texts" autocomplete="off">
${filters.length < 2 ? nothing : markup`<fieldset><legend>Show</legend>${filters.map(radio)}</fieldset>\n`}${hasTexts ? view : nothing}<span class="buttons"><button type="button" value="expand">Expand</button> <button type="button" value="collapse">Collapse</button></span>
</form>
`;
}

const view: Markup = markup`<fieldset class="view"><legend>Texts</legend>
<label><input type="radio" name="view" value="unified" checked><span>Unified</span></label>
<label><input type="radio" name="view" value="split"><span>Side by side</span></label></fieldset>
`;

/** What is to review is what the reader has come for. */
function radio([name, count]: readonly [name: keyof typeof FILTERS, count: number]): Markup {
  const input = markup`<input type="radio" name="show" value="${name}"${name === 'review' ? markup` checked` : nothing}>`;
  return markup`<label>${input}<span>${FILTERS[name]} <b>${count}</b></span></label>\n`;
}
