import { stripVTControlCharacters } from 'node:util';

/** The colors of a terminal, by their names in CSS. */
export type TerminalTheme = Readonly<Record<'foreground' | 'background' | 'green' | 'red' | 'yellow', string>> &
  Readonly<Record<'blue' | 'magenta' | 'cyan' | 'gray', string>>;

type SpanStyle = {
  readonly color: keyof TerminalTheme | null;
  readonly isBold: boolean;
  /** Whether the terminal swaps text color and background. The recording underlines such text instead. */
  readonly isReversed: boolean;
};

/** A part of a line with one style. */
type Span = SpanStyle & { readonly text: string };

/** Lines that appear at the same time. `at` is in seconds from the start. */
type Frame = { readonly lines: readonly string[]; readonly at: number };

const ROWS = 24;
const FONT_SIZE = 14;
const LINE_HEIGHT = 19;
const COLUMN_WIDTH = FONT_SIZE * 0.602;
const PADDING = 16;

/** Seconds for which the recording stays as it is after a line of each kind, and at the end. */
const PAUSE = { narration: 1.2, command: 0.5, outputLine: 0.08, output: 0.8, end: 4 };

const COLORS: Readonly<Record<string, keyof TerminalTheme>> = {
  31: 'red',
  32: 'green',
  33: 'yellow',
  34: 'blue',
  35: 'magenta',
  36: 'cyan',
  90: 'gray',
};

/**
 * Makes an animated SVG from the output of a command in a terminal. Commands appear before their output. If the reader
 * prefers reduced motion, the SVG shows the first lines and does not move.
 * @param written the output, with ANSI color codes
 * @param columns the width of the terminal
 */
export function makeRecording(written: string, columns: number, theme: TerminalTheme): string {
  const lines = written.trim().replaceAll('\r', '').split('\n');
  const frames = makeFrames(lines);
  const duration = (frames.at(-1)?.at ?? 0) + PAUSE.end;
  const width = Math.ceil(columns * COLUMN_WIDTH) + 2 * PADDING;
  const height = ROWS * LINE_HEIGHT + 2 * PADDING;
  let row = 0;
  const groups = frames.map((frame, index) => {
    const texts = frame.lines.map((line, offset) => renderLine(line, row + offset, theme)).join('');
    row += frame.lines.length;
    return `<g class="f" style="animation-name:f${index}">${texts}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A recording of promptsync demo in a terminal"><style>
text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:${theme.foreground}}
.b{font-weight:bold}
@media not (prefers-reduced-motion:reduce){.f,.s{animation-duration:${duration.toFixed(1)}s;animation-iteration-count:infinite;animation-timing-function:step-end}.s{animation-name:s}}
${renderKeyframes(frames, duration)}
</style><rect width="${width}" height="${height}" rx="8" fill="${theme.background}"/><svg x="${PADDING}" y="${PADDING}" width="${width - 2 * PADDING}" height="${ROWS * LINE_HEIGHT}"><g class="s">${groups.join('')}</g></svg></svg>
`;
}

/** Divides the lines into frames: each narration, each command, and the output of each command. */
function makeFrames(lines: readonly string[]): readonly Frame[] {
  const frames: Frame[] = [];
  let at = 0;
  let output: string[] = [];
  const add = (frameLines: readonly string[], pause: number): void => {
    frames.push({ lines: frameLines, at });
    at += pause;
  };
  const addOutput = (): void => {
    if (output.length > 0) add(output, PAUSE.output + output.length * PAUSE.outputLine);
    output = [];
  };
  for (const line of lines) {
    const isNarration = line.startsWith('\u001b[36m');
    if (!isNarration && !isCommand(line)) {
      output.push(line);
      continue;
    }
    addOutput();
    add([line], isNarration ? PAUSE.narration : PAUSE.command);
  }
  addOutput();
  return frames;
}

function isCommand(line: string): boolean {
  return stripVTControlCharacters(line).startsWith('$ ');
}

/** Shows each frame at its time, and scrolls so that the last line of the frame is visible. */
function renderKeyframes(frames: readonly Frame[], duration: number): string {
  const percent = (at: number): string => `${((at / duration) * 100).toFixed(2)}%`;
  let rows = 0;
  const scrolled = frames.map(({ lines, at }) => {
    rows += lines.length;
    const offset = Math.max(0, rows - ROWS) * LINE_HEIGHT;
    return `${percent(at)}{transform:translateY(-${offset}px)}`;
  });
  const appearances = frames.map(({ at }, index) => {
    const hidden = at === 0 ? '' : '0%{visibility:hidden}';
    return `@keyframes f${index}{${hidden}${percent(at)}{visibility:visible}100%{visibility:visible}}`;
  });
  return [...appearances, `@keyframes s{${scrolled.join('')}}`].join('\n');
}

function renderLine(line: string, row: number, theme: TerminalTheme): string {
  const spans = splitSpans(line).filter(({ text }) => text !== '');
  if (spans.length === 0) return '';
  const y = row * LINE_HEIGHT + FONT_SIZE;
  return `<text y="${y}">${spans.map((span) => renderSpan(span, theme)).join('')}</text>`;
}

function renderSpan({ text, color, isBold, isReversed }: Span, theme: TerminalTheme): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const attributes = [
    ...(isBold ? [' class="b"'] : []),
    ...(color === null ? [] : [` fill="${theme[color]}"`]),
    ...(isReversed ? [' text-decoration="underline"'] : []),
  ];
  return attributes.length === 0 ? escaped : `<tspan${attributes.join('')}>${escaped}</tspan>`;
}

/** Splits a line at its ANSI color codes. */
function splitSpans(line: string): readonly Span[] {
  let style = PLAIN;
  const spans: Span[] = [];
  // Splitting at a pattern with one group puts the codes at the odd positions.
  for (const [index, part] of line.split(/\u001b\[([\d;]*)m/).entries()) {
    if (index % 2 === 0) spans.push({ text: part, ...style });
    else style = part.split(';').reduce(applyCode, style);
  }
  return spans;
}

const PLAIN: SpanStyle = { color: null, isBold: false, isReversed: false };

/** Returns the style after an ANSI code. Dim text has the color gray. */
function applyCode(style: SpanStyle, code: string): SpanStyle {
  switch (code) {
    case '1':
      return { ...style, isBold: true };
    case '2':
      return { ...style, color: 'gray' };
    case '22':
      return { ...style, color: style.color === 'gray' ? null : style.color, isBold: false };
    case '7':
      return { ...style, isReversed: true };
    case '27':
      return { ...style, isReversed: false };
    case '':
    case '0':
      return PLAIN;
    case '39':
      return { ...style, color: null };
    default:
      return { ...style, color: COLORS[code] ?? style.color };
  }
}
