import { renderHtml } from '../../../src/report/formats/html-page.ts';
import { renderMarkdown } from '../../../src/report/formats/markdown.ts';
import { renderHistory } from '../../../src/report/formats/render-history.ts';
import { renderStatus } from '../../../src/report/formats/status-matrix.ts';
import { renderText } from '../../../src/report/formats/terminal-text.ts';
import type { Report } from '../../../src/report/schema/report-schema.ts';

/** Renders a report as text, like the command that made it. */
function renderTextOf(report: Report): string {
  const render = { history: renderHistory, status: renderStatus }[report.mode as string] ?? renderText;
  return render(report, { colour: false, quiet: false });
}

/** Renders a report in each format that people read. */
export const FORMATS = {
  text: renderTextOf,
  markdown: (report: Report) =>
    renderMarkdown(report, { title: report.mode, workspace: null, commit: null, runUrl: null, limit: null }),
  html: (report: Report) => renderHtml(report, report.mode),
} as const;
