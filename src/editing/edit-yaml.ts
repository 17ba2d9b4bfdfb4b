import { isMap, isPair, isScalar, isSeq, type Pair, YAMLMap, type YAMLSeq } from 'yaml';
import { isJsonObject, type JsonValue } from '../domain/json.ts';
import type { TextSpan } from '../text.ts';
import { parseYamlDocument } from '../workspace/strict-yaml.ts';
import { findLineStart } from '../workspace/yaml-line.ts';
import { renderBlockScalar, renderYamlLines, renderYamlValue, type TextStyle } from '../workspace/render-yaml.ts';

/** The text that replaces a range of characters. If the range is empty, the text is inserted there. */
export type TextReplacement = TextSpan & { readonly text: string };

/** An edit that sets or removes one value in a YAML mapping. */
export type YamlEdit = {
  /**
   * The keys that lead to the value, outermost first. An edit that sets a value may replace something else on this path
   * with a mapping. For example, setting `metadata.model` replaces the value in `metadata: none` with a mapping.
   */
  readonly path: readonly string[];
  /** The new value; undefined to remove the entry. */
  readonly value: JsonValue | undefined;
  /**
   * The comment after the value. It replaces one that consists only of digits. An empty string only removes such a
   * comment. If undefined, all comments stay. Flow mappings and block scalars never get a comment.
   */
  readonly comment?: string;
};

/** The innermost existing mapping on the path of an edit, and the entry to set or remove in it. */
type EntryTarget = {
  readonly map: YAMLMap;
  readonly key: string;
  readonly pair: Pair | undefined;
  /**
   * The keys of the path below `key` that do not exist yet. If the path is `metadata.model` and the file has no
   * `metadata`, this is `['model']`. Empty if the path ends at `key`.
   */
  readonly rest: readonly string[];
};

/**
 * Returns the replacements that apply an edit to a strict YAML mapping. The list is empty if there is nothing to remove
 * or if the edit is not supported, such as a removal across several lines of a flow mapping. So callers must parse the
 * result and compare it with the intended value.
 * @param text the source, as whole lines that each end with a line feed
 */
export function makeYamlReplacements(text: string, { path, value, comment }: YamlEdit): readonly TextReplacement[] {
  const target = findTarget(text, path);
  if (target === null) return [];
  if (value === undefined) return removeEntry(text, target, path);
  const replacements = setValue(text, target, value);
  const takesComment = target.map.flow !== true && !isBlockScalar(target.pair?.value);
  if (comment === undefined || !takesComment) return replacements;
  return replacements.map((replacement) => addComment(text, replacement, comment));
}

/** Appends a comment. It replaces an old comment that consists only of digits. */
function addComment(text: string, replacement: TextReplacement, comment: string): TextReplacement {
  const { start, end } = replacement;
  const oldComment = /^[ \t]+# \d+(?=[ \t]*\n)/.exec(text.slice(end))?.[0] ?? '';
  const lineFeed = replacement.text.endsWith('\n') ? '\n' : '';
  const value = replacement.text.slice(0, replacement.text.length - lineFeed.length);
  const newComment = comment === '' ? '' : `  # ${comment}`;
  return { start, end: end + oldComment.length, text: value + newComment + lineFeed };
}

export function editYamlText(text: string, edit: YamlEdit): string {
  return makeYamlReplacements(text, edit).reduceRight(
    (edited, one) => edited.slice(0, one.start) + one.text + edited.slice(one.end),
    text,
  );
}

/** A text without values, such as a comment, counts as an empty mapping. Returns null if the text is something else. */
function findTarget(text: string, path: readonly string[]): EntryTarget | null {
  // Omit the last line feed, because the parser of prompt files also omits it.
  const document = parseYamlDocument(text.slice(0, -1), { keepSourceTokens: true });
  const root = document?.contents === null ? new YAMLMap() : document?.contents;
  return isMap(root) ? followPath(root, path) : null;
}

function followPath(map: YAMLMap, [key = '', ...rest]: readonly string[]): EntryTarget {
  const pair = map.items.find((one) => isScalar(one.key) && one.key.value === key);
  return pair !== undefined && rest.length > 0 && isMap(pair.value)
    ? followPath(pair.value, rest)
    : { map, key, pair, rest };
}

function setValue(text: string, { map, key, pair, rest }: EntryTarget, value: JsonValue): readonly TextReplacement[] {
  const nested = rest.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value);
  return pair === undefined ? [insertEntry(text, map, key, nested)] : replaceValue(text, map, pair, nested);
}

/** Inserts an entry after the last one, whose line keeps its comment. A trailing comma in a flow mapping stays last. */
function insertEntry(text: string, map: YAMLMap, key: string, value: JsonValue): TextReplacement {
  const last = map.items.at(-1);
  if (map.flow === true) {
    const entry = renderFlowEntry(key, value, chooseMappingStyle(map));
    return last === undefined
      ? makeInsertion(findSpan(map).start + 1, entry)
      : makeInsertion(findPairEnd(text, last), `, ${entry}`);
  }
  const indent = findIndent(map);
  const below = findNextLine(text, last === undefined ? text.length - 1 : findPairEnd(text, last));
  // The top-level lists are short lists of names. Write each on one line, as the documentation does.
  const lines =
    Array.isArray(value) && indent === ''
      ? `${renderFlowEntry(key, value, 'plain')}\n`
      : renderYamlLines({ [key]: value }, indent);
  return makeInsertion(below + measureIndentedComments(text.slice(below), indent), lines ?? '');
}

/** Renders an entry of a mapping on one line, without the braces around the mapping. */
function renderFlowEntry(key: string, value: JsonValue, style: TextStyle): string {
  return renderYamlValue({ [key]: value }, style).slice(1, -1);
}

/** Measures the initial comments that are indented more than the entries. They belong to the last entry. */
function measureIndentedComments(text: string, indent: string): number {
  return new RegExp(`^(?:\\n*${indent} +#.*\\n)*`).exec(text)?.[0].length ?? 0;
}

/** Replaces the value of an entry. The new value keeps the style of the old value if possible. */
function replaceValue(text: string, map: YAMLMap, pair: Pair, value: JsonValue): readonly TextReplacement[] {
  const { value: old, srcToken } = pair;
  const colon = srcToken?.sep?.find(({ type }) => type === 'map-value-ind')?.offset;
  const { start } = findSpan(old);
  const end = findPairEnd(text, pair);
  const written = renderYamlValue(value, chooseValueStyle(map, old));
  const afterColon = colon === undefined ? makeInsertion(end, `: ${written}`) : makeInsertion(colon + 1, ` ${written}`);
  if (isBlockScalar(old)) {
    const lines = { start, end: findNextLine(text, end) };
    return [{ ...lines, text: renderBlockScalar(text.slice(start, lines.end), value, written, findIndent(map)) }];
  }
  if (!isBlockCollection(old) || !isFirstOnLine(text, start)) {
    return [old === null || start === end ? afterColon : { start, end, text: written }];
  }
  const lines = { start: findLineStart(text, start), end: findNextLine(text, end) };
  const content = renderYamlLines(value, chooseIndent(value, text.slice(lines.start, start), findIndent(map)));
  return content === null ? [afterColon, { ...lines, text: '' }] : [{ ...lines, text: content }];
}

function makeInsertion(offset: number, text: string): TextReplacement {
  return { start: offset, end: offset, text };
}

/** Reuses the old indentation unless YAML forbids it: a mapping, unlike a list, must be indented more than its key. */
function chooseIndent(value: JsonValue, oldIndent: string, keyIndent: string): string {
  return isJsonObject(value) && oldIndent.length <= keyIndent.length ? `${keyIndent}  ` : oldIndent;
}

function removeEntry(
  text: string,
  { map, pair, rest }: EntryTarget,
  path: readonly string[],
): readonly TextReplacement[] {
  if (pair === undefined || rest.length > 0) return [];
  if (map.flow === true) return removeFlowEntry(text, map, pair);
  if (!isFirstOnLine(text, findPairStart(pair))) return [];
  const parentPath = path.slice(0, -1);
  const isOnlyNestedEntry = map.items.length <= 1 && parentPath.length > 0;
  if (isOnlyNestedEntry) return makeYamlReplacements(text, { path: parentPath, value: {} });
  const start = findLineStart(text, findPairStart(pair));
  const end = findNextLine(text, findPairEnd(text, pair));
  return [{ start, end, text: '' }];
}

/** Returns nothing if the range spans several lines, because it may contain comments about other entries. */
function removeFlowEntry(text: string, map: YAMLMap, pair: Pair): readonly TextReplacement[] {
  const removal = makeFlowRemoval(text, map, pair);
  return text.slice(removal.start, removal.end).includes('\n') ? [] : [removal];
}

/** Creates the replacement that removes an entry and the comma before or after it from a flow mapping. */
function makeFlowRemoval(text: string, map: YAMLMap, pair: Pair): TextReplacement {
  const index = map.items.indexOf(pair);
  const previous = map.items[index - 1];
  const next = map.items[index + 1];
  if (previous !== undefined) return { start: findPairEnd(text, previous), end: findPairEnd(text, pair), text: '' };
  if (next !== undefined) return { start: findPairStart(pair), end: findPairStart(next), text: '' };
  return { ...findSpan(map), text: '{}' };
}

/** Returns the style of the old value if it is a string, or else the style of the mapping. */
function chooseValueStyle(map: YAMLMap, old: unknown): TextStyle {
  if (!isScalar(old) || typeof old.value !== 'string') return chooseMappingStyle(map);
  if (old.type === 'QUOTE_SINGLE') return 'single';
  return old.type === 'QUOTE_DOUBLE' ? 'double' : 'plain';
}

/** Returns `double` for a flow mapping whose strings are all in double quotes, as in JSON. */
function chooseMappingStyle({ flow, items }: YAMLMap): TextStyle {
  const nodes = items.flatMap(({ key, value }) => [key, value]).filter((node) => isScalar(node));
  const texts = nodes.filter(({ value }) => typeof value === 'string');
  const isJson = flow === true && texts.length > 0 && texts.every(({ type }) => type === 'QUOTE_DOUBLE');
  return isJson ? 'double' : 'plain';
}

function findIndent({ srcToken }: YAMLMap): string {
  return ' '.repeat(srcToken?.type === 'block-map' ? srcToken.indent : 0);
}

function findPairStart({ key }: Pair): number {
  return findSpan(key).start;
}

/** Returns the offset right after an entry, before any comments and blank lines that follow the entry. */
function findPairEnd(text: string, { key, value }: Pair): number {
  return findNodeEnd(text, value ?? key);
}

/** The span excludes comments after the node, except those after the last item of a block collection. */
function findSpan(node: unknown): TextSpan {
  const [start, end] = (isScalar(node) || isMap(node) || isSeq(node) ? node.range : null) ?? [0, 0];
  return { start, end };
}

/** Returns the offset at which the next line begins. The text must end with a line feed. */
function findNextLine(text: string, offset: number): number {
  return text.indexOf('\n', offset) + 1;
}

function isFirstOnLine(text: string, offset: number): boolean {
  return text.slice(findLineStart(text, offset), offset).trim() === '';
}

function isBlockScalar(node: unknown): boolean {
  return isScalar(node) && (node.type === 'BLOCK_FOLDED' || node.type === 'BLOCK_LITERAL');
}

/** For a block collection, returns the end of its last item, because its span includes the comments after that item. */
function findNodeEnd(text: string, node: unknown): number {
  const span = findSpan(node);
  if (isBlockScalar(node)) return findBlockScalarEnd(text, span);
  if (!isBlockCollection(node)) return span.end;
  const last: unknown = node.items.at(-1);
  return isPair(last) ? findPairEnd(text, last) : findNodeEnd(text, last);
}

function isBlockCollection(node: unknown): node is YAMLMap | YAMLSeq {
  return (isMap(node) || isSeq(node)) && node.flow !== true;
}

/** Returns the offset of the last line feed. Blank lines at the end belong to the value only with the indicator `+`. */
function findBlockScalarEnd(text: string, { start, end }: TextSpan): number {
  const keepsLineFeeds = /^[^\s#]*\+/.test(text.slice(start, end));
  if (keepsLineFeeds) return text[end - 1] === '\n' ? end - 1 : end;
  let offset = end;
  while (text[offset - 1] === '\n') offset -= 1;
  return offset;
}
