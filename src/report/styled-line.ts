import { linked } from './links.ts';

/** A part of a line that is drawn in one way. */
export type Run = {
  readonly text: string;
  /** Numbers of the sequences that begin its styles, in order. */
  readonly codes: readonly number[];
  /** The address that it links to; empty: none. */
  readonly link: string;
};

/** The sequences that this tool itself writes; in inert text there is no other. */
const SEQUENCE = /\u001b\[(\d+)m|\u001b\]8;;([!-~]*)\u001b\\/g;

/** A line with colours and links as runs. */
export function parseStyled(line: string): readonly Run[] {
  const runs: Run[] = [];
  let [codes, link, start]: [readonly number[], string, number] = [[], '', 0];
  const take = (end: number): void => {
    if (end > start) runs.push({ text: line.slice(start, end), codes, link });
  };
  for (const match of line.matchAll(SEQUENCE)) {
    take(match.index);
    start = match.index + match[0].length;
    if (match[1] === undefined) link = match[2] ?? '';
    else codes = codesAfter(codes, Number(match[1]));
  }
  take(line.length);
  return runs;
}

function codesAfter(codes: readonly number[], code: number): readonly number[] {
  const rest = codes.filter((one) => closing(one) !== code);
  return closing(code) === null ? rest : [...rest, code];
}

/** The sequence that ends a style; null for what begins none. */
function closing(code: number): number | null {
  if (code === 1 || code === 2) return 22;
  if ([3, 4, 7, 8, 9].includes(code)) return code + 20;
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return 39;
  return (code >= 40 && code <= 47) || (code >= 100 && code <= 107) ? 49 : null;
}

/** Each run ends its own styles, so that none reaches over the end of a row. */
export function writeStyled(runs: readonly Run[]): string {
  return runs.map(writeRun).join('');
}

function writeRun({ text, codes, link }: Run): string {
  const open = codes.map((code) => `\u001b[${code}m`).join('');
  const close = codes.map((code) => `\u001b[${closing(code) ?? 0}m`).toReversed();
  return linked(`${open}${text}${close.join('')}`, link);
}

/** The part between two offsets of the text. */
export function sliceRuns(runs: readonly Run[], start: number, end: number): readonly Run[] {
  let offset = 0;
  return runs.flatMap((run) => {
    const text = run.text.slice(Math.max(0, start - offset), Math.max(0, end - offset));
    offset += run.text.length;
    return text === '' ? [] : [{ ...run, text }];
  });
}
