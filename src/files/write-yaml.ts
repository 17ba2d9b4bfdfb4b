import { stringify } from 'yaml';
import { isJsonArray, isJsonObject, type JsonValue } from '../domain/json.ts';
import { hasControlCharacters } from '../domain/text.ts';

/** What can be written: JSON data, and maps where the order of keys matters whatever they look like. */
export type YamlValue = JsonValue | ReadonlyMap<string, YamlValue>;

/** `plain` is for people; `quoted` has every text in double quotes, in which any text can be written. */
export type YamlStyle = 'plain' | 'quoted';

/**
 * A mapping in block style, which no line of is folded; quoted as well where a control character would stand in it raw.
 * Whoever writes it to a file reads it back and compares.
 */
export function writeYaml(mapping: ReadonlyMap<string, YamlValue>, style: YamlStyle = 'plain'): string {
  const options = { version: '1.2', schema: 'core', lineWidth: 0, aliasDuplicateObjects: false } as const;
  if (style === 'quoted') return escapeControls(stringify(mapping, { ...options, ...QUOTED }));
  const text = stringify(mapping, options);
  return holdsRawControls(text) ? writeYaml(mapping, 'quoted') : text;
}

const QUOTED = {
  defaultStringType: 'QUOTE_DOUBLE',
  defaultKeyType: 'QUOTE_DOUBLE',
  doubleQuotedAsJSON: true,
  doubleQuotedMinMultiLineLength: Infinity,
} as const;

/** What JSON leaves as it is within its quotes. */
function escapeControls(quoted: string): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return quoted.replaceAll(/[\x7f-\x9f]/g, escape);
}

/** YAML has escapes in double quotes alone. */
function holdsRawControls(text: string): boolean {
  return hasControlCharacters(text.replaceAll(/[\n\t]/g, ''));
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

/**
 * The lines of a block scalar with another value. What follows the indicator on its line, a comment say, stays.
 * @param written the value on one line, for what cannot well be a block
 */
export function rewriteBlockScalar(old: string, value: JsonValue, written: string, outer: string): string {
  const [, indicator = '', rest = '', blanks = `${outer}  `] = /^([^\s#]+)(.*\n)\n*( +)?/.exec(old) ?? [];
  if (typeof value !== 'string' || !fitsBlock(value)) return `${written}${rest}`;
  const lines = value.replace(/\n$/, '').split('\n');
  const style = indicator.startsWith('>') && lines.length === 1 ? '>' : '|';
  const content = lines.map((line) => (line === '' ? '\n' : `${blanks}${line}\n`)).join('');
  return `${style}${value.endsWith('\n') ? '' : '-'}${rest}${content}`;
}

/** White space around a text would need more signs behind the indicator. */
function fitsBlock(text: string): boolean {
  return text.trim() !== '' && !/^\s|\n\n$/.test(text) && !holdsRawControls(text);
}

function writeText(text: string, { style, inFlow }: Writing): string {
  if (style === 'plain' && isPlain(text, inFlow)) return text;
  if (style === 'single' && !hasControlCharacters(text)) return `'${text.replaceAll("'", "''")}'`;
  return escapeControls(JSON.stringify(text));
}

/** Whether a text means itself without quotes. `<<` would merge. */
function isPlain(text: string, inFlow: boolean): boolean {
  if (text === '<<' || hasControlCharacters(text) || (inFlow && /^[?:-]|[,[\]{}]/.test(text))) return false;
  return stringify(text, { lineWidth: 0 }) === `${text}\n`;
}

function isFilledObject(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return isJsonObject(value) && Object.keys(value).length > 0;
}
