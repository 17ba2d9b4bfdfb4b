import { stringify, type CreateNodeOptions, type ToStringOptions } from 'yaml';
import type { JsonValue } from '../domain/json.ts';
import { hasControlCharacters } from '../text.ts';

/** Use a `Map` to preserve the order of keys that look like numbers, because an object reorders them. */
export type YamlValue = JsonValue | ReadonlyMap<string, YamlValue>;

/** The preferred quoting style for strings. Only double quotes can represent every string. */
export type TextStyle = 'plain' | 'single' | 'double';

const STYLES = {
  plain: {},
  single: { defaultStringType: 'QUOTE_SINGLE' },
  double: { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE' },
} as const;

const OPTIONS = {
  version: '1.2',
  schema: 'core',
  compat: 'yaml-1.1', // Quotes text that other tools, and readers, could take for a Boolean or a number.
  lineWidth: 0,
  aliasDuplicateObjects: false,
  doubleQuotedAsJSON: true,
  doubleQuotedMinMultiLineLength: Infinity,
} as const;

/** Renders block style without folding lines. Before writing the result to a file, callers must parse and compare. */
export function renderYaml(value: YamlValue, style: TextStyle = 'plain', options: YamlOptions = {}): string {
  const text = stringify(value, { ...OPTIONS, ...STYLES[style], ...options });
  if (style === 'double') return escapeControls(text);
  // Only double-quoted strings can contain escaped control characters. An unquoted key `<<` would be a merge key.
  const needsQuotes = hasUnescapedControls(text) || /(?<![^\s{,])<<:/.test(text);
  return needsQuotes ? renderYaml(value, 'double', options) : text;
}

type YamlOptions = ToStringOptions & CreateNodeOptions;

function hasUnescapedControls(text: string): boolean {
  return hasControlCharacters(text.replaceAll(/[\n\t]/g, ''));
}

/** Escapes U+007F to U+009F. The YAML library writes strings as JSON, which does not escape them. */
function escapeControls(quoted: string): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return quoted.replaceAll(/[\x7f-\x9f]/g, escape);
}

/** Renders lists and mappings in flow style, so that the value fits into a flow collection. */
export function renderYamlValue(value: JsonValue, style: TextStyle): string {
  const flow = { collectionStyle: 'flow', flowCollectionPadding: false } as const;
  const text = renderYaml([value], style, flow).slice(1, -2);
  return text.includes('\n') ? renderYamlValue(value, 'double') : text;
}

/** Renders a value as the lines of a block collection. Returns null if the value is empty or not a collection. */
export function renderYamlLines(value: JsonValue, indent: string): string | null {
  const isFilledCollection = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!isFilledCollection) return null;
  return renderYaml(value, 'plain', { blockQuote: false }).replaceAll(/(?<=^|\n)(?=[^\n])/g, indent);
}

/**
 * Replaces an old block scalar. Keeps what follows the block indicator on its line, such as a comment.
 * @param oneLine the value on one line, for values that cannot be block scalars
 * @param outer the indentation of the mapping that contains the scalar
 */
export function renderBlockScalar(old: string, value: JsonValue, oneLine: string, outer: string): string {
  const [, indicator = '', rest = '', indent = `${outer}  `] = /^([^\s#]+)(.*\n)\n*( +)?/.exec(old) ?? [];
  if (typeof value !== 'string' || !fitsBlockScalar(value)) return `${oneLine}${rest}`;
  const lines = value.replace(/\n$/, '').split('\n');
  const style = indicator.startsWith('>') && lines.length === 1 ? '>' : '|';
  const content = lines.map((line) => (line === '' ? '\n' : `${indent}${line}\n`)).join('');
  return `${style}${value.endsWith('\n') ? '' : '-'}${rest}${content}`;
}

/** Returns true if the text needs no extra indicator for leading white space or for line breaks at its end. */
function fitsBlockScalar(text: string): boolean {
  return text.trim() !== '' && !/^\s|\n\n$/.test(text) && !hasUnescapedControls(text);
}
