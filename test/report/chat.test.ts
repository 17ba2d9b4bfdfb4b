import { describe, expect, test } from 'vitest';
import { escapeHtml } from '../../src/report/escape.ts';
import type { ReportPrompt } from '../../src/report/schema/report-schema.ts';
import { renderText } from '../../src/report/formats/terminal-text.ts';
import { FORMATS, planOf, ref, setActive } from './support.ts';

/** Returns the report of a prompt of this type whose text changes. */
function reportOfText(type: ReportPrompt['type'], before_text: string, after_text: string) {
  return planOf([setActive({ before: ref(1), before_text, after_text })], { type });
}

describe('reports of chat prompts', () => {
  test('An HTML report shows the marker lines of a chat prompt as headings, but not content that looks like a marker', () => {
    const marker = '{{role "system"}}';
    const before = `${marker}\na\n\n{{role "user"}}\n\\{{role "x"}}`;
    const after = `${marker}\na\n\n{{placeholder "history"}}`;
    const listHeadings = (type: ReportPrompt['type']) =>
      FORMATS.HTML(reportOfText(type, before, after)).match(/(?<=<b class="marker">)[^<]*(?=<\/b>\n)/g) ?? [];
    expect(listHeadings('chat')).toEqual([marker, '{{role "user"}}', '{{placeholder "history"}}'].map(escapeHtml));
    expect(listHeadings('text')).toEqual([]);
    expect(listHeadings(null)).toEqual([]);
  });

  test('Terminal output and HTML reports mark words by the type of the prompt', () => {
    for (const type of ['chat', 'text'] as const) {
      const report = reportOfText(type, '{{role "user"}}\nBe kind to all.', '{{role "assistant"}}\nBe kind to them.');
      const isMarked = type === 'text';
      expect(renderText(report, { colour: true, quiet: false }).includes('\u001b[7m')).toBe(isMarked);
      expect(FORMATS.HTML(report).includes('<mark>')).toBe(isMarked);
    }
  });
});
