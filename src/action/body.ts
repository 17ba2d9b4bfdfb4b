import { renderMarkdown } from '../report/markdown.ts';
import { planMark } from './plan-mark.ts';
import type { Telling } from './telling.ts';

/** GitHub takes 65,536 characters; secrets may become a little longer when they are hidden. */
const LIMIT = { most: 60_000, measure: (text: string): number => text.length };

/** The text of a comment or an issue, with the lines by which it is found and by which its plan can be approved. */
export function bodyOf(marker: string, { report, page, parts, hide }: Telling): string {
  const { plan_digest: digest } = report;
  const plan = digest === null ? '' : `${planMark(digest, parts)}\n`;
  const most = LIMIT.most - LIMIT.measure(`${marker}\n${plan}`);
  const { text, whole } = renderMarkdown(report, { ...page, limit: { ...LIMIT, most } });
  return hide(`${marker}\n${whole ? plan : ''}${text}`);
}
