import { isMap, isPair, isScalar, isSeq, type Pair, type YAMLMap, type YAMLSeq } from 'yaml';
import { isJsonObject, type JsonValue } from '../domain/json.ts';
import type { Span } from './front-matter.ts';
import { parseYamlDocument } from './strict-yaml.ts';
import { renderBlockScalar, renderYamlLines, renderYamlValue, type TextStyle } from './render-yaml.ts';

export type TextReplacement = Span & { readonly text: string };

/**
 * One value of a mapping to set or, where it is undefined, to remove. The path names keys from the outermost inwards;
 * what is no mapping on its way gives way.
 */
export type YamlEdit = {
  readonly path: readonly string[];
  readonly value: JsonValue | undefined;
  /**
   * What stands behind the value where it is on a line of its own, instead of a comment of digits alone; empty: nothing.
   * Absent: comments stay.
   */
  readonly comment?: string;
};

/** The entry that a path leads to, or the innermost mapping on its way and what of the path is left. */
type EntryTarget = {
  readonly map: YAMLMap;
  readonly key: string;
  readonly pair: Pair | undefined;
  readonly rest: readonly string[];
};

/**
 * What to replace in the source of a strict YAML mapping so that it holds an edit. All other characters stay. There is
 * nothing to replace where the edit has no effect, and in rare shapes that replacing cannot edit, such as a flow mapping
 * over several lines that loses an entry: whoever calls reads the result and compares it with what was meant.
 * @param text whole lines: it ends with a line feed
 */
export function makeYamlReplacements(text: string, { path, value, comment }: YamlEdit): readonly TextReplacement[] {
  const target = findTarget(text, path);
  if (target === null) return [];
  if (value === undefined) return removeEntry(text, target, path);
  const replacements = setValue(text, target, value);
  return comment === undefined || target.map.flow === true || isBlockScalar(target.pair?.value)
    ? replacements
    : replacements.map((one) => addComment(text, one, comment));
}

function addComment(text: string, { start, end, text: written }: TextReplacement, comment: string): TextReplacement {
  const before = /^[ \t]+# \d+(?=[ \t]*\n)/.exec(text.slice(end))?.[0] ?? '';
  const lines = written.endsWith('\n') ? '\n' : '';
  const behind = comment === '' ? '' : `  # ${comment}`;
  return { start, end: end + before.length, text: written.slice(0, written.length - lines.length) + behind + lines };
}

export function editYamlText(text: string, edit: YamlEdit): string {
  return makeYamlReplacements(text, edit).reduceRight(
    (after, one) => after.slice(0, one.start) + one.text + after.slice(one.end),
    text,
  );
}

/** Null when the text is no mapping. */
function findTarget(text: string, path: readonly string[]): EntryTarget | null {
  // As the parser of prompt files does: without the last line feed.
  const root = parseYamlDocument(text.slice(0, -1), { keepSourceTokens: true })?.contents;
  return isMap(root) ? followPath(root, path) : null;
}

function followPath(map: YAMLMap, [key = '', ...rest]: readonly string[]): EntryTarget {
  const pair = map.items.find((one) => isScalar(one.key) && one.key.value === key);
  return pair !== undefined && rest.length > 0 && isMap(pair.value)
    ? followPath(pair.value, rest)
    : { map, key, pair, rest };
}

function setValue(text: string, { map, key, pair, rest }: EntryTarget, value: JsonValue): readonly TextReplacement[] {
  const whole = rest.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value);
  return pair === undefined ? [insertEntry(text, map, key, whole)] : replaceValue(text, map, pair, whole);
}

/** Puts an entry after the last one of a mapping. What follows that one, a comment or a comma, stays after it. */
function insertEntry(text: string, map: YAMLMap, key: string, value: JsonValue): TextReplacement {
  const last = map.items.at(-1);
  if (map.flow === true) {
    const entry = renderYamlValue({ [key]: value }, chooseMappingStyle(map)).slice(1, -1);
    return last === undefined
      ? makeInsertion(findSpan(map).start + 1, entry)
      : makeInsertion(findPairEnd(text, last), `, ${entry}`);
  }
  const indent = findIndent(map);
  const below = findNextLine(text, last === undefined ? text.length - 1 : findPairEnd(text, last));
  return makeInsertion(
    below + measureIndentedComments(text.slice(below), indent),
    renderYamlLines({ [key]: value }, indent) ?? '',
  );
}

/** The length of the comments that are indented further than the entries: they are about what is in the last one. */
function measureIndentedComments(text: string, indent: string): number {
  return new RegExp(`^(?:\\n*${indent} +#.*\\n)*`).exec(text)?.[0].length ?? 0;
}

/** Puts another value in the place of an entry's value, in the style of the old one where it can be. */
function replaceValue(text: string, map: YAMLMap, pair: Pair, value: JsonValue): readonly TextReplacement[] {
  const { value: old, srcToken } = pair;
  const colon = srcToken?.sep?.find(({ type }) => type === 'map-value-ind')?.offset;
  const { start } = findSpan(old);
  const end = findPairEnd(text, pair);
  const written = renderYamlValue(value, chooseValueStyle(map, old));
  const afterColon = makeInsertion(
    colon === undefined ? end : colon + 1,
    colon === undefined ? `: ${written}` : ` ${written}`,
  );
  if (isBlockScalar(old)) {
    const lines = { start, end: findNextLine(text, end) };
    return [{ ...lines, text: renderBlockScalar(text.slice(start, lines.end), value, written, findIndent(map)) }];
  }
  if (!isBlockCollection(old) || !isFirstOnLine(text, start)) {
    return [old === null || start === end ? afterColon : { start, end, text: written }];
  }
  const lines = { start: findLineStart(text, start), end: findNextLine(text, end) };
  const content = renderYamlLines(value, chooseIndent(value, text.slice(lines.start, start), findIndent(map)));
  return content === null ? [afterColon, { ...lines, text: '' }] : [{ ...lines, text: content }];
}

function makeInsertion(at: number, text: string): TextReplacement {
  return { start: at, end: at, text };
}

/** A list may be indented like the key that it belongs to, a mapping may not. */
function chooseIndent(value: JsonValue, old: string, outer: string): string {
  return isJsonObject(value) && old.length <= outer.length ? `${outer}  ` : old;
}

function removeEntry(
  text: string,
  { map, pair, rest }: EntryTarget,
  path: readonly string[],
): readonly TextReplacement[] {
  if (pair === undefined || rest.length > 0) return [];
  if (map.flow === true) return removeFlowEntry(text, map, pair);
  if (!isFirstOnLine(text, findPairStart(pair))) return [];
  const above = path.slice(0, -1);
  if (map.items.length > 1 || above.length === 0) {
    return [
      { start: findLineStart(text, findPairStart(pair)), end: findNextLine(text, findPairEnd(text, pair)), text: '' },
    ];
  }
  return makeYamlReplacements(text, { path: above, value: {} });
}

/** With the comma beside it. Over several lines there may be comments, and nobody knows which entry they are about. */
function removeFlowEntry(text: string, map: YAMLMap, pair: Pair): readonly TextReplacement[] {
  const at = map.items.indexOf(pair);
  const [before, after] = [map.items[at - 1], map.items[at + 1]];
  const only = { ...findSpan(map), text: '{}' };
  const first = after === undefined ? only : { start: findPairStart(pair), end: findPairStart(after), text: '' };
  const cut =
    before === undefined ? first : { start: findPairEnd(text, before), end: findPairEnd(text, pair), text: '' };
  return text.slice(cut.start, cut.end).includes('\n') ? [] : [cut];
}

/** A text takes the quotes of the text before. */
function chooseValueStyle(map: YAMLMap, old: unknown): TextStyle {
  if (!isScalar(old) || typeof old.value !== 'string') return chooseMappingStyle(map);
  if (old.type === 'QUOTE_SINGLE') return 'single';
  return old.type === 'QUOTE_DOUBLE' ? 'double' : 'plain';
}

/** What is written as JSON, with all texts in double quotes, stays so. */
function chooseMappingStyle({ flow, items }: YAMLMap): TextStyle {
  const nodes = items.flatMap(({ key, value }) => [key, value]).filter((node) => isScalar(node));
  const texts = nodes.filter(({ value }) => typeof value === 'string');
  const isJson = flow === true && texts.length > 0 && texts.every(({ type }) => type === 'QUOTE_DOUBLE');
  return isJson ? 'double' : 'plain';
}

function findIndent({ srcToken }: YAMLMap): string {
  return ' '.repeat(srcToken?.type === 'block-map' ? srcToken.indent : 0);
}

function findPairStart({ key }: Pair): number {
  return findSpan(key).start;
}

/** Where the last line that is an entry's own has its last character: no comment or blank line after it is. */
function findPairEnd(text: string, { key, value }: Pair): number {
  return findNodeEnd(text, value ?? key);
}

/** A node without the comments after it. */
function findSpan(node: unknown): Span {
  const [start, end] = (isScalar(node) || isMap(node) || isSeq(node) ? node.range : null) ?? [0, 0];
  return { start, end };
}

function findLineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** The text ends with a line feed. */
function findNextLine(text: string, offset: number): number {
  return text.indexOf('\n', offset) + 1;
}

/** Whether nothing but blanks is before the offset on its line. */
function isFirstOnLine(text: string, offset: number): boolean {
  return text.slice(findLineStart(text, offset), offset).trim() === '';
}

function isBlockScalar(node: unknown): boolean {
  return isScalar(node) && (node.type === 'BLOCK_FOLDED' || node.type === 'BLOCK_LITERAL');
}

/** The library counts comments after the last item of a block collection as part of it. */
function findNodeEnd(text: string, node: unknown): number {
  const span = findSpan(node);
  if (isBlockScalar(node)) return findBlockScalarEnd(text, span);
  if (!isBlockCollection(node)) return span.end;
  const last: unknown = node.items.at(-1);
  return isPair(last) ? findPairEnd(text, last) : findNodeEnd(text, last);
}

function isBlockCollection(node: unknown): node is YAMLMap | YAMLSeq {
  return (isMap(node) || isSeq(node)) && node.flow !== true;
}

/** Where a block scalar ends without the line feeds that are not part of its value: with `+` all but the last one are. */
function findBlockScalarEnd(text: string, { start, end }: Span): number {
  const keeps = /^[^\s#]*\+/.test(text.slice(start, end));
  if (keeps) return text[end - 1] === '\n' ? end - 1 : end;
  let at = end;
  while (text[at - 1] === '\n') at -= 1;
  return at;
}
