import { isScalar, type Pair, type YAMLMap } from 'yaml';
import { isJsonObject, type JsonValue } from '../domain/json.ts';
import type { Replacement } from '../domain/replacement.ts';
import { styleOfMapping } from './json-style.ts';
import { indentOf } from './insert-entry.ts';
import { beginsLine, endOf, isBlockCollection, isBlockScalar, lineStart, nextLine, spanOf } from './spans.ts';
import { writeBlockScalar, writeCollectionLines, writeValue, type TextStyle, type Writing } from './write-value.ts';

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
