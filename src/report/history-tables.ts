import { commitTexts, type Inert, madeTexts, staysOf, unpinnedText, type Version } from './history-texts.ts';
import { refText } from './render-change.ts';
import type { ReportLineage, ReportPrompt } from './schema.ts';

/** A part of a prompt's history. */
export type HistoryTable = {
  /** A sentence above it; null: none. */
  readonly title: string | null;
  readonly columns: readonly string[];
  /** Not one where there is nothing to tell but the title. */
  readonly rows: readonly (readonly string[])[];
  /** What a row is. */
  readonly item: string;
};

/**
 * The versions of a prompt and where they have been, or where what one environment serves comes from.
 * @param show makes a value from outside inert
 */
export function historyTables(prompt: ReportPrompt, show: Inert): readonly HistoryTable[] {
  const { lineage } = prompt;
  return lineage === undefined ? versionTables(prompt, show) : [lineageTable(prompt, lineage, show)];
}

function versionTables({ history }: ReportPrompt, show: Inert): readonly HistoryTable[] {
  const versions = history?.versions ?? [];
  const cell = cellWith(show);
  const made = versions.map((version) => [nameOf(version), show(version.id), ...madeTexts(version).map(cell)]);
  const stays = versions.flatMap((version) =>
    staysOf(version).map(({ environment, when, by }) => {
      const [, commit, , subject] = by === null ? [] : commitTexts(by);
      return [nameOf(version), show(environment), when, cell(commit), cell(subject)];
    }),
  );
  const title = null;
  return [
    { title, columns: ['version', 'id', 'made', 'commit', 'author', 'subject'], rows: made, item: 'version' },
    { title, columns: ['version', 'environment', 'pinned', 'commit', 'subject'], rows: stays, item: 'pin' },
  ];
}

function nameOf({ version_number: number }: Pick<Version, 'version_number'>): string {
  return `v${number}`;
}

function lineageTable(prompt: ReportPrompt, lineage: ReportLineage, show: Inert): HistoryTable {
  const { environment, serves, pinned } = lineage;
  const cell = cellWith(show);
  const served = serves === null ? 'serves nothing' : `serves ${refText(serves)} ${show(serves.id)}`;
  const unpinned = pinned === null ? unpinnedText(prompt) : null;
  const rows = [
    ...(serves === null ? [] : [['made', ...madeTexts(serves).map(cell), cell(serves.path)]]),
    ...(pinned === null ? [] : [['pinned', ...commitTexts(pinned).map(cell), '']]),
    ...(unpinned === null ? [] : [['pinned', '', '', '', cell(unpinned), '']]),
  ];
  const columns = ['', 'date', 'commit', 'author', 'subject', 'path'];
  return { title: `${show(environment)} ${served}.`, columns, rows, item: 'row' };
}

/** Our own words are shown as somebody's are: they stand where those may. */
function cellWith(show: Inert): (text: string | undefined) => string {
  return (text) => (text === undefined ? '' : show(text));
}
