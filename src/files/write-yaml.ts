import { stringify } from 'yaml';
import { isJsonArray, isJsonObject, type JsonValue } from '../domain/json.ts';
import { hasControlCharacters } from '../domain/text.ts';

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

/** How texts are written, where they can be. */
export type TextStyle = 'plain' | 'single' | 'double';

/** Where a value is written: within `{}` and `[]` fewer texts may stand without quotes. */
export type Writing = { readonly style: TextStyle; readonly inFlow: boolean };

const IN_BLOCK: Writing = { style: 'plain', inFlow: false };

/** A value on one line. Collections are flow collections. */
export function writeValue(value: JsonValue, writing: Writing): string {
  const inner = { ...writing, inFlow: true };
  if (isJsonArray(value)) return `[${value.map((item) => writeValue(item, inner)).join(', ')}]`;
  if (isJsonObject(value)) {
    const entries = Object.entries(value).map(([key, within]) => writeEntry(key, within, inner));
    return `{${entries.join(', ')}}`;
  }
  return typeof value === 'string' ? writeText(value, writing) : JSON.stringify(value);
}

/** A key with its value, on one line. */
export function writeEntry(key: string, value: JsonValue, writing: Writing = IN_BLOCK): string {
  return `${writeText(key, writing)}: ${writeValue(value, writing)}`;
}

/** An entry as lines of a block mapping. Mappings in it are block mappings too, lists are flow sequences. */
export function writeEntryLines(key: string, value: JsonValue, indent: string): string {
  if (!isFilledObject(value)) return `${indent}${writeEntry(key, value)}\n`;
  return `${indent}${writeText(key, IN_BLOCK)}:\n${writeCollectionLines(value, `${indent}  `)}`;
}

/** The lines of a block collection; null where the value cannot be one. */
export function writeCollectionLines(value: JsonValue, indent: string): string | null {
  if (isJsonArray(value) && value.length > 0) {
    return value.map((item) => `${indent}- ${writeValue(item, IN_BLOCK)}\n`).join('');
  }
  if (!isFilledObject(value)) return null;
  return Object.entries(value)
    .map(([key, inner]) => writeEntryLines(key, inner, indent))
    .join('');
}

/** The indicator and the lines of a block scalar; null where the value cannot well be one. */
export function writeBlockScalar(value: JsonValue, folded: boolean, indent: string): readonly [string, string] | null {
  if (typeof value !== 'string' || value.trim() === '' || /^\s|\n\n$/.test(value)) return null;
  if (hasControlCharacters(value.replaceAll(/[\n\t]/g, ''))) return null;
  const lines = value.replace(/\n$/, '').split('\n');
  const indicator = `${folded && lines.length === 1 ? '>' : '|'}${value.endsWith('\n') ? '' : '-'}`;
  return [indicator, lines.map((line) => (line === '' ? '\n' : `${indent}${line}\n`)).join('')];
}

function writeText(text: string, { style, inFlow }: Writing): string {
  if (style === 'plain' && isPlain(text, inFlow)) return text;
  if (style === 'single' && !hasControlCharacters(text)) return `'${text.replaceAll("'", "''")}'`;
  return JSON.stringify(text);
}

/** Whether a text means itself without quotes. `<<` would merge. */
function isPlain(text: string, inFlow: boolean): boolean {
  if (text === '<<' || (inFlow && /^[?:-]|[,[\]{}]/.test(text))) return false;
  return stringify(text, { lineWidth: 0 }) === `${text}\n`;
}

function isFilledObject(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return isJsonObject(value) && Object.keys(value).length > 0;
}
