import type { Report, ReportLineage, ReportPrompt } from '../schemas/report.ts';
import type { Section } from './fit.ts';
import { differingRows, isTold } from './history-summary.ts';
import { commitTexts, driftText, madeTexts, staysOf, unpinnedText, type Version } from './history-texts.ts';
import { inertCode } from './inert-markdown.ts';

/** A history as parts of a page: of each prompt a table of its versions, and one of where they have been. */
export function historySections({ prompts }: Report): readonly Section[] {
  return prompts.filter(isTold).flatMap((prompt) => {
    const heading = `\n#### ${inertCode(prompt.key)}\n`;
    const tables =
      prompt.lineage === undefined ? versionTables(prompt, heading) : [lineageTable(prompt, prompt.lineage, heading)];
    return [...tables, driftNotes(prompt)];
  });
}

function versionTables({ history }: ReportPrompt, heading: string): readonly Section[] {
  const versions = history?.versions ?? [];
  const made = versions.map((version) => [nameOf(version), inertCode(version.id), ...madeTexts(version).map(cell)]);
  const stays = versions.flatMap((version) =>
    staysOf(version).map(({ environment, when, by }) => {
      const [, commit, , subject] = by === null ? [] : commitTexts(by);
      return [nameOf(version), inertCode(environment), when, cell(commit), cell(subject)];
    }),
  );
  return [
    tableOf(heading, ['version', 'id', 'made', 'commit', 'author', 'subject'], made, 'version'),
    tableOf('', ['version', 'environment', 'pinned', 'commit', 'subject'], stays, 'pin'),
  ];
}

function nameOf({ version_number: number }: Pick<Version, 'version_number'>): string {
  return `v${number}`;
}

function lineageTable(prompt: ReportPrompt, lineage: ReportLineage, heading: string): Section {
  const { environment, serves, pinned } = lineage;
  const title = serves === null ? 'serves nothing' : `serves ${nameOf(serves)} ${inertCode(serves.id)}`;
  const unpinned = pinned === null ? unpinnedText(prompt) : null;
  const rows = [
    ...(serves === null ? [] : [['made', ...madeTexts(serves).map(cell), cell(serves.path)]]),
    ...(pinned === null ? [] : [['pinned', ...commitTexts(pinned).map(cell), '']]),
    ...(unpinned === null ? [] : [['pinned', '', '', '', cell(unpinned), '']]),
  ];
  const open = `${heading}\n${inertCode(environment)} ${title}.\n`;
  const table = tableOf(open, ['', 'date', 'commit', 'author', 'subject', 'path'], rows, 'row');
  return rows.length > 0 ? table : { ...table, open: heading, items: [open.slice(heading.length)] };
}

function driftNotes(prompt: ReportPrompt): Section {
  const items = differingRows(prompt).map((row) => `- ${driftText(row, inertCode)}\n`);
  return { open: '\n', items, close: '', item: 'drift note', share: 0.9 };
}

function tableOf(
  heading: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  item: string,
): Section {
  const open = `${heading}\n${rowOf(columns)}${rowOf(columns.map(() => '---'))}`;
  return { open, items: rows.map(rowOf), close: '', item, share: 0.9 };
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/** Our own words are code here as well: they stand where somebody's may. */
function cell(text: string | undefined): string {
  return text === undefined ? '' : inertCode(text);
}
