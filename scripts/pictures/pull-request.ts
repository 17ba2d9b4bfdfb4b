import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { readReport } from '../../src/report/read-report.ts';
import { renderComment } from '../../src/report/formats/markdown.ts';
import { PLAIN_STYLE } from '../../src/report/output-style.ts';
import { renderOutcome } from '../../src/report/formats/summary.ts';

const STYLE = `
  :root { color-scheme: light dark; --border: light-dark(#d1d9e0, #3d444d); --raised: light-dark(#f6f8fa, #151b23);
    --ground: light-dark(#fff, #0d1117); --text: light-dark(#1f2328, #f0f6fc); --quiet: light-dark(#59636e, #9198a1); }
  body { margin: 0; padding: 20px; background: var(--ground); color: var(--text);
    font: 14px/1.5 "Helvetica Neue", Arial, sans-serif; }
  h1 { margin: 0 0 4px; font-size: 24px; font-weight: 500; }
  .quiet { color: var(--quiet); }
  .open { display: inline-block; margin-right: 6px; padding: 2px 12px; border-radius: 999px; background: #1f883d; color: #fff; }
  .box { margin-top: 16px; border: 1px solid var(--border); border-radius: 6px; }
  .head { padding: 8px 16px; border-bottom: 1px solid var(--border); background: var(--raised); }
  .markdown-body { padding: 16px; background: transparent; font-size: 14px; }
  .check { display: flex; gap: 10px; align-items: center; padding: 12px 16px; }
  .check + .check { border-top: 1px solid var(--border); }
  .dot { display: grid; place-items: center; width: 20px; height: 20px; border-radius: 50%; background: #1f883d; color: #fff; }
`;

/**
 * Renders a pull request in the style of GitHub: the comment that the action writes for a report, and its check.
 * @param file the path of the JSON report of a plan
 */
export function renderPullRequest(file: string, title: string): string {
  const report = readReport(file, '/');
  const comment = renderComment(report, { title: 'plan', workspace: null, commit: null, runUrl: null, limit: null });
  const outcome = renderOutcome(report, PLAIN_STYLE.colors);
  return renderPage(`<h1>${title} <span class="quiet">#12</span></h1>
    <span class="open">Open</span> <span class="quiet"><b>ada</b> wants to merge 1 commit into <code>main</code></span>
    <div class="box">
      <div class="head"><b>github-actions</b> <span class="quiet">bot commented now</span></div>
      <div class="markdown-body">${renderMarkdownAsHtml(comment)}</div>
    </div>
    <div class="box">
      <div class="check"><span class="dot">✓</span> <b>All checks have passed</b></div>
      <div class="check"><span class="dot">✓</span> <b>promptsync</b> <span class="quiet">${outcome}</span></div>
    </div>`);
}

function renderMarkdownAsHtml(markdown: string): string {
  // The Markdown is our own, so its HTML, such as <details>, is safe.
  const plain = micromark(markdown, { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] });
  const html = plain.replaceAll(/<pre><code class="language-diff">([^<]*)<\/code><\/pre>/g, colorDiff);
  // The picture shows the last diff unfolded.
  const last = html.lastIndexOf('<details>');
  return last === -1 ? html : `${html.slice(0, last)}<details open>${html.slice(last + '<details>'.length)}`;
}

/** Colors the lines of a diff with the classes that GitHub uses. */
function colorDiff(_: string, escapedLines: string): string {
  const lines = escapedLines.split('\n').map((line) => {
    if (line.startsWith('-')) return `<span class="pl-md">${line}</span>`;
    return line.startsWith('+') ? `<span class="pl-mi1">${line}</span>` : line;
  });
  return `<div class="highlight highlight-source-diff"><pre>${lines.join('\n')}</pre></div>`;
}

function renderPage(body: string): string {
  const github = readFileSync(
    join(import.meta.dirname, '../../node_modules/github-markdown-css/github-markdown.css'),
    'utf8',
  );
  return `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
    <style>${github}${STYLE}</style><body>${body}</body>`;
}
