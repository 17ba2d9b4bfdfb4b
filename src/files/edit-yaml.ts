import { isMap, isPair, isScalar, isSeq, type Pair, type YAMLMap, type YAMLSeq } from 'yaml';
import { isJsonObject, type JsonValue } from '../domain/json.ts';
import type { Span } from './front-matter.ts';
import { parseYamlDocument } from './strict-yaml.ts';
import { rewriteBlockScalar, writeLines, writeValue, type TextStyle } from './write-yaml.ts';

export type Replacement = Span & { readonly text: string };

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
type Target = {
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
export function editYaml(text: string, { path, value, comment }: YamlEdit): readonly Replacement[] {
  const target = findTarget(text, path);
  if (target === null) return [];
  if (value === undefined) return removeEntry(text, target, path);
  const replacements = setValue(text, target, value);
  return comment === undefined || target.map.flow === true || isBlockScalar(target.pair?.value)
    ? replacements
    : replacements.map((one) => withComment(text, one, comment));
}

function withComment(text: string, { start, end, text: written }: Replacement, comment: string): Replacement {
  const before = /^[ \t]+# \d+(?=[ \t]*\n)/.exec(text.slice(end))?.[0] ?? '';
  const lines = written.endsWith('\n') ? '\n' : '';
  const behind = comment === '' ? '' : `  # ${comment}`;
  return { start, end: end + before.length, text: written.slice(0, written.length - lines.length) + behind + lines };
}

export function editedYaml(text: string, edit: YamlEdit): string {
  return editYaml(text, edit).reduceRight(
    (after, one) => after.slice(0, one.start) + one.text + after.slice(one.end),
    text,
  );
}

/** Null when the text is no mapping. */
function findTarget(text: string, path: readonly string[]): Target | null {
  // As the parser of prompt files does: without the last line feed.
  const root = parseYamlDocument(text.slice(0, -1), { keepSourceTokens: true })?.contents;
  return isMap(root) ? follow(root, path) : null;
}

function follow(map: YAMLMap, [key = '', ...rest]: readonly string[]): Target {
  const pair = map.items.find((one) => isScalar(one.key) && one.key.value === key);
  return pair !== undefined && rest.length > 0 && isMap(pair.value)
    ? follow(pair.value, rest)
    : { map, key, pair, rest };
}

function setValue(text: string, { map, key, pair, rest }: Target, value: JsonValue): readonly Replacement[] {
  const whole = rest.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value);
  return pair === undefined ? [insertEntry(text, map, key, whole)] : replaceValue(text, map, pair, whole);
}

/** Puts an entry after the last one of a mapping. What follows that one, a comment or a comma, stays after it. */
function insertEntry(text: string, map: YAMLMap, key: string, value: JsonValue): Replacement {
  const last = map.items.at(-1);
  if (map.flow === true) {
    const entry = writeValue({ [key]: value }, styleOfMapping(map)).slice(1, -1);
    return last === undefined ? putIn(spanOf(map).start + 1, entry) : putIn(endOf(text, last), `, ${entry}`);
  }
  const indent = indentOf(map);
  const below = nextLine(text, last === undefined ? text.length - 1 : endOf(text, last));
  return putIn(below + commentsWithin(text.slice(below), indent), writeLines({ [key]: value }, indent) ?? '');
}

/** The length of the comments that are indented further than the entries: they are about what is in the last one. */
function commentsWithin(text: string, indent: string): number {
  return new RegExp(`^(?:\\n*${indent} +#.*\\n)*`).exec(text)?.[0].length ?? 0;
}

/** Puts another value in the place of an entry's value, in the style of the old one where it can be. */
function replaceValue(text: string, map: YAMLMap, pair: Pair, value: JsonValue): readonly Replacement[] {
  const { value: old, srcToken } = pair;
  const colon = srcToken?.sep?.find(({ type }) => type === 'map-value-ind')?.offset;
  const { start } = spanOf(old);
  const end = endOf(text, pair);
  const written = writeValue(value, styleOf(map, old));
  const afterColon = putIn(colon === undefined ? end : colon + 1, colon === undefined ? `: ${written}` : ` ${written}`);
  if (isBlockScalar(old)) {
    const lines = { start, end: nextLine(text, end) };
    return [{ ...lines, text: rewriteBlockScalar(text.slice(start, lines.end), value, written, indentOf(map)) }];
  }
  if (!isBlockCollection(old) || !beginsLine(text, start)) {
    return [old === null || start === end ? afterColon : { start, end, text: written }];
  }
  const lines = { start: lineStart(text, start), end: nextLine(text, end) };
  const content = writeLines(value, indentFor(value, text.slice(lines.start, start), indentOf(map)));
  return content === null ? [afterColon, { ...lines, text: '' }] : [{ ...lines, text: content }];
}

function putIn(at: number, text: string): Replacement {
  return { start: at, end: at, text };
}

/** A list may be indented like the key that it belongs to, a mapping may not. */
function indentFor(value: JsonValue, old: string, outer: string): string {
  return isJsonObject(value) && old.length <= outer.length ? `${outer}  ` : old;
}

function removeEntry(text: string, { map, pair, rest }: Target, path: readonly string[]): readonly Replacement[] {
  if (pair === undefined || rest.length > 0) return [];
  if (map.flow === true) return removeFlowEntry(text, map, pair);
  if (!beginsLine(text, startOf(pair))) return [];
  const above = path.slice(0, -1);
  if (map.items.length > 1 || above.length === 0) {
    return [{ start: lineStart(text, startOf(pair)), end: nextLine(text, endOf(text, pair)), text: '' }];
  }
  return editYaml(text, { path: above, value: {} });
}

/** With the comma beside it. Over several lines there may be comments, and nobody knows which entry they are about. */
function removeFlowEntry(text: string, map: YAMLMap, pair: Pair): readonly Replacement[] {
  const at = map.items.indexOf(pair);
  const [before, after] = [map.items[at - 1], map.items[at + 1]];
  const only = { ...spanOf(map), text: '{}' };
  const first = after === undefined ? only : { start: startOf(pair), end: startOf(after), text: '' };
  const cut = before === undefined ? first : { start: endOf(text, before), end: endOf(text, pair), text: '' };
  return text.slice(cut.start, cut.end).includes('\n') ? [] : [cut];
}

/** A text takes the quotes of the text before. */
function styleOf(map: YAMLMap, old: unknown): TextStyle {
  if (!isScalar(old) || typeof old.value !== 'string') return styleOfMapping(map);
  if (old.type === 'QUOTE_SINGLE') return 'single';
  return old.type === 'QUOTE_DOUBLE' ? 'double' : 'plain';
}

/** What is written as JSON, with all texts in double quotes, stays so. */
function styleOfMapping({ flow, items }: YAMLMap): TextStyle {
  const nodes = items.flatMap(({ key, value }) => [key, value]).filter((node) => isScalar(node));
  const texts = nodes.filter(({ value }) => typeof value === 'string');
  const isJson = flow === true && texts.length > 0 && texts.every(({ type }) => type === 'QUOTE_DOUBLE');
  return isJson ? 'double' : 'plain';
}

function indentOf({ srcToken }: YAMLMap): string {
  return ' '.repeat(srcToken?.type === 'block-map' ? srcToken.indent : 0);
}

function startOf({ key }: Pair): number {
  return spanOf(key).start;
}

/** Where the last line that is an entry's own has its last character: no comment or blank line after it is. */
function endOf(text: string, { key, value }: Pair): number {
  return nodeEnd(text, value ?? key);
}

/** A node without the comments after it. */
function spanOf(node: unknown): Span {
  const [start, end] = (isScalar(node) || isMap(node) || isSeq(node) ? node.range : null) ?? [0, 0];
  return { start, end };
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** The text ends with a line feed. */
function nextLine(text: string, offset: number): number {
  return text.indexOf('\n', offset) + 1;
}

/** Whether nothing but blanks is before the offset on its line. */
function beginsLine(text: string, offset: number): boolean {
  return text.slice(lineStart(text, offset), offset).trim() === '';
}

function isBlockScalar(node: unknown): boolean {
  return isScalar(node) && (node.type === 'BLOCK_FOLDED' || node.type === 'BLOCK_LITERAL');
}

/** The library counts comments after the last item of a block collection as part of it. */
function nodeEnd(text: string, node: unknown): number {
  const span = spanOf(node);
  if (isBlockScalar(node)) return blockScalarEnd(text, span);
  if (!isBlockCollection(node)) return span.end;
  const last: unknown = node.items.at(-1);
  return isPair(last) ? endOf(text, last) : nodeEnd(text, last);
}

function isBlockCollection(node: unknown): node is YAMLMap | YAMLSeq {
  return (isMap(node) || isSeq(node)) && node.flow !== true;
}

/** Where a block scalar ends without the line feeds that are not part of its value: with `+` all but the last one are. */
function blockScalarEnd(text: string, { start, end }: Span): number {
  const keeps = /^[^\s#]*\+/.test(text.slice(start, end));
  if (keeps) return text[end - 1] === '\n' ? end - 1 : end;
  let at = end;
  while (text[at - 1] === '\n') at -= 1;
  return at;
}
