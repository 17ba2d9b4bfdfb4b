import type { Section } from './fit.ts';
import { differingRows, isTold } from './history-summary.ts';
import { type HistoryTable, historyTables } from './history-tables.ts';
import { driftText } from './history-texts.ts';
import { inertCode } from './inert-markdown.ts';
import { tableHead, tableRow } from './markdown-table.ts';
import type { Report, ReportPrompt } from './schema.ts';

/** A history as parts of a page: of each prompt a table of its versions, and one of where they have been. */
export function historySections({ prompts }: Report): readonly Section[] {
  return prompts.filter(isTold).flatMap((prompt) => {
    const heading = `\n#### ${inertCode(prompt.key)}\n`;
    const tables = historyTables(prompt, inertCode);
    return [...tables.map((table, index) => sectionOf(table, index === 0 ? heading : '')), driftNotes(prompt)];
  });
}

function sectionOf({ title, columns, rows, item }: HistoryTable, heading: string): Section {
  const above = title === null ? '' : `\n${title}\n`;
  const section = { close: '', item, share: 0.9 };
  if (rows.length === 0 && title !== null) return { ...section, open: heading, items: [above] };
  const open = `${heading}${above}\n${tableHead(columns)}`;
  return { ...section, open, items: rows.map(tableRow) };
}

function driftNotes(prompt: ReportPrompt): Section {
  const items = differingRows(prompt).map((row) => `- ${driftText(row, inertCode)}\n`);
  return { open: '\n', items, close: '', item: 'drift note', share: 0.9 };
}
