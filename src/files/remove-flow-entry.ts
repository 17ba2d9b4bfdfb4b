import type { Pair, YAMLMap } from 'yaml';
import type { Replacement } from './replacement.ts';
import { beginsLine, endOf, lineStart, nextLine, startOf } from './spans.ts';

/** Takes an entry out of a flow mapping with one comma, and with its lines where nothing else is on them. */
export function removeFlowEntry(text: string, map: YAMLMap, pair: Pair): readonly Replacement[] {
  const index = map.items.indexOf(pair);
  const start = startOf(pair);
  const end = endOf(text, pair);
  const after = commaBefore(map, index + 1);
  const before = commaBefore(map, index);
  if (after !== undefined || before === undefined) return [cut(text, start, after === undefined ? end : after + 1)];
  if (text.slice(before + 1, start).trim() === '') {
    return [beginsLine(text, before) ? cut(text, before, end) : { start: before, end, text: '' }];
  }
  return [{ start: before, end: before + 1, text: '' }, cut(text, start, end)];
}

/** A last comma has an item of its own among the tokens. */
function commaBefore({ srcToken }: YAMLMap, index: number): number | undefined {
  if (srcToken?.type !== 'flow-collection') return undefined;
  return srcToken.items[index]?.start.find(({ type }) => type === 'comma')?.offset;
}

function cut(text: string, start: number, end: number): Replacement {
  const after = text.slice(end, nextLine(text, end) - 1);
  const hasOwnLines = beginsLine(text, start) && /^[ \t]*(#.*)?$/.test(after);
  if (hasOwnLines) return { start: lineStart(text, start), end: nextLine(text, end), text: '' };
  const blanks = /^[ \t]+(?![ \t#])/.exec(after)?.[0].length ?? 0;
  return { start, end: end + blanks, text: '' };
}
