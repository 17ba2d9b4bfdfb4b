import { isMap, isPair, isScalar, isSeq, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import type { Span } from './replacement.ts';

/** Where an entry begins: at its key, or at the `?` before it. */
export function startOf({ key, srcToken }: Pair): number {
  return srcToken?.start.find(({ type }) => type === 'explicit-key-ind')?.offset ?? spanOf(key).start;
}

/** Where the last line that is an entry's own has its last character: no comment or blank line after it is. */
export function endOf(text: string, { key, value }: Pair): number {
  return nodeEnd(text, value ?? key);
}

/** A node without the comments after it. */
export function spanOf(node: unknown): Span {
  const [start, end] = (isScalar(node) || isMap(node) || isSeq(node) ? node.range : null) ?? [0, 0];
  return { start, end };
}

/** The whole lines that an entry of a block mapping takes, a comment on the last of them included. */
export function linesOf(text: string, pair: Pair): Span {
  return { start: lineStart(text, startOf(pair)), end: nextLine(text, endOf(text, pair)) };
}

/** Where the line of the offset begins. */
export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** Where the line after the one of the offset begins. The text ends with a line feed. */
export function nextLine(text: string, offset: number): number {
  return text.indexOf('\n', offset) + 1;
}

/** Whether nothing but blanks is before the offset on its line. */
export function beginsLine(text: string, offset: number): boolean {
  return text.slice(lineStart(text, offset), offset).trim() === '';
}

/** Whether a node is a text after `|` or `>`. */
export function isBlockScalar(node: unknown): node is Scalar {
  return isScalar(node) && (node.type === 'BLOCK_FOLDED' || node.type === 'BLOCK_LITERAL');
}

/** Whether a node is a mapping or a list without braces and brackets. */
export function isBlockCollection(node: unknown): node is YAMLMap | YAMLSeq {
  return (isMap(node) || isSeq(node)) && node.flow !== true;
}

/** The library counts comments after the last item of a block collection as part of it. */
function nodeEnd(text: string, node: unknown): number {
  const span = spanOf(node);
  if (isBlockScalar(node)) return blockScalarEnd(text, span);
  if (!isBlockCollection(node)) return span.end;
  const last: unknown = node.items.at(-1);
  return isPair(last) ? endOf(text, last) : nodeEnd(text, last);
}

/** Where a block scalar ends without the line feeds that are not part of its value: with `+` all but the last one are. */
function blockScalarEnd(text: string, { start, end }: Span): number {
  const keeps = /^[^\s#]*\+/.test(text.slice(start, end));
  if (keeps) return text[end - 1] === '\n' ? end - 1 : end;
  let at = end;
  while (text[at - 1] === '\n') at -= 1;
  return at;
}
