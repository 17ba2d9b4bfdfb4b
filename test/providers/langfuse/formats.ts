import { renderHistory } from '../../../src/report/formats/render-history.ts';
import { renderStatus } from '../../../src/report/formats/status-matrix.ts';
import { renderText } from '../../../src/report/formats/terminal-text.ts';
import type { Report } from '../../../src/report/schema/report-schema.ts';
import { FORMATS as PLAN_FORMATS } from '../../report/support.ts';

/** Renders a report in each format that people read. The text is that of the command that made the report. */
export const FORMATS = {
  ...PLAN_FORMATS,
  text: (report: Report): string => {
    const render = { history: renderHistory, status: renderStatus }[report.mode as string] ?? renderText;
    return render(report, { colour: false, quiet: false });
  },
} as const;
