import { isScalar, type Pair, type YAMLMap } from 'yaml';
import type { TextStyle } from './write-value.ts';

/** How texts are put into a mapping: in double quotes where it is written as JSON, with all texts in them. */
export function styleOfMapping(map: YAMLMap, holder?: Pair): TextStyle {
  if (map.flow !== true) return 'plain';
  const nodes = map.items.length === 0 ? [holder?.key] : map.items.flatMap(({ key, value }) => [key, value]);
  const texts = nodes.filter((node) => isScalar(node)).filter(({ value }) => typeof value === 'string');
  return texts.length > 0 && texts.every(({ type }) => type === 'QUOTE_DOUBLE') ? 'double' : 'plain';
}
