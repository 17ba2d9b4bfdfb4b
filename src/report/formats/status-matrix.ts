import { escapeLine } from '../escape.ts';
import { renderErrors } from '../problem-list.ts';
import type { Report, ReportChange, ReportDrift, ReportPrompt, ReportRow } from '../schema/report-schema.ts';
import {
  fitLine,
  layOutTable,
  makeOutputStyle,
  type TableCell,
  type Colors,
  type OutputStyle,
} from '../output-style.ts';
import { hasPlan, renderSummary } from './summary.ts';
import type { TextOptions } from './terminal-text.ts';
import { describeOrphans, describeVersionRef, getWords } from '../describe-report.ts';
import { describeLongestWait } from '../waiting-promotions.ts';

/** Renders `promptsync status` as a table of the active and the desired versions. Ends with a line feed. */
export function renderStatus(report: Report, options: TextOptions): string {
  const style = makeOutputStyle(options);
  const blocks = options.quiet || !hasPlan(report) ? [] : renderMatrixBlocks(report, style);
  return [
    ...blocks.filter((lines) => lines.length > 0).map((lines) => `${lines.join('\n')}\n`),
    ...renderOrphanLines(report, options, style),
    ...renderErrors(report, style),
    `${renderSummary(report, style)}\n`,
  ].join('\n');
}

function renderOrphanLines(report: Report, { quiet }: TextOptions, style: OutputStyle): readonly string[] {
  const texts = quiet ? [] : describeOrphans(report, escapeLine);
  if (texts.length === 0) return [];
  return [[style.colors.bold('orphans'), ...texts].flatMap((text) => fitLine(text, style, 2)).join('\n') + '\n'];
}

/** Renders the table and its notes. If it is too wide, lists the environments below the key of each prompt. */
function renderMatrixBlocks(report: Report, style: OutputStyle): readonly (readonly string[])[] {
  const { colors, screen } = style;
  const environments = listEnvironments(report);
  const header = ['prompt', ...environments].map((text) => ({ text: escapeLine(text), paint: colors.bold }));
  const rows = sortByAttention(report.prompts).map((prompt) => makeMatrixRow(prompt, environments, colors));
  const signs = [
    ...listMatrixSigns(report),
    ...(report.prompts.some(hasChangedFields) ? [FIELD_SIGN] : []),
    ...(report.prompts.some(hasPathId) ? [PATH_ID_SIGN] : []),
  ];
  const table = layOutTable([header, ...rows]);
  const isWide = (line: string) => screen !== null && screen.width(line) > screen.columns;
  if (!table.some(isWide)) return [table, renderNotes(report, signs, style)];
  const list = rows.flatMap(([name, ...cells]) => [
    ...fitLine(name?.text ?? '', style, 2),
    ...cells.flatMap(({ text, paint }, column) =>
      text === UNPINNED ? [] : fitLine(`  ${escapeLine(environments[column] ?? '')}: ${paint(text)}`, style, 4),
    ),
  ]);
  const shownSigns = signs.filter(({ sign }) => sign !== UNPINNED);
  return [list, renderNotes(report, shownSigns, style)];
}

/** Renders the meanings of signs, and the environment that has waited longest for a promotion. */
function renderNotes({ prompts }: Report, signs: readonly MatrixSign[], style: OutputStyle): readonly string[] {
  const legend = signs.map(({ sign, meaning }) => style.colors.dim(`${sign}: ${meaning}`));
  const longestWait = describeLongestWait(prompts, escapeLine);
  return [...legend, ...(longestWait === null ? [] : [longestWait])].flatMap((note) => fitLine(note, style, 2));
}

/** A `~` after the key means that fields change, and a `*` that the id comes from the path of the prompt file. */
function makeMatrixRow(prompt: ReportPrompt, environments: readonly string[], colors: Colors): readonly TableCell[] {
  const pathIdMark = hasPathId(prompt) ? ` ${PATH_ID_SIGN.sign}` : '';
  const fieldMark = hasChangedFields(prompt) ? ` ${FIELD_SIGN.sign}` : '';
  const driftMark = prompt.drift.some((drift) => 'field' in drift) ? ` ${DRIFT_SIGN}` : '';
  const cells = environments.map((environment) => {
    const cell = makeMatrixCell(prompt, environment);
    const isApart = cell.kind === 'in-sync' && cell.behind + cell.ahead > 0;
    return { text: formatMatrixCell(cell), paint: isApart ? colors.cyan : colors[CELL_COLORS[cell.kind]] };
  });
  return [{ text: `${escapeLine(prompt.key)}${pathIdMark}${fieldMark}${driftMark}`, paint: (text) => text }, ...cells];
}

function hasChangedFields({ changes }: ReportPrompt): boolean {
  return changes.some(({ kind }) => kind === 'update-prompt');
}

function hasPathId({ id_source: idSource }: ReportPrompt): boolean {
  return idSource === 'path';
}

const CELL_COLORS = {
  unpinned: 'dim',
  unread: 'red',
  'in-sync': 'green',
  differs: 'yellow',
  change: 'yellow',
  unresolved: 'red',
  pin: 'yellow',
} as const satisfies Record<MatrixCell['kind'], keyof Colors>;

/** The state of one prompt in one environment. `now` and `next` are escaped for use within a line. */
export type MatrixCell = {
  /**
   * The kind of state:
   * - `unpinned`: the file does not pin the environment.
   * - `unread`: promptsync could not read the prompt from the service.
   * - `in-sync`: the environment serves the version that the file pins.
   * - `change`: the plan activates a different version in the environment.
   * - `differs`: the environment serves a different version than the file pins, and the plan does not change this.
   * - `unresolved`: no known version matches the pin.
   * - `pin`: a command edits the pin in the prompt file.
   */
  readonly kind: 'unpinned' | 'unread' | 'in-sync' | 'change' | 'differs' | 'pin' | 'unresolved';
  /** The version before any change or, for the kind `pin`, the old pin. Empty if there was none or it was not read. */
  readonly now: string;
  /**
   * The version after a sync. For the kind `pin`, this is the new pin, and for `unresolved`, the pin with a question
   * mark. Empty for the kinds `unpinned`, `unread` and `in-sync`.
   */
  readonly next: string;
  /** The number of versions by which the environment is behind its promotion source. 0 if it is not behind. */
  readonly behind: number;
  /** The number of versions by which the environment is ahead of its promotion source. 0 if it is not ahead. */
  readonly ahead: number;
  readonly drift: ReportDrift | null;
  /** The result of the change in this environment. Undefined if there is no change, or if no sync has attempted it. */
  readonly status: ReportChange['status'];
};

/**
 * Returns the configured environments in promotion order, then others. With `--environment`, returns only those that
 * the prompts mention. Without a configured order, starts with the prompt that mentions environments most often.
 */
export function listEnvironments(report: Report): readonly string[] {
  const { prompts, promotion_order: order = [], environments: selected } = report;
  const lists = prompts.map(({ environments = [], edits = [], changes, drift }) =>
    [...environments, ...edits, ...changes, ...drift].flatMap((part) =>
      'environment' in part ? [part.environment] : [],
    ),
  );
  const mentioned = new Set(lists.toSorted((a, b) => b.length - a.length).flat());
  return [...new Set([...order.filter((name) => selected === undefined || mentioned.has(name)), ...mentioned])];
}

/** Prefers a change over an edit, and an edit over the current state. */
export function makeMatrixCell(prompt: ReportPrompt, environment: string): MatrixCell {
  const hasEnvironment = (part: object): boolean => 'environment' in part && part.environment === environment;
  const change = prompt.changes.find(hasEnvironment);
  const common = {
    behind: countVersions(prompt.waiting, environment),
    ahead: countVersions(prompt.ahead, environment),
    drift: prompt.drift.find(hasEnvironment) ?? null,
    status: change?.status,
  };
  if (change?.kind === 'set-active') {
    return {
      ...common,
      kind: 'change',
      now: describeVersionRef(change.before),
      next: describeVersionRef(change.after),
    };
  }
  const edit = prompt.edits?.find(hasEnvironment);
  if (edit?.kind === 'set-pin') {
    return { ...common, kind: 'pin', now: escapeLine(edit.before ?? ''), next: escapeLine(edit.after) };
  }
  return { ...common, ...makeUnchangedCell(prompt.environments?.find(hasEnvironment), prompt) };
}

/** Returns by how many versions an environment is behind or ahead, or 0 if the rows do not contain it. */
function countVersions(rows: ReportPrompt['ahead'], environment: string): number {
  return rows?.find((one) => one.environment === environment)?.versions ?? 0;
}

function makeUnchangedCell(
  row: ReportRow | undefined,
  { status }: ReportPrompt,
): Pick<MatrixCell, 'kind' | 'now' | 'next'> {
  if (row === undefined) return { kind: 'unpinned', now: '', next: '' };
  const now = describeVersionRef(row.active);
  if (row.in_sync) return { kind: 'in-sync', now, next: '' };
  if (status === 'failed' || status === 'not_attempted') return { kind: 'unread', now: '', next: '' };
  return row.wanted === null
    ? { kind: 'unresolved', now, next: `${escapeLine(row.pin)}?` }
    : { kind: 'differs', now, next: describeVersionRef(row.wanted) };
}

/** The content of a cell if the file does not pin the environment. */
const UNPINNED = '·';

/** Returns text such as `v6`, `v6 ↑2`, `v6 → v7 drift`, or `v6 → 7?` if no known version matches the pin. */
export function formatMatrixCell(cell: MatrixCell): string {
  const { kind, now, next, drift } = cell;
  if (kind === 'unpinned') return UNPINNED;
  if (kind === 'unread') return '?';
  const distance = formatDistance(cell);
  const current = distance === '' ? now : `${now} ${distance}`;
  const state = kind === 'in-sync' ? current : `${current} → ${next}`;
  return drift === null ? state : `${state} ${DRIFT_SIGN}`;
}

/** Returns `↑2` for two versions behind the promotion source, `↓2` for two ahead of it, or an empty string. */
export function formatDistance({ behind, ahead }: Pick<MatrixCell, 'behind' | 'ahead'>): string {
  if (behind > 0) return `↑${behind}`;
  return ahead > 0 ? `↓${ahead}` : '';
}

type MatrixSign = { readonly sign: string; readonly meaning: string };

const FIELD_SIGN: MatrixSign = { sign: '~', meaning: 'a sync would change the key, the name, or the description' };

const PATH_ID_SIGN: MatrixSign = { sign: '*', meaning: 'the id comes from the path of the file' };

const DRIFT_SIGN = 'drift';

/** Returns the signs in the cells of a report that need an explanation. */
export function listMatrixSigns(report: Report): readonly MatrixSign[] {
  const { service, environment } = getWords(report);
  const environments = listEnvironments(report);
  const cells = report.prompts.flatMap((prompt) => environments.map((one) => makeMatrixCell(prompt, one)));
  const behind = { sign: '↑n', meaning: 'at least n versions behind its promotion source' };
  const ahead = {
    sign: '↓n',
    meaning: 'at least n versions ahead of its promotion source, so promote leaves it alone',
  };
  const unpinned = { sign: UNPINNED, meaning: `the file does not pin this ${environment}` };
  const drift = {
    sign: DRIFT_SIGN,
    meaning: `${service} differs from git; for details, run promptsync plan`,
  };
  const unresolved = {
    sign: 'n?',
    meaning: 'promptsync did not find the pinned version; for details, run promptsync plan',
  };
  return [
    ...(cells.some(({ kind }) => kind === 'unresolved') ? [unresolved] : []),
    ...(cells.some((cell) => cell.behind > 0) ? [behind] : []),
    ...(cells.some((cell) => cell.ahead > 0) ? [ahead] : []),
    ...(cells.some(({ kind }) => kind === 'unpinned') ? [unpinned] : []),
    ...(report.prompts.some(({ drift }) => drift.length > 0) ? [drift] : []),
  ];
}

/** Puts unread and blocked prompts first, then those that differ from their files, then those behind or ahead. */
export function sortByAttention(prompts: readonly ReportPrompt[]): readonly ReportPrompt[] {
  return prompts.toSorted((one, other) => rankAttention(one) - rankAttention(other));
}

/** Returns a rank that is lower if the prompt needs more attention. */
function rankAttention({ status, changes, drift, environments = [], waiting = [], ahead = [] }: ReportPrompt): number {
  if (status === 'failed' || status === 'not_attempted') return 0;
  if (status === 'blocked') return 1;
  const differs = changes.length + drift.length > 0 || environments.some(({ in_sync: inSync }) => !inSync);
  if (differs) return 2;
  return waiting.length + ahead.length > 0 ? 3 : 4;
}
