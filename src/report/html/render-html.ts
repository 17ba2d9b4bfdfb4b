import { coloursFor } from '../colours.ts';
import { isTold } from '../history-summary.ts';
import type { HtmlOptions, PageContext } from './context.ts';
import { controlsOf, help } from './controls.ts';
import { footerOf, headerOf, notesOf } from './header.ts';
import { markup, type Markup, nothing } from './markup.ts';
import { promptRow } from './prompt.ts';
import { traitsOf } from './traits.ts';
import { environmentsOf } from '../matrix.ts';
import { renderOutcome } from '../render-summary.ts';
import type { Report, ReportPrompt } from '../schema.ts';
import { PAGE } from '../../templates/page.ts';

/** Where more prompts than these have something to tell, the reader opens them. */
const MOST_OPEN = 10;

/**
 * The report as one page without anything beside it: it loads nothing, sends nothing, and runs its own script alone, as
 * its content security policy says. All of it can be read without the script, which filters and puts texts side by side.
 * @param report with `environments`, so that its matrix has what does not change as well
 */
export function renderHtml(report: Report, options: HtmlOptions): string {
  const context = { ...options, mode: report.mode, environments: environmentsOf(report), linkOf: linksOf(report) };
  // What differs from one page to the next stands first: the tabs of a browser are narrow.
  const title = `${renderOutcome(report, coloursFor(false))} promptsync ${options.title}`;
  const body = markup`${headerOf(report, context)}<main>
${notesOf(report)}${report.prompts.length === 0 ? nothing : matrixOf(report, context)}</main>
${footerOf(report)}${help}`;
  return `<!doctype html>\n<html lang="en">\n<head>\n${headOf(title)}</head>\n<body>\n${body.html}<script>${PAGE.script}</script>\n</body>\n</html>\n`;
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
  const told = report.prompts.filter((prompt) => isTold(prompt) || traitsOf(prompt, report.mode).length > 0);
  const open = new Set(told.length <= MOST_OPEN ? told : []);
  const names = context.environments.map((environment) => markup`<span>${environment}</span>`);
  const hasTexts = report.prompts.some(({ id }) => context.texts.has(id));
  return markup`<section aria-labelledby="prompts"><h2><span id="prompts">Prompts</span><output aria-live="polite"></output></h2>
${controlsOf(report, hasTexts)}<div class="matrix ${widthOf(names.length)}"><div class="head" aria-hidden="true"><span>prompt</span>${names}<span>status</span></div>
${report.prompts.map((prompt) => promptRow(prompt, context, open.has(prompt)))}</div>
<p class="none" hidden>No prompt is like that.<span></span></p></section>
`;
}

/** How much room the columns need. */
function widthOf(environments: number): string {
  if (environments > 6) return 'many';
  return environments > 3 ? 'several' : 'few';
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
