import { fitLine, layOutTable, type OutputStyle, makeOutputStyle } from '../output-style.ts';
import { escapeLine } from '../escape.ts';
import { listDifferingRows, hasHistory, renderSummary } from './summary.ts';
import { renderPromptTitle, type TextOptions } from './terminal-text.ts';
import { renderErrors } from '../problem-list.ts';
import type { Report, ReportHistory, ReportLineage, ReportPrompt, ReportRow } from '../schema/report-schema.ts';
import { describeVersionRef, getWords, type ShowText } from '../describe-report.ts';
import { shortenCommitId, shortenText } from '../../text.ts';

/** Renders the report of `promptsync history` for a terminal or a log. The text ends with a line feed. */
export function renderHistory(report: Report, options: TextOptions): string {
  const style = makeOutputStyle(options);
  const histories = options.quiet
    ? []
    : report.prompts.filter(hasHistory).map((prompt) => renderPromptHistory(prompt, report, style));
  return [...histories, ...renderErrors(report, style), `${renderSummary(report, style)}\n`].join('\n');
}

function renderPromptHistory(prompt: ReportPrompt, report: Report, style: OutputStyle): string {
  const tables = makeHistoryTables(prompt, escapeLine, report).flatMap((table) => renderTable(table, style));
  const notes = listDifferingRows(prompt).map((row) => style.colors.yellow(`! ${describeDifference(row, escapeLine)}`));
  const lines = [...renderPromptTitle(prompt, style), ...tables, ...notes.flatMap((line) => fitLine(line, style, 2))];
  return lines.map((line) => `${line}\n`).join('');
}

function renderTable({ title, columns, rows }: HistoryTable, style: OutputStyle): readonly string[] {
  const { bold, dim } = style.colors;
  const above = title === null ? [] : fitLine(bold(title), style, 2);
  if (rows.length === 0) return above;
  const header = columns.map((text) => ({ text, paint: dim }));
  const body = rows.map((row) => row.map((text) => ({ text, paint: (unpainted: string) => unpainted })));
  return [...above, ...layOutTable([header, ...body]).flatMap((line) => fitLine(line.trimEnd(), style, 4))];
}

/** A table in the report of `promptsync history`, in a form that every output format can render. */
export type HistoryTable = {
  readonly title: string | null;
  readonly columns: readonly string[];
  /** The escaped cells of each row. Empty if the title alone says everything. */
  readonly rows: readonly (readonly string[])[];
  /** The singular noun for a row, for example `version`. The note on omitted rows uses it, as in `3 versions`. */
  readonly item: string;
};

/**
 * Makes the table of the version that the selected environment serves. Without a selected environment, makes the tables
 * of the known versions and of the periods in which the file pinned them. The tables use the words of `report`.
 */
export function makeHistoryTables(
  prompt: ReportPrompt,
  show: ShowText,
  report: Pick<Report, 'vocabulary'>,
): readonly HistoryTable[] {
  const { lineage } = prompt;
  return lineage === undefined ? makeVersionTables(prompt, show, report) : [makeLineageTable(prompt, lineage, show)];
}

function makeVersionTables(
  { history }: ReportPrompt,
  show: ShowText,
  report: Pick<Report, 'vocabulary'>,
): readonly HistoryTable[] {
  const versions = history?.versions ?? [];
  const origins = versions.map((version) => makeCells(describeHistoryVersion(version), makeOriginCells(version), show));
  const periods = versions.flatMap((version) =>
    listPeriods(version).map((period) => makeCells(describeVersionRef(version), period, show)),
  );
  return [
    { title: null, columns: ['version', 'made (UTC)', 'commit', 'author', 'subject'], rows: origins, item: 'version' },
    {
      title: null,
      columns: ['version', getWords(report).environment, 'pinned (UTC)', 'commit', 'subject'],
      rows: periods,
      item: 'pin',
    },
  ];
}

function makeLineageTable(prompt: ReportPrompt, lineage: ReportLineage, show: ShowText): HistoryTable {
  const { environment, serves, pinned } = lineage;
  const served = serves === null ? 'nothing' : `${describeHistoryVersion(serves)} (${show(serves.id)})`;
  const unpinned = pinned === null ? describeUnpinned(prompt) : null;
  // The title above the table already shows the present path of the file.
  const formerPath = serves?.path === undefined || serves.path === prompt.path ? [] : [serves.path];
  const noPath = formerPath.map(() => undefined);
  const rows = [
    ...(serves === null ? [] : [makeCells('made', [...makeOriginCells(serves), ...formerPath], show)]),
    ...(pinned === null ? [] : [makeCells('pinned', [...makeCommitCells(pinned), ...noPath], show)]),
    ...(unpinned === null ? [] : [makeCells('pinned', [undefined, undefined, undefined, unpinned, ...noPath], show)]),
  ];
  const columns = ['', 'date (UTC)', 'commit', 'author', 'subject', ...formerPath.map(() => 'path')];
  return { title: `${show(environment)} serves ${served}`, columns, rows, item: 'row' };
}

function describeHistoryVersion(version: Pick<ReportVersion, 'id' | 'version_number' | 'baseline'>): string {
  return `${describeVersionRef(version)}${version.baseline === true ? ' baseline' : ''}`;
}

/** Escapes even notes from promptsync, because they appear in the same columns as values from users. */
function makeCells(name: string, texts: CellTexts, show: ShowText): readonly string[] {
  return [name, ...texts.map((text) => (text === undefined ? '' : show(text)))];
}

type ReportVersion = ReportHistory['versions'][number];
/** The commit that created or pinned a version. `commit` is undefined if the version comes from no commit. */
type ReportCommit = Omit<NonNullable<ReportLineage['pinned']>, 'commit'> & { readonly commit?: string | undefined };
/** The origin of a version: its commit, its creator, and the message stored with it. */
type ReportVersionOrigin = ReportCommit & Pick<ReportVersion, 'made_by' | 'message' | 'created_at' | 'created_by'>;
/** The unescaped values of a table row. An undefined value leaves its cell empty. */
type CellTexts = readonly (string | undefined)[];

function makeCommitCells(info: ReportCommit): CellTexts {
  return [
    formatTime(info),
    info.commit && shortenCommitId(info.commit),
    info.author || undefined,
    formatSubject(info) || undefined,
  ];
}

/**
 * Returns the cells of the commit that a version comes from. If it is unknown, returns the time and the creator that
 * the service shows, and its message or, without one, a note about who created the version.
 */
function makeOriginCells(version: ReportVersionOrigin): CellTexts {
  const { message, made_by: maker, created_at: createdAt, created_by: createdBy } = version;
  const note = createdAt === undefined || maker !== 'unknown' ? MAKER_NOTES[maker] : undefined;
  const creator = createdBy === undefined ? undefined : describeCreator(createdBy);
  const { date, author = creator, subject = message?.split('\n', 1)[0] || note } = version;
  return makeCommitCells({ ...version, date: createdAt ?? date, author, subject });
}

/** The creator that a service reports if a version was created with an API key. */
const API_CREATOR = 'API';
/** The maximum length of a user id in a table, in characters. */
const USER_ID_LENGTH = 4;

/** Describes who created a version. A service provides only a user id, which is shown as `user 1a2b…`. */
function describeCreator(createdBy: string): string {
  return createdBy === API_CREATOR ? createdBy : `user ${shortenText(createdBy, USER_ID_LENGTH)}`;
}

/** The notes for versions with neither a commit subject nor a message. The keys say who created the version. */
const MAKER_NOTES = {
  git: undefined,
  'before-adoption': 'before adoption',
  outside: 'created outside git',
  uncommitted: 'from an uncommitted file',
  unknown: 'unknown: not recorded',
} as const satisfies Record<ReportVersionOrigin['made_by'], string | undefined>;

/** Formats a date in UTC, such as `2026-11-22 14:05`. Returns undefined if this clone lacks the commit. */
function formatTime({ date = '' }: ReportCommit): string | undefined {
  const time = Date.parse(date);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().slice(0, 16).replace('T', ' ');
}

/** Returns the subject of a commit. Appends the number of its pull request unless the subject already contains it. */
function formatSubject({ subject, pull_request: request }: ReportCommit): string | undefined {
  if (request === undefined || subject === undefined || subject.includes(`(${request})`)) return subject;
  return `${subject} (${request})`;
}

/**
 * Explains why no known commit pinned the version that an environment serves. Returns null if the file pins a different
 * version, because the report lists that difference separately.
 */
function describeUnpinned({ lineage, environments = [] }: ReportPrompt): string | null {
  const row = environments.find(({ environment }) => environment === lineage?.environment);
  if (row === undefined) return 'not by the file';
  return row.in_sync ? 'not by a known commit' : null;
}

/** Describes an environment that serves a different version than the file pins. */
export function describeDifference({ environment, active, pin, wanted }: ReportRow, show: ShowText): string {
  const serves = active === null ? 'nothing' : show(describeVersionRef(active));
  const wantedVersion = wanted === null ? null : describeVersionRef(wanted);
  // The pins `7` and `version:<id>` already identify their version, but `latest` and `git:<ref>` do not.
  const isNamedByPin = wantedVersion === `v${pin}` || wantedVersion === pin.replace(/^version:/, '');
  const pinnedVersion = wantedVersion === null || isNamedByPin ? '' : ` (${show(wantedVersion)})`;
  return `${show(environment)} serves ${serves}, but the file pins it to ${show(pin)}${pinnedVersion}.`;
}

/**
 * Returns the environment, time, commit and subject of each period in which the file pinned this version, and of each
 * environment that serves it without such a pin. Environments that serve it now come first.
 */
function listPeriods({ active_in: activeIn, pinned }: ReportVersion): readonly CellTexts[] {
  const open = pinned.filter(({ until }) => until === null).map(({ environment }) => environment);
  const unpinned = activeIn.filter((environment) => !open.includes(environment));
  const isServedNow = ({ until, served }: ReportVersion['pinned'][number]) => until === null && served;
  return [
    ...pinned.filter(isServedNow).map(makePeriodCells),
    ...unpinned.map((environment) => [environment, 'active now', undefined, undefined]),
    ...pinned.filter((period) => !isServedNow(period)).map(makePeriodCells),
  ];
}

function makePeriodCells({ environment, from, until, served }: ReportVersion['pinned'][number]): CellTexts {
  const [time, commit, , subject] = from === null ? [] : makeCommitCells(from);
  return [environment, `${time ?? '?'} → ${formatPeriodEnd(until, served)}`, commit, subject];
}

/** Returns a time, `now`, or `not served now` if the file still pins the version but nothing serves it. */
function formatPeriodEnd(until: ReportCommit | null, isServed: boolean): string {
  if (until !== null) return formatTime(until) ?? '?';
  return isServed ? 'now' : 'not served now';
}
