import { expect, test } from 'vitest';
import { renderHistory } from '../../../src/report/formats/render-history.ts';
import { renderJunit } from '../../../src/report/formats/junit.ts';
import { renderMarkdown } from '../../../src/report/formats/markdown.ts';
import { renderStatus } from '../../../src/report/formats/status-matrix.ts';
import { renderText } from '../../../src/report/formats/terminal-text.ts';
import type { Report } from '../../../src/report/schema/report-schema.ts';
import { ReportShape } from '../../../src/report/schema/report-schema.ts';
import { expectInert } from '../../support/markdown.ts';
import { REPORTS } from './recorded-reports.ts';
import { readJunit } from './read-junit.ts';

const RENDER_TEXT: { readonly [Mode in Report['mode']]?: typeof renderText } = {
  status: renderStatus,
  history: renderHistory,
};

const RUN = 'https://github.com/acme/prompts/actions/runs/4711';

/** Renders a report in all formats whose output a person can review. */
function renderAll(report: Report, name: string): string {
  const render = RENDER_TEXT[report.mode] ?? renderText;
  const options = { title: name, workspace: null, commit: null, runUrl: RUN, limit: null };
  const text = render(report, { colour: false, quiet: false });
  const quiet = render(report, { colour: false, quiet: true });
  const outputs = {
    text,
    quiet: quiet === text ? '(the same)\n' : quiet,
    Markdown: renderMarkdown(report, options),
    JUnit: renderJunit(report, name),
  };
  expectInert(outputs.Markdown, [RUN, 'https://prompts.example.com/agent']);
  readJunit(outputs.JUnit);
  return Object.entries(outputs)
    .map(([format, output]) => `======== ${format}\n${output}`)
    .join('');
}

/** `vitest -u` writes the current output, so review the diff. */
test.each(Object.entries(REPORTS))('Every format shows the recorded report %s as before', async (name, report) => {
  expect(ReportShape.omit({ schema_version: true }).safeParse(report).error?.issues ?? []).toEqual([]);
  await expect(renderAll(report, name)).toMatchFileSnapshot(`recorded/${name}.txt`);
});
