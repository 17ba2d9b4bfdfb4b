import { renderMarkdown } from '../rendering/render-markdown.ts';
import { planLine } from './marker.ts';
import type { Telling } from './telling.ts';

/** GitHub takes 65,536 characters; secrets may become a little longer when they are hidden. */
const LIMIT = { most: 60_000, measure: (text: string): number => text.length };

/** The text of a comment or an issue, with the lines by which it is found and by which its plan can be approved. */
export function bodyOf(marker: string, { report, page, hide }: Telling): string {
  const plan = planLine(report.plan_digest);
  const most = LIMIT.most - LIMIT.measure(`${marker}\n${plan}`);
  const { text, whole } = renderMarkdown(report, { ...page, limit: { ...LIMIT, most } });
  return hide(`${marker}\n${whole ? plan : ''}${text}`);
}
