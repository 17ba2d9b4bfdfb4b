import type { YAMLMap } from 'yaml';
import type { JsonValue } from '../domain/json.ts';
import type { Replacement } from '../domain/replacement.ts';
import type { Target } from './find-target.ts';
import { styleOfMapping } from './json-style.ts';
import { endOf, nextLine, spanOf } from './spans.ts';
import { writeEntry, writeEntryLines } from './write-value.ts';

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
