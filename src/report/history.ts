import { type Colours, fitted, type Style, styleFor, type StyleOptions } from './style.ts';
import { escapeLine } from './escape.ts';
import { differingRows, hasHistory, renderSummary } from './summary.ts';
import { promptTitle } from './text.ts';
import { renderErrors } from './problems.ts';
import type { Report, ReportHistory, ReportLineage, ReportPrompt } from './schema.ts';
import { type Cell, layOut } from './table.ts';
import { refText, type Show } from './words.ts';

export type HistoryOptions = StyleOptions & {
  /** Problems and the summary only. */
  readonly quiet: boolean;
};

/** The versions of prompts, or where what an environment serves comes from. Ends with a line feed. */
export function renderHistory(report: Report, options: HistoryOptions): string {
  const style = styleFor(options);
  const shown = options.quiet ? [] : report.prompts.filter(hasHistory).map((prompt) => renderPrompt(prompt, style));
  return [...shown, ...renderErrors(report, style), `${renderSummary(report, style)}\n`].join('\n');
}

function renderPrompt(prompt: ReportPrompt, style: Style): string {
  const { history, lineage } = prompt;
  const { colours } = style;
  const body =
    lineage === undefined
      ? versionLines(history?.versions ?? [], style)
      : lineageLines(prompt, lineage, style).flatMap((line) => fitted(line, style, line.startsWith(' ') ? HANG : 2));
  const drift = differingRows(prompt).map((row) => colours.yellow(`! ${differsText(row, escapeLine)}`));
  const notes = drift.flatMap((line) => fitted(line, style, 2));
  return [...promptTitle(prompt, style), ...body, ...notes].map((line) => `${line}\n`).join('');
}

/** Where the texts begin that follow `made` and `pinned`. */
const HANG = 10;
const HEADER = ['version', 'made', 'commit', 'author', 'subject'];

/** A table whose rows are each followed by where the version has been: lines of a table of their own. */
function versionLines(versions: readonly Version[], style: Style): readonly string[] {
  const { colours, screen } = style;
  if (versions.length === 0) return ['No version is known.'];
  const header = HEADER.map((text) => ({ text, paint: colours.dim }));
  const [first = '', ...lines] = layOut([header, ...versions.map((version) => versionCells(version, colours))], style);
  const stays = versions.flatMap((version) => stayRows(version, colours).map((cells) => ({ version, cells })));
  const stayLines = layOut(
    stays.map(({ cells }) => cells),
    style,
  );
  const below = (version: Version) => stayLines.filter((_, index) => stays[index]?.version === version);
  const all = [first, ...versions.flatMap((version, index) => [lines[index] ?? '', ...below(version)])];
  return screen === null ? all : all.map(screen.cut);
}

function versionCells(version: Version, { bold }: Colours): readonly Cell[] {
  return [{ text: `v${version.version_number}`, paint: bold }, ...madeTexts(version).map(cell)];
}

function stayRows(version: Version, { green, yellow, dim }: Colours): readonly (readonly Cell[])[] {
  const paints = { now: green, unserved: yellow, past: dim };
  return staysOf(version).map(({ environment, when, state, by }) => {
    const paint = paints[state];
    const [, commit, , subject] = by === null ? [] : commitTexts(by);
    const cells = by === null ? [] : [cell(commit), cell(subject)];
    return [{ text: `  ${escapeLine(environment)}`, paint }, { text: when, paint }, ...cells];
  });
}

function lineageLines(prompt: ReportPrompt, lineage: ReportLineage, style: Style): readonly string[] {
  const { bold, dim } = style.colours;
  const { environment, serves, pinned } = lineage;
  const served = serves === null ? 'nothing' : `${refText(serves)} ${dim(`(${escapeLine(serves.id)})`)}`;
  const maker = serves === null ? null : makerText(serves);
  const unpinned = pinned === null ? unpinnedText(prompt) : null;
  return [
    `${bold(escapeLine(environment))} serves ${served}`,
    ...(maker === null ? [] : [`${MADE}  ${maker}`]),
    ...layOut(
      [
        ...(serves === null || maker !== null
          ? []
          : [[cell(MADE), ...withPath(commitTexts(serves).map(cell), serves.path)]]),
        ...(pinned === null ? [] : [[cell(PINNED), ...commitTexts(pinned).map(cell)]]),
      ],
      style,
    ),
    ...(unpinned === null ? [] : [`${PINNED}  ${unpinned}`]),
  ];
}

/** In the last cell, so that a long subject below does not move it. */
function withPath(cells: readonly Cell[], path: string | undefined): readonly Cell[] {
  const last = path === undefined ? '' : `  ${escapeLine(path)}`;
  return cells.map((one, index) => (index + 1 < cells.length ? one : { ...one, text: `${one.text}${last}` }));
}

const [MADE, PINNED] = ['  made  ', '  pinned'] as const;

/** What is not known is a dot. */
function cell(text: string | undefined): Cell {
  return { text: text === undefined ? '·' : escapeLine(text), paint: (one) => one };
}

/** A part of a prompt's history. */
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

function lineageTable(prompt: ReportPrompt, lineage: ReportLineage, show: Show): HistoryTable {
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
function cellWith(show: Show): (text: string | undefined) => string {
  return (text) => (text === undefined ? '' : show(text));
}

type Version = ReportHistory['versions'][number];
/** A commit of a report; a version has none where it was made from none. */
type Commit = Omit<NonNullable<ReportLineage['pinned']>, 'commit'> & { readonly commit?: string | undefined };
/** A version by where it comes from. */
type Made = Commit & Pick<Version, 'made_by'>;
type Row = NonNullable<ReportPrompt['environments']>[number];

/** Day, commit, author and subject as they are shown, not escaped; undefined what is not known. */
type CommitTexts = readonly [
  day: string | undefined,
  commit: string | undefined,
  author: string | undefined,
  subject: string | undefined,
];

function commitTexts(info: Commit): CommitTexts {
  return [dayOf(info), info.commit?.slice(0, 12), info.author || undefined, subjectOf(info) || undefined];
}

/** The same of a version's commit; who made one that comes from none stands in the subject's place. */
function madeTexts(version: Made): CommitTexts {
  const [day, commit, author, subject] = commitTexts(version);
  return [day, commit, author, makerText(version) ?? subject];
}

/** Who made a version that comes from no commit; null for one that does. */
function makerText({ made_by: by }: Made): string | null {
  return MAKERS[by];
}

const MAKERS = {
  git: null,
  outside: 'by somebody outside of git',
  uncommitted: 'from a file that was not committed',
  unknown: 'not known: the service keeps no metadata',
} as const satisfies Record<Made['made_by'], string | null>;

/** A commit that git does not have has no date. */
function dayOf({ date }: Commit): string | undefined {
  return /^\d{4}-\d\d-\d\d/.exec(date ?? '')?.[0];
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
export function differsText({ environment, active, pin, wanted }: Row, show: Show): string {
  const serves = active === null ? 'nothing' : show(refText(active));
  const said = [`v${pin}`, pin.replace(/^version:/, '')];
  const meant = wanted === null || said.includes(refText(wanted)) ? '' : ` (${show(refText(wanted))})`;
  return `${show(environment)} serves ${serves}, but the file pins it to ${show(pin)}${meant}.`;
}

/** One environment's time with a version. */
type Stay = {
  readonly environment: string;
  readonly when: string;
  /** `unserved`: the file still says so, and something else is served. */
  readonly state: 'now' | 'unserved' | 'past';
  /** The commit that pinned it; null where no pin says so, or none is known. */
  readonly by: Commit | null;
};

/** Where a version is active and was pinned; what is served now comes first. */
function staysOf({ active_in: activeIn, pinned }: Version): readonly Stay[] {
  const open = pinned.filter(({ until }) => until === null).map(({ environment }) => environment);
  const unpinned = activeIn.filter((environment) => !open.includes(environment));
  const stays = pinned.map(stayOf);
  return [
    ...stays.filter(({ state }) => state === 'now'),
    ...unpinned.map((environment): Stay => ({ environment, when: 'active now', state: 'now', by: null })),
    ...stays.filter(({ state }) => state !== 'now'),
  ];
}

function stayOf({ environment, from, until, served }: Version['pinned'][number]): Stay {
  const state = until !== null ? 'past' : served ? 'now' : 'unserved';
  const ends = { now: 'now', unserved: 'not served', past: until === null ? '' : (dayOf(until) ?? '?') };
  return { environment, when: `${(from === null ? undefined : dayOf(from)) ?? '?'} → ${ends[state]}`, state, by: from };
}
