import { stringify, type CreateNodeOptions, type ToStringOptions } from 'yaml';
import type { JsonValue } from '../domain/json.ts';
import { hasControlCharacters } from '../text.ts';

/** What can be written: JSON data, and maps where the order of keys matters whatever they look like. */
export type YamlValue = JsonValue | ReadonlyMap<string, YamlValue>;

/** How texts are written, where they can be. In double quotes any text can. */
export type TextStyle = 'plain' | 'single' | 'double';

const STYLES = {
  plain: {},
  single: { defaultStringType: 'QUOTE_SINGLE' },
  double: { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE' },
} as const;

const OPTIONS = {
  version: '1.2',
  schema: 'core',
  lineWidth: 0,
  aliasDuplicateObjects: false,
  doubleQuotedAsJSON: true,
  doubleQuotedMinMultiLineLength: Infinity,
} as const;

/** In block style, no line folded. Whoever writes it to a file reads it back and compares. */
export function renderYaml(value: YamlValue, style: TextStyle = 'plain', further: YamlOptions = {}): string {
  const text = stringify(value, { ...OPTIONS, ...STYLES[style], ...further });
  if (style === 'double') return escapeControls(text);
  // Control characters have escapes in double quotes alone, and `<<` without quotes would merge.
  const needsQuotes = hasUnescapedControls(text) || /(?<![^\s{,])<<:/.test(text);
  return needsQuotes ? renderYaml(value, 'double', further) : text;
}

type YamlOptions = ToStringOptions & CreateNodeOptions;

function hasUnescapedControls(text: string): boolean {
  return hasControlCharacters(text.replaceAll(/[\n\t]/g, ''));
}

/** What JSON leaves as it is within its quotes. */
function escapeControls(quoted: string): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return quoted.replaceAll(/[\x7f-\x9f]/g, escape);
}

/** A value on one line, which may stand in a flow collection. Collections are flow collections. */
export function renderYamlValue(value: JsonValue, style: TextStyle): string {
  const flow = { collectionStyle: 'flow', flowCollectionPadding: false } as const;
  const text = renderYaml([value], style, flow).slice(1, -2);
  return text.includes('\n') ? renderYamlValue(value, 'double') : text;
}

/** The lines of a block collection; null where the value cannot be one. */
export function renderYamlLines(value: JsonValue, indent: string): string | null {
  const filled = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  return filled ? renderYaml(value, 'plain', { blockQuote: false }).replaceAll(/(?<=^|\n)(?=[^\n])/g, indent) : null;
}

/**
 * The lines of a block scalar with another value. What follows the indicator on its line, a comment say, stays.
 * @param written the value on one line, for what cannot well be a block
 */
export function renderBlockScalar(old: string, value: JsonValue, written: string, outer: string): string {
  const [, indicator = '', rest = '', blanks = `${outer}  `] = /^([^\s#]+)(.*\n)\n*( +)?/.exec(old) ?? [];
  if (typeof value !== 'string' || !fitsBlockScalar(value)) return `${written}${rest}`;
  const lines = value.replace(/\n$/, '').split('\n');
  const style = indicator.startsWith('>') && lines.length === 1 ? '>' : '|';
  const content = lines.map((line) => (line === '' ? '\n' : `${blanks}${line}\n`)).join('');
  return `${style}${value.endsWith('\n') ? '' : '-'}${rest}${content}`;
}

/** White space around a text would need more signs behind the indicator. */
function fitsBlockScalar(text: string): boolean {
  return text.trim() !== '' && !/^\s|\n\n$/.test(text) && !hasUnescapedControls(text);
}
