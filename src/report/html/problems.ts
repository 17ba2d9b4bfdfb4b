import { markup, type Markup, nothing } from './markup.ts';
import { placeText } from '../render-problem.ts';
import type { ReportProblem } from '../schema.ts';

/** A problem as an item of a list: where and what, then what to do. */
export function problemItem(problem: ReportProblem): Markup {
  const place = placeText(problem);
  const where = place === '' ? nothing : markup`<code>${place}</code> `;
  const what = markup`<b>${problem.severity}:</b> ${where}${problem.message} <code class="code">${problem.code}</code>`;
  return markup`<li class="${problem.severity}">${what}<br>${problem.hint}</li>\n`;
}
