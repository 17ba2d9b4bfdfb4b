import { stringify } from 'yaml';
import type { JsonValue } from '../domain/json.ts';

/** What can be written: JSON data, and maps where the order of keys matters whatever they look like. */
export type YamlValue = JsonValue | ReadonlyMap<string, YamlValue>;

/** `plain` is for people; `quoted` has every text in double quotes, in which any text can be written. */
export type YamlStyle = 'plain' | 'quoted';

/** A mapping in block style, which no line of is folded. Whoever writes it to a file reads it back and compares. */
export function writeYaml(mapping: ReadonlyMap<string, YamlValue>, style: YamlStyle = 'plain'): string {
  const quoted = {
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'QUOTE_DOUBLE',
    doubleQuotedAsJSON: true,
  } as const;
  return stringify(mapping, {
    version: '1.2',
    schema: 'core',
    lineWidth: 0,
    aliasDuplicateObjects: false,
    ...(style === 'quoted' ? { ...quoted, doubleQuotedMinMultiLineLength: Infinity } : {}),
  });
}
