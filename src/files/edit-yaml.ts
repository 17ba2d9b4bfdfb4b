import { isMap, isScalar, type Pair, type YAMLMap } from 'yaml';
import { canonicalJson, isJsonObject, withoutKey, type JsonValue } from '../domain/json.ts';
import type { Replacement, Span } from './replacement.ts';
import { removeFlowEntry } from './remove-flow-entry.ts';
import {
  beginsLine,
  endOf,
  isBlockCollection,
  isBlockScalar,
  lineStart,
  linesOf,
  nextLine,
  spanOf,
  startOf,
} from './spans.ts';
import { parseYamlDocument } from './strict-yaml.ts';
import {
  writeBlockScalar,
  writeCollectionLines,
  writeEntry,
  writeEntryLines,
  writeValue,
  type TextStyle,
  type Writing,
} from './write-yaml.ts';
import { toJson } from './yaml-values.ts';

/** One change of a mapping. A path names keys from the outermost inwards; what is no mapping on its way gives way. */
export type YamlEdit =
  | { readonly kind: 'set'; readonly path: readonly string[]; readonly value: JsonValue }
  | { readonly kind: 'remove'; readonly path: readonly string[] };

/**
 * What to replace in the source of a strict YAML mapping so that it holds an edit. All other characters stay; without
 * an effect there is nothing to replace.
 * @param text whole lines: it ends with a line feed
 */
export function editYaml(text: string, edit: YamlEdit): readonly Replacement[] {
  const target = findTarget(text, edit.path);
  if (target === null) return [];
  return edit.kind === 'set' ? setValue(text, target, edit.value) : removeEntry(text, target, edit.path);
}

function setValue(text: string, target: Target, value: JsonValue): readonly Replacement[] {
  const whole = target.rest.reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), value);
  if (target.pair === undefined) return [insertEntry(text, target, whole)];
  const same = canonicalJson(jsonOf(target.pair.value)) === canonicalJson(whole);
  return same ? [] : replaceValue(text, target.map, target.pair, whole);
}

function removeEntry(text: string, { map, pair, rest, key }: Target, path: readonly string[]): readonly Replacement[] {
  if (pair === undefined || rest.length > 0) return [];
  if (map.flow === true) return removeFlowEntry(text, map, pair);
  const above = path.slice(0, -1);
  const hasOwnLines = beginsLine(text, startOf(pair)) && map.items.length > 1;
  if (hasOwnLines || above.length === 0) return [{ ...linesOf(text, pair), text: '' }];
  const whole = jsonOf(map);
  return editYaml(text, { kind: 'set', path: above, value: isJsonObject(whole) ? withoutKey(whole, key) : whole });
}

function jsonOf(node: unknown): JsonValue {
  return toJson(node, () => ({})).value;
}

/** The entry that a path leads to, or the innermost mapping on its way and what of the path is left. */
export type Target = {
  readonly map: YAMLMap;
  /** The entry whose value the mapping is. */
  readonly holder?: Pair;
  readonly key: string;
  readonly pair: Pair | undefined;
  readonly rest: readonly string[];
};

/** Null when the text is no mapping. */
export function findTarget(text: string, path: readonly string[]): Target | null {
  // As the parser of prompt files does: without the last line feed.
  const root = parseYamlDocument(text.slice(0, -1), { keepSourceTokens: true })?.contents;
  return isMap(root) ? follow(root, path) : null;
}

function follow(map: YAMLMap, [key = '', ...rest]: readonly string[], holder?: Pair): Target {
  const pair = entryOf(map, key);
  if (pair !== undefined && rest.length > 0 && isMap(pair.value)) return follow(pair.value, rest, pair);
  return { map, key, pair, rest, ...(holder === undefined ? {} : { holder }) };
}

function entryOf(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => isScalar(pair.key) && pair.key.value === key);
}

/** The whole lines of a field of the outermost mapping; null when it is not there. */
export function linesOfField(text: string, field: string): Span | null {
  const pair = findTarget(text, [field])?.pair;
  return pair === undefined ? null : linesOf(text, pair);
}

/** Whether the outermost mapping is written in braces. */
export function isFlowMapping(text: string): boolean {
  return findTarget(text, [])?.map.flow === true;
}

/** Puts an entry after the last one of a mapping. What follows that one, a comment or a comma, stays after it. */
export function insertEntry(text: string, target: Target, value: JsonValue): Replacement {
  return target.map.flow === true ? intoFlow(text, target, value) : intoBlock(text, target, value);
}

function intoFlow(text: string, { map, holder, key }: Target, value: JsonValue): Replacement {
  const last = map.items.at(-1);
  const entry = writeEntry(key, value, { style: styleOfMapping(map, holder), inFlow: true });
  const at = last === undefined ? spanOf(map).start + 1 : endOf(text, last);
  return { start: at, end: at, text: last === undefined ? entry : `, ${entry}` };
}

function intoBlock(text: string, { map, key }: Target, value: JsonValue): Replacement {
  const last = map.items.at(-1);
  const indent = indentOf(map);
  const below = nextLine(text, last === undefined ? text.length - 1 : endOf(text, last));
  const at = below + commentsWithin(text.slice(below), indent);
  return { start: at, end: at, text: writeEntryLines(key, value, indent) };
}

/** The length of the comments that are indented further than the entries: they are about what is in the last one. */
function commentsWithin(text: string, indent: string): number {
  return new RegExp(`^(?:\\n*${indent} +#.*\\n)*`).exec(text)?.[0].length ?? 0;
}

/** The blanks before the entries of a block mapping. */
export function indentOf({ srcToken }: YAMLMap): string {
  return ' '.repeat(srcToken?.type === 'block-map' ? srcToken.indent : 0);
}

/** How texts are put into a mapping: in double quotes where it is written as JSON, with all texts in them. */
export function styleOfMapping(map: YAMLMap, holder?: Pair): TextStyle {
  if (map.flow !== true) return 'plain';
  const nodes = map.items.length === 0 ? [holder?.key] : map.items.flatMap(({ key, value }) => [key, value]);
  const texts = nodes.filter((node) => isScalar(node)).filter(({ value }) => typeof value === 'string');
  return texts.length > 0 && texts.every(({ type }) => type === 'QUOTE_DOUBLE') ? 'double' : 'plain';
}

type Spot = { readonly text: string; readonly map: YAMLMap; readonly pair: Pair; readonly writing: Writing };

/** Puts another value in the place of an entry's value, in the style of the old one where it can be. */
export function replaceValue(text: string, map: YAMLMap, pair: Pair, value: JsonValue): readonly Replacement[] {
  const spot = { text, map, pair, writing: { style: styleOf(map, pair), inFlow: map.flow === true } };
  const { value: old } = pair;
  if (old === null) return [addValue(spot, value)];
  if (isBlockScalar(old)) return replaceBlockScalar(spot, value);
  if (isBlockCollection(old)) return replaceBlockCollection(spot, value);
  const { start, end } = spanOf(old);
  const written = writeValue(value, spot.writing);
  return [{ start, end, text: start === end ? apart(text, start, written) : written }];
}

/** Where a value was empty, a colon may come right before it, and a comment right after it. */
function apart(text: string, at: number, written: string): string {
  return `${/\s/.test(text.charAt(at - 1)) ? '' : ' '}${written}${text[at] === '#' ? ' ' : ''}`;
}

/** A text takes the quotes of the text before. */
function styleOf(map: YAMLMap, { value: old }: Pair): TextStyle {
  if (isScalar(old) && old.type === 'QUOTE_SINGLE') return 'single';
  if (isScalar(old) && old.type === 'QUOTE_DOUBLE') return 'double';
  if (isScalar(old) && typeof old.value === 'string') return 'plain';
  return styleOfMapping(map);
}

/** For a key that has no colon: `{a}`, or `? a` alone. */
function addValue({ text, map, pair, writing }: Spot, value: JsonValue): Replacement {
  const written = writeValue(value, writing);
  const end = endOf(text, pair);
  if (map.flow === true) return { start: end, end, text: `: ${written}` };
  const at = nextLine(text, end);
  return { start: at, end: at, text: `${indentOf(map)}: ${written}\n` };
}

/** What follows the indicator on its line, a comment say, stays. */
function replaceBlockScalar({ text, map, pair, writing }: Spot, value: JsonValue): readonly Replacement[] {
  const { start } = spanOf(pair.value);
  const lines = { start: nextLine(text, start), end: nextLine(text, endOf(text, pair)) };
  const blanks = /^\n*( +)/.exec(text.slice(lines.start, lines.end))?.[1];
  const block = writeBlockScalar(value, text[start] === '>', blanks ?? `${indentOf(map)}  `);
  const [indicator, content] = block ?? [writeValue(value, writing), ''];
  const indicatorEnd = start + (/^[^\s#]+/.exec(text.slice(start))?.[0].length ?? 0);
  return [
    { start, end: indicatorEnd, text: indicator },
    { ...lines, text: content },
  ];
}

/** Its lines are replaced; what cannot be written as such lines is written after the colon. */
function replaceBlockCollection({ text, map, pair, writing }: Spot, value: JsonValue): readonly Replacement[] {
  const { start } = spanOf(pair.value);
  const end = endOf(text, pair);
  const written = writeValue(value, writing);
  if (!beginsLine(text, start)) return [{ start, end, text: written }];
  const first = lineStart(text, start);
  const content = writeCollectionLines(value, indentFor(value, text.slice(first, start), indentOf(map)));
  const colon = pair.srcToken?.sep?.find(({ type }) => type === 'map-value-ind')?.offset ?? 0;
  const lines = { start: first, end: nextLine(text, end), text: content ?? '' };
  return content === null ? [{ start: colon + 1, end: colon + 1, text: ` ${written}` }, lines] : [lines];
}

/** A list may be indented like the key that it belongs to, a mapping may not. */
function indentFor(value: JsonValue, old: string, outer: string): string {
  return isJsonObject(value) && old.length <= outer.length ? `${outer}  ` : old;
}
