import { inertLine } from './inert.ts';
import { fileLink } from './links.ts';
import type { ReportProblem } from './schema.ts';
import { fitted, narrower, type Style } from './style.ts';

/** A problem in two lines: where and what, then what to do. Without a final line feed. */
export function renderProblem(problem: ReportProblem, style: Style): string {
  const { red, yellow, dim } = style.colours;
  const severity = problem.severity === 'error' ? red('error') : yellow('warning');
  const what = `${severity}: ${inertLine(problem.message)} ${dim(`[${problem.code}]`)}`;
  const hint = hintRows(inertLine(problem.hint), narrower(style, 2));
  return [...fitted(`${shownPlace(problem, style)}${what}`, style, 4), ...hint.map((line) => `  ${line}`)].join('\n');
}

/** A command to run is to be copied: it has a row of its own, which only the terminal itself breaks. */
function hintRows(hint: string, style: Style): readonly string[] {
  const { screen } = style;
  const parts = /^(.* run:) (promptsync .*)$/.exec(hint);
  if (parts === null || screen === null || screen.width(hint) <= screen.columns) return fitted(hint, style, 0);
  const [, before = '', command = ''] = parts;
  return [...fitted(before, style, 0), command];
}

/** `prompts/a.md:3:7`, or what of it is known. */
export function placeText({ path, line, column }: ReportProblem): string {
  return [path, line, column].filter((part) => part !== undefined).join(':');
}

function shownPlace(problem: ReportProblem, style: Style): string {
  const place = inertLine(placeText(problem));
  if (place === '') return '';
  const { screen } = style;
  const shown = screen === null ? place : screen.shorten(place, screen.columns - 1);
  return `${problem.path === undefined ? shown : fileLink(shown, problem.path, style)}: `;
}
