import { isMap, isScalar, type Pair, type YAMLMap } from 'yaml';
import type { Span } from '../domain/replacement.ts';
import { parseYamlDocument } from './parse-document.ts';
import { linesOf } from './spans.ts';

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
