import { isScalar, type Pair, type YAMLMap } from 'yaml';
import type { JsonValue } from '../domain/json.ts';
import type { Replacement } from '../domain/replacement.ts';
import { styleOfMapping } from './json-style.ts';
import { indentOf } from './insert-entry.ts';
import { beginsLine, endOf, isBlockCollection, isBlockScalar, lineStart, nextLine, spanOf } from './spans.ts';
import { writeBlockScalar, writeCollectionLines, writeValue, type TextStyle, type Writing } from './write-value.ts';

/** Puts another value in the place of an entry's value, in the style of the old one where it can be. */
export function replaceValue(text: string, map: YAMLMap, pair: Pair, value: JsonValue): readonly Replacement[] {
  const writing: Writing = { style: styleOf(map, pair), inFlow: map.flow === true };
  const { value: old } = pair;
  const { start, end } = spanOf(old);
  if (old === null) return [addValue(text, map, pair, writeValue(value, writing))];
  if (isBlockScalar(old)) return replaceBlockScalar(text, pair, value, writing);
  if (isBlockCollection(old)) return replaceBlockCollection(text, pair, value, writing);
  const written = writeValue(value, writing);
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
function addValue(text: string, map: YAMLMap, pair: Pair, written: string): Replacement {
  const end = endOf(text, pair);
  if (map.flow === true) return { start: end, end, text: `: ${written}` };
  const at = nextLine(text, end);
  return { start: at, end: at, text: `${indentOf(map)}: ${written}\n` };
}

/** What follows the indicator on its line, a comment say, stays. */
function replaceBlockScalar(text: string, pair: Pair, value: JsonValue, writing: Writing): readonly Replacement[] {
  const { start } = spanOf(pair.value);
  const lines = { start: nextLine(text, start), end: nextLine(text, endOf(text, pair)) };
  const indent = /^\n* +/.exec(text.slice(lines.start, lines.end))?.[0].replaceAll('\n', '') ?? '  ';
  const [indicator, content] = writeBlockScalar(value, text[start] === '>', indent) ?? [writeValue(value, writing), ''];
  const indicatorEnd = start + (/^[^\s#]+/.exec(text.slice(start))?.[0].length ?? 0);
  return [
    { start, end: indicatorEnd, text: indicator },
    { ...lines, text: content },
  ];
}

/** Its lines are replaced; what cannot be written as such lines is written after the colon. */
function replaceBlockCollection(text: string, pair: Pair, value: JsonValue, writing: Writing): readonly Replacement[] {
  const { start } = spanOf(pair.value);
  const end = endOf(text, pair);
  if (!beginsLine(text, start)) return [{ start, end, text: writeValue(value, writing) }];
  const first = lineStart(text, start);
  const content = writeCollectionLines(value, text.slice(first, start));
  const colon = pair.srcToken?.sep?.find(({ type }) => type === 'map-value-ind')?.offset ?? 0;
  const head = { start: colon + 1, end: colon + 1, text: ` ${writeValue(value, writing)}` };
  const lines = { start: first, end: nextLine(text, end), text: content ?? '' };
  return content === null ? [head, lines] : [lines];
}
