import { fitted, layOut, type Style, styleFor } from './style.ts';
import { escapeLine } from './escape.ts';
import { differingRows, hasHistory, renderSummary } from './summary.ts';
import { promptTitle, type TextOptions } from './text.ts';
import { renderProblems } from './problems.ts';
import type { Report, ReportHistory, ReportLineage, ReportPrompt, ReportRow } from './schema.ts';
import { refText, type Show } from './words.ts';

/** The versions of prompts, or where what an environment serves comes from. Ends with a line feed. */
export function renderHistory(report: Report, options: TextOptions): string {
  const style = styleFor(options);
  const shown = options.quiet ? [] : report.prompts.filter(hasHistory).map((prompt) => renderPrompt(prompt, style));
  return [...shown, ...renderProblems(report, 'error', style), `${renderSummary(report, style)}\n`].join('\n');
}

function renderPrompt(prompt: ReportPrompt, style: Style): string {
  const tables = historyTables(prompt, escapeLine).flatMap((table) => tableLines(table, style));
  const notes = differingRows(prompt).map((row) => style.colours.yellow(`! ${differsText(row, escapeLine)}`));
  const lines = [...promptTitle(prompt, style), ...tables, ...notes.flatMap((line) => fitted(line, style, 2))];
  return lines.map((line) => `${line}\n`).join('');
}

function tableLines({ title, columns, rows }: HistoryTable, style: Style): readonly string[] {
  const { bold, dim } = style.colours;
  const above = title === null ? [] : fitted(bold(title), style, 2);
  if (rows.length === 0) return above;
  const header = columns.map((text) => ({ text, paint: dim }));
  const cells = rows.map((row) => row.map((text) => ({ text, paint: (one: string) => one })));
  return [...above, ...layOut([header, ...cells], style).flatMap((line) => fitted(line.trimEnd(), style, 4))];
}

export type HistoryTable = {
  /** A sentence above it; null: none. */
  readonly title: string | null;
  readonly columns: readonly string[];
  /** None where there is nothing but the title. */
  readonly rows: readonly (readonly string[])[];
  /** What a row is. */
  readonly item: string;
};

/**
 * The versions of a prompt and where they have been, or where what one environment serves comes from.
 * @param show escapes a value from outside, as the format needs it
 */
export function historyTables(prompt: ReportPrompt, show: Show): readonly HistoryTable[] {
  const { lineage } = prompt;
  return lineage === undefined ? versionTables(prompt, show) : [lineageTable(prompt, lineage, show)];
}

function versionTables({ history }: ReportPrompt, show: Show): readonly HistoryTable[] {
  const versions = history?.versions ?? [];
  const made = versions.map((version) => rowOf(refText(version), madeTexts(version), show));
  const stays = versions.flatMap((version) => staysOf(version).map((stay) => rowOf(refText(version), stay, show)));
  return [
    { title: null, columns: ['version', 'made (UTC)', 'commit', 'author', 'subject'], rows: made, item: 'version' },
    { title: null, columns: ['version', 'environment', 'pinned (UTC)', 'commit', 'subject'], rows: stays, item: 'pin' },
  ];
}

function lineageTable(prompt: ReportPrompt, lineage: ReportLineage, show: Show): HistoryTable {
  const { environment, serves, pinned } = lineage;
  const served = serves === null ? 'nothing' : `${refText(serves)} (${show(serves.id)})`;
  const unpinned = pinned === null ? unpinnedText(prompt) : null;
  const rows = [
    ...(serves === null ? [] : [rowOf('made', [...madeTexts(serves), serves.path], show)]),
    ...(pinned === null ? [] : [rowOf('pinned', [...commitTexts(pinned), undefined], show)]),
    ...(unpinned === null ? [] : [rowOf('pinned', [undefined, undefined, undefined, unpinned, undefined], show)]),
  ];
  const columns = ['', 'date (UTC)', 'commit', 'author', 'subject', 'path'];
  return { title: `${show(environment)} serves ${served}`, columns, rows, item: 'row' };
}

/** Our own words are shown as somebody's are: they stand where those may. */
function rowOf(name: string, texts: Texts, show: Show): readonly string[] {
  return [name, ...texts.map((text) => (text === undefined ? '' : show(text)))];
}

type Version = ReportHistory['versions'][number];
/** A commit of a report; a version has none where it was made from none. */
type Commit = Omit<NonNullable<ReportLineage['pinned']>, 'commit'> & { readonly commit?: string | undefined };
type Made = Commit & Pick<Version, 'made_by' | 'message'>;
/** Values of one row, not escaped; undefined what is not known. */
type Texts = readonly (string | undefined)[];

function commitTexts(info: Commit): Texts {
  return [timeOf(info), info.commit?.slice(0, 12), info.author || undefined, subjectOf(info) || undefined];
}

/** The same of a version's commit; of one that comes from none its message, or who made it, is in the subject's place. */
function madeTexts(version: Made): Texts {
  const { subject, message, made_by: maker } = version;
  return commitTexts({ ...version, subject: subject ?? (message?.split('\n', 1)[0] || MAKERS[maker]) });
}

const MAKERS = {
  git: undefined,
  outside: 'by somebody outside of git',
  uncommitted: 'from a file that was not committed',
  unknown: 'not known: the service does not say it',
} as const satisfies Record<Made['made_by'], string | undefined>;

/** `2026-11-22 14:05` in UTC, so that times of several authors compare. A commit that git does not have has no date. */
function timeOf({ date = '' }: Commit): string | undefined {
  const time = Date.parse(date);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().slice(0, 16).replace('T', ' ');
}

/** With the pull request where the subject does not name it. */
function subjectOf({ subject, pull_request: request }: Commit): string | undefined {
  if (request === undefined || subject === undefined || subject.includes(`(${request})`)) return subject;
  return `${subject} (${request})`;
}

/** Why no commit has pinned what an environment serves; null where it is reported as a difference. */
function unpinnedText({ lineage, environments = [] }: ReportPrompt): string | null {
  const row = environments.find(({ environment }) => environment === lineage?.environment);
  if (row === undefined) return 'not by the file';
  return row.in_sync ? 'by no commit that is known' : null;
}

/** That an environment serves something else than the file's pin means. */
export function differsText({ environment, active, pin, wanted }: ReportRow, show: Show): string {
  const serves = active === null ? 'nothing' : show(refText(active));
  const said = [`v${pin}`, pin.replace(/^version:/, '')];
  const meant = wanted === null || said.includes(refText(wanted)) ? '' : ` (${show(refText(wanted))})`;
  return `${show(environment)} serves ${serves}, but the file pins it to ${show(pin)}${meant}.`;
}

/** Where a version is active and was pinned: environment, time, commit and subject. What is served now comes first. */
function staysOf({ active_in: activeIn, pinned }: Version): readonly Texts[] {
  const open = pinned.filter(({ until }) => until === null).map(({ environment }) => environment);
  const unpinned = activeIn.filter((environment) => !open.includes(environment));
  const isNow = ({ until, served }: Version['pinned'][number]) => until === null && served;
  return [
    ...pinned.filter(isNow).map(stayTexts),
    ...unpinned.map((environment) => [environment, 'active now', undefined, undefined]),
    ...pinned.filter((one) => !isNow(one)).map(stayTexts),
  ];
}

function stayTexts({ environment, from, until, served }: Version['pinned'][number]): Texts {
  // The file may still say so while something else is served.
  const end = until !== null ? (timeOf(until) ?? '?') : served ? 'now' : 'not served';
  const [time, commit, , subject] = from === null ? [] : commitTexts(from);
  return [environment, `${time ?? '?'} → ${end}`, commit, subject];
}
