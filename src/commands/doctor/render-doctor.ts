import { REMAINS_POINT } from '../../conformance/requirements.ts';
import { isErrorPoint, type DoctorLevel, type DoctorPoint, type DoctorSection } from '../../domain/doctor-point.ts';
import { escapeLine } from '../../report/escape.ts';
import { type Colors, fitLine, narrowStyle, type OutputStyle } from '../../report/output-style.ts';
import { escapeJson, formatCount } from '../../text.ts';

/** Renders the points of all sections as JSON. `schemas/doctor.schema.json` describes the result. */
export function renderDoctorJson(sections: readonly DoctorSection[]): string {
  const points = sections.flatMap((section) => section.points);
  return `${escapeJson(JSON.stringify({ schema_version: 1, points }, null, 2))}\n`;
}

/** Shows each hint below its point. `quiet` keeps only errors, the summary, and what the check left behind. */
export function renderDoctorText(sections: readonly DoctorSection[], style: OutputStyle, quiet: boolean): string {
  const shown = sections.flatMap(({ title, points }): readonly DoctorSection[] => {
    const shownPoints = quiet ? points.filter(isShownIfQuiet) : points;
    return shownPoints.length === 0 ? [] : [{ title, points: shownPoints }];
  });
  const names = shown.flatMap(({ points }) => points.map(({ name }) => escapeLine(name)));
  const columns: PointColumns = {
    nameWidth: Math.min(MAX_NAME_WIDTH, Math.max(0, ...names.map((name) => countColumns(name, style)))),
    style,
  };
  const blocks = shown.map(({ title, points }) =>
    [style.colors.bold(title), ...points.flatMap((point) => renderPoint(point, columns))].join('\n'),
  );
  return `${[...blocks, renderDoctorSummary(sections)].join('\n\n')}\n`;
}

/** The list of what the check left behind stays visible, because the user may have to clean it up. */
function isShownIfQuiet(point: DoctorPoint): boolean {
  return isErrorPoint(point) || point.name === REMAINS_POINT;
}

/** The widest name that the other columns make room for. A longer name pushes the text after it to the right. */
const MAX_NAME_WIDTH = 26;
const LEVEL_WIDTH = 'warning'.length;
/** The width of the margin, the level and the gap before the name. Hints begin below the name. */
const HINT_INDENT = 2 + LEVEL_WIDTH + 2;

type PointColumns = { readonly nameWidth: number; readonly style: OutputStyle };

function renderPoint({ name, level, found, hint }: DoctorPoint, { nameWidth, style }: PointColumns): readonly string[] {
  const label = escapeLine(name);
  const padding = ' '.repeat(Math.max(0, nameWidth - countColumns(label, style)));
  const levelCell = paintLevel(level, style.colors)(level.padEnd(LEVEL_WIDTH));
  const foundIndent = HINT_INDENT + nameWidth + 2;
  const [first = '', ...rest] = wrapIndented(escapeLine(found), foundIndent, style);
  const row = `  ${levelCell}  ${label}${padding}  ${first.trimStart()}`;
  const hintRows = hint === null ? [] : wrapIndented(style.colors.dim(escapeLine(hint)), HINT_INDENT, style);
  return [row, ...rest, ...hintRows];
}

function wrapIndented(text: string, indent: number, style: OutputStyle): readonly string[] {
  return fitLine(text, narrowStyle(style, indent), 0).map((row) => `${' '.repeat(indent)}${row}`);
}

function countColumns(text: string, { screen }: OutputStyle): number {
  return screen?.width(text) ?? text.length;
}

function paintLevel(level: DoctorLevel, { green, yellow, red }: Colors): (text: string) => string {
  const paints = { ok: green, warning: yellow, error: red } as const satisfies Record<DoctorLevel, unknown>;
  return paints[level];
}

function renderDoctorSummary(sections: readonly DoctorSection[]): string {
  const points = sections.flatMap((section) => section.points);
  const count = (wanted: DoctorLevel): number => points.filter(({ level }) => level === wanted).length;
  return `${count('ok')} ok, ${formatCount(count('warning'), 'warning')}, ${formatCount(count('error'), 'error')}.`;
}
