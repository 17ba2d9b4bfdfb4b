import { renderMarker } from '../../../../src/domain/chat.ts';
import { renderHtml } from '../../../../src/report/formats/html-page.ts';
import type { ReportPrompt } from '../../../../src/report/schema/report-schema.ts';
import { NASTY } from '../nasty-markdown.ts';
import { hostilePrompt, hostileReport, hostileReports, setActive, textFields } from '../../support.ts';

const RUN = 'globalThis.ran=(globalThis.ran??0)+1';
const ELSEWHERE = 'https://evil.example';

/** Texts with a special meaning in HTML, besides those with one in Markdown. */
const NASTY_HTML = [
  `</script></style></title></textarea></details></main></body></html><script>${RUN}</script>`,
  `<style>*{display:none} x{background:url(${ELSEWHERE}/x)} @import "${ELSEWHERE}/y";</style>`,
  '<!-- <script> <!-- --!> --> <!>',
  `<svg onload="${RUN}"><math><mi xlink:href="javascript:${RUN}">`,
  `<img src=x onerror="${RUN}"><img src="${ELSEWHERE}/x.png"><link rel=stylesheet href="${ELSEWHERE}/x.css">`,
  `<base href="${ELSEWHERE}/"><meta http-equiv=refresh content="0;url=${ELSEWHERE}">`,
  '<meta http-equiv="Content-Security-Policy" content="script-src *">',
  `<iframe srcdoc="<script>${RUN}</script>"></iframe>`,
  `javascript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `" autofocus onfocus="${RUN}" x="`,
  `' autofocus onfocus='${RUN}' x='`,
  ` onfocus=${RUN} autofocus `,
  '`${globalThis.ran=1}`',
  '&lt;script&gt;&#60;b&#62;&quot;&amp;amp;&notit;',
  ']]><script></script><plaintext><template><b>',
  '<form action=x><input name=show value=all checked>',
  'search',
];

const nasty: readonly string[] = [...Object.values(NASTY), ...NASTY_HTML].filter((text) => text !== '');

/**
 * A few texts that together contain all nasty texts, because each takes pages of its own. Those that are special as a
 * whole value are also alone.
 */
export const NASTY_TOGETHER: readonly string[] = [
  ...Array.from({ length: 10 }, (_, group) => nasty.filter((_, index) => index % 10 === group).join('\n')),
  ...nasty.filter((text) => text.trim() === '' || text === 'search' || text === '__proto__'),
];

/**
 * Returns the pages of reports with the text in every field. Diffs are empty, because their structure depends on lines.
 */
export function pagesOf(text: string): readonly string[] {
  return hostileReports(text).map((report) =>
    renderHtml({ ...report, prompts: report.prompts.map(withoutTexts) }, 'plan'),
  );
}

function withoutTexts(prompt: ReportPrompt): ReportPrompt {
  const none = { before_text: '', after_text: '', before_metadata: '', after_metadata: '', breaking: [] };
  const changes = prompt.changes.map((change) => (change.kind === 'set-active' ? { ...change, ...none } : change));
  return { ...prompt, changes };
}

/**
 * Returns the page of a plan with one chat prompt for each text. Its role, its messages and its diff contain the text,
 * too.
 */
export function pageOfTexts(all: readonly string[]): string {
  const prompts = all.map((text, index) => {
    const before = { id: text, version_number: null };
    const texts = {
      ...textFields(text),
      after_text: `${renderMarker('role', `${text}!`)}\n${text}\nnew ${text}\nlast`,
    };
    const change = setActive({ ...texts, environment: text, before, after: before });
    return { ...hostilePrompt(text, 'pending', 'chat'), id: `prm_${index}`, changes: [change] };
  });
  return renderHtml({ ...hostileReport('', 'dry-run'), prompts }, 'plan');
}
