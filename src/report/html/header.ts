import { coloursFor } from '../colours.ts';
import { isAboutFiles, nextStep } from '../edit-summary.ts';
import type { PageContext } from './context.ts';
import { markup, type Markup, nothing } from './markup.ts';
import { problemItem } from './problems.ts';
import { isInterrupted } from '../problems-in.ts';
import { renderOutcome } from '../render-summary.ts';
import type { Report } from '../schema.ts';

/** What the page is about, what comes of it, and with what: for somebody who has never seen one. */
export function headerOf(report: Report, context: PageContext): Markup {
  const errors = report.problems.some(({ severity }) => severity === 'error');
  const undone = report.summary.blocked + report.summary.failed > 0 || isInterrupted(report);
  const state = errors || undone ? 'bad' : 'fine';
  return markup`<header>
<h1>promptsync ${context.title}</h1>
<p class="outcome ${state}">${renderOutcome(report, coloursFor(false))}</p>
${context.environments.length === 0 ? nothing : markup`<p>${HOW_TO_READ[readingOf(report)]}</p>\n`}${nextOf(report)}${factsOf(report)}</header>
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

function nextOf(report: Report): Markup {
  const next = isAboutFiles(report) ? nextStep(report) : null;
  return next === null ? nothing : markup`<p>${next}</p>\n`;
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
export function footerOf({ plan_digest: digest }: Report): Markup {
  return digest === null ? nothing : markup`<footer>plan <code>${digest}</code></footer>\n`;
}

/** What was found wrong with the run, and what a command has written besides prompts. */
export function notesOf({ problems, files = [] }: Report): readonly Markup[] {
  return [
    problems.length === 0
      ? nothing
      : markup`<section aria-labelledby="problems"><h2 id="problems">Problems</h2>\n<ul class="problems">${problems.map(problemItem)}</ul></section>\n`,
    files.length === 0
      ? nothing
      : markup`<section aria-labelledby="files"><h2 id="files">Files</h2>\n<ul>${files.map(({ path, status }) => markup`<li><code>${path}</code>: ${status}</li>\n`)}</ul></section>\n`,
  ];
}
