import type { ReportProblem } from '../schemas/report.ts';
import type { Colours } from './colours.ts';
import { inertLine } from './inert.ts';

/** A problem in two lines: where and what, then what to do. Without a final line feed. */
export function renderProblem(problem: ReportProblem, colours: Colours): string {
  const severity = problem.severity === 'error' ? colours.red('error') : colours.yellow('warning');
  const place = placeText(problem);
  const message = inertLine(problem.message);
  const code = colours.dim(`[${problem.code}]`);
  return `${place === '' ? '' : `${inertLine(place)}: `}${severity}: ${message} ${code}\n  ${inertLine(problem.hint)}`;
}

/** `prompts/a.md:3:7`, or what of it is known. */
export function placeText({ path, line, column }: ReportProblem): string {
  return [path, line, column].filter((part) => part !== undefined).join(':');
}
