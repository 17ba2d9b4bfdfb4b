import { renderMarker } from '../../../../src/domain/chat.ts';
import { renderHtml } from '../../../../src/report/formats/html-page.ts';
import type { ReportPrompt } from '../../../../src/report/schema/report-schema.ts';
import { NASTY } from '../nasty-markdown.ts';
import { hostilePrompt, hostileReport, hostileReports, setActive, textFields } from '../../support.ts';

const RUN = 'globalThis.ran=(globalThis.ran??0)+1';
const ELSEWHERE = 'https://evil.example';

/** Texts with a special meaning in HTML. The keys complete test titles. */
export const NASTY_HTML = {
  ...NASTY,
  'the end of the script': `</script><script>${RUN}</script>`,
  'the end of the style': `</style><style>*{display:none}</style><script>${RUN}</script>`,
  'the end of the title': `</title><script>${RUN}</script>`,
  'the end of everything': `</div></details></main></body></html><script>${RUN}</script>`,
  'a comment that does not end': '<!-- <script> <!--',
  'a comment that ends oddly': '--!> --> <!>',
  'a drawing': `<svg onload="${RUN}">`,
  'an image': `<img src=x onerror="${RUN}">`,
  'an image from elsewhere': `<img src="${ELSEWHERE}/x.png">`,
  'a style sheet from elsewhere': `<link rel=stylesheet href="${ELSEWHERE}/x.css">`,
  'a style': `x{background:url(${ELSEWHERE}/x)} @import "${ELSEWHERE}/y";`,
  'a base': `<base href="${ELSEWHERE}/">`,
  'another page': `<meta http-equiv=refresh content="0;url=${ELSEWHERE}">`,
  'another policy': `<meta http-equiv="Content-Security-Policy" content="script-src *">`,
  'a frame': `<iframe srcdoc="<script>${RUN}</script>"></iframe>`,
  'an address that runs': `javascript:${RUN}`,
  'an address of data': `data:text/html,<script>${RUN}</script>`,
  'the end of an attribute': `" autofocus onfocus="${RUN}" x="`,
  'the end of another attribute': `' autofocus onfocus='${RUN}' x='`,
  'the end of an attribute without quotes': ` onfocus=${RUN} autofocus `,
  'backticks and templates': '`${globalThis.ran=1}`',
  entities: '&lt;script&gt;&#60;b&#62;&quot;&amp;amp;&notit;',
  'the end of CDATA': ']]><script></script>',
  'plain text for ever': '<plaintext>',
  'a template': '<template><b>',
  'a form': '<form action=x><input name=show value=all checked>',
  'an id of the page': 'search',
  'mathematics and links': `<math><mi xlink:href="javascript:${RUN}">`,
  'a very long line': 'x'.repeat(20_000),
  'a very long name': 'word '.repeat(2_000),
} as const satisfies Record<string, string>;

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
