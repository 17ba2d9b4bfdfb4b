import * as yaml from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import {
  findAllLookAlikes,
  type LookAlikeFinder,
  makeLookAlikeFinder,
  quoteYamlValue,
  readLine,
  type YamlLine,
} from './yaml-line.ts';

/** A YAML mapping as JSON data, with the place of each value. A path is the list of keys that lead to a value. */
export type LocatedMapping = {
  /** A value with a problem is null here, so that the values inside it cause no further problems. */
  readonly value: JsonObject;
  readonly valueAt: (path: YamlPath) => JsonValue | undefined;
  /** Whether the value at the path has a problem. If there is no value, checks the nearest enclosing one. */
  readonly isRefused: (path: YamlPath) => boolean;
  /** Returns the keys in file order. `value` may have another order, because JavaScript moves keys such as `"10"`. */
  readonly keysOf: (path: YamlPath) => readonly string[];
  /** Returns the place of the value at the path, or of the nearest enclosing value if it does not exist. */
  readonly placeOf: (path: YamlPath) => Place;
  /** Returns the place of the key at the path, or of the nearest enclosing key if it does not exist. */
  readonly keyPlaceOf: (path: YamlPath) => Place;
  /**
   * Returns a problem if the line of the value or key at a path contains a character that only looks like a colon, a
   * space, or a line break. Callers must call this only for invalid values and keys.
   * @param unknownName the key at the path, if it is unknown
   */
  readonly findLookAlike: (path: YamlPath, unknownName?: string) => Problem | null;
  /** Warns about the first value at or below a path to which YAML 1.1 gives a different meaning. */
  readonly warnAboutYaml11: (path: YamlPath) => readonly Problem[];
};

type YamlPath = readonly PropertyKey[];

/** The result of parsing YAML. The mapping is null if the text has syntax errors or is not a mapping. */
type YamlResult = { readonly mapping: LocatedMapping | null; readonly problems: readonly Problem[] };

type PlaceAt = (offset: number) => Place;

const MAX_SYNTAX_PROBLEMS = 20;

type YamlSource = {
  /** The number of the line on which the text begins in the file. */
  readonly firstLine?: number;
  /** Whether messages may show the values. False for a file that may contain a secret. */
  readonly showsLines?: boolean;
};

/**
 * Parses one YAML 1.2 document (core schema) that must be a mapping of JSON data. Reports tags, anchors, aliases, merge
 * keys, directives, duplicate keys and numbers that JavaScript cannot represent exactly.
 */
export function parseStrictYaml(
  text: string,
  path: string,
  { firstLine = 1, showsLines = false }: YamlSource = {},
): YamlResult {
  const lines = new yaml.LineCounter();
  const placeAt: PlaceAt = (offset) => {
    const { line, col } = lines.linePos(offset);
    return { path, line: Math.max(line, 1) + firstLine - 1, column: Math.max(col, 1) };
  };
  const document = parseYamlDocument(text, { lineCounter: lines });
  if (document === null) return makeFailedResult([makeProblem('yaml/too-deep', {}, placeAt(0))]);
  const findLookAlikeAt = makeLookAlikeFinder(text, placeAt);
  const problems = listSyntaxProblems(document, {
    text,
    findLookAlikeAt,
    showsLines,
    findLine: (at) => lines.linePos(at).line,
    placeAt,
  });
  if (problems.length > 0) return makeFailedResult(problems);
  const root = readNode({ placeAt, problems }, document.contents, 0);
  const { contents } = document;
  const isEmpty = contents === null || (yaml.isScalar(contents) && contents.value === null && contents.source === '');
  const value = isEmpty ? {} : root.json;
  if (isJsonObject(value)) return { mapping: makeLocatedMapping(value, root, placeAt, findLookAlikeAt), problems };
  return makeFailedResult(problems.length > 0 ? problems : explainMissingMapping(text, placeAt(0), findLookAlikeAt));
}

/** Explains why YAML text is not a mapping. If the text contains look-alikes, returns only the problems about them. */
function explainMissingMapping(text: string, place: Place, findLookAlikeAt: LookAlikeFinder): readonly Problem[] {
  const lookAlikes = findAllLookAlikes(text, findLookAlikeAt).slice(0, MAX_SYNTAX_PROBLEMS);
  return lookAlikes.length > 0 ? lookAlikes : [makeProblem('yaml/not-a-mapping', {}, place)];
}

type YamlError = yaml.Document['errors'][number];

type SyntaxSource = {
  readonly text: string;
  readonly showsLines: boolean;
  /** Returns the line number of an offset, counted from 1. */
  readonly findLine: (offset: number) => number;
  readonly placeAt: PlaceAt;
  readonly findLookAlikeAt: LookAlikeFinder;
};

/**
 * Returns one problem for each line, at most `MAX_SYNTAX_PROBLEMS`, because later ones usually result from the first. A
 * line that begins with `%` would be a directive, so the library is not asked. Omits unknown tags, because
 * `findUnsupportedFeature` reports every tag.
 */
function listSyntaxProblems(document: yaml.Document, source: SyntaxSource): Problem[] {
  const { text, placeAt, findLine } = source;
  if (/^%/m.test(text)) {
    return [makeProblem('yaml/syntax', { reason: 'a line begins with %', corrected: null }, placeAt(0))];
  }
  const warnings = document.warnings.filter((warning) => warning.code !== 'TAG_RESOLVE_FAILED');
  const errors = [...document.errors, ...warnings]
    .slice(0, MAX_SYNTAX_PROBLEMS)
    .map((error) => ({ error, offset: findFault(error, text) }));
  const firstOfEachLine = errors.filter(
    ({ offset }, index) => errors.findIndex((other) => findLine(other.offset) === findLine(offset)) === index,
  );
  return firstOfEachLine.map(({ error, offset }) => {
    const lookAlike = source.findLookAlikeAt(offset);
    if (lookAlike !== null) return lookAlike;
    const correction = quoteYamlValue(readLine(text, offset));
    const corrected = correction === null ? null : renderCorrection(correction, source);
    const reason = describeSyntaxError(error, correction !== null);
    return makeProblem('yaml/syntax', { reason, corrected }, placeAt(offset));
  });
}

/** Finds the fault that caused an error. The library notices an unclosed quotation mark only at the end of the text. */
function findFault({ message, pos: [offset] }: YamlError, text: string): number {
  if (!message.startsWith('Missing closing')) return offset;
  const openings = [...text.slice(0, offset).matchAll(/^.*:[ \t]+(?=["'])/gm)];
  const opening = openings.findLast(({ index }) => quoteYamlValue(readLine(text, index)) !== null);
  return opening === undefined ? offset : opening.index + opening[0].length;
}

/** The maximum length of a corrected line in a message. */
const MAX_SHOWN_LENGTH = 120;

/** Renders a corrected line. Omits the value if it is long or may be secret. Returns null if the name is also long. */
function renderCorrection({ start, value, end }: YamlLine, { showsLines }: SyntaxSource): string | null {
  const line = `${start.trimStart()}${value}${end}`;
  if (showsLines && line.length <= MAX_SHOWN_LENGTH) return line;
  return start.length <= MAX_SHOWN_LENGTH ? `${start.trimStart()}"…"` : null;
}

/**
 * Describes an error as a clause. Omits quoted source text, because it may be long or secret.
 * @param needsQuotes whether the line would be valid with its value in quotes
 */
function describeSyntaxError({ code, message }: YamlError, needsQuotes: boolean): string {
  if (code === 'MULTIPLE_DOCS') return 'it contains more than one document';
  if (code === 'TAB_AS_INDENT') return 'a tab is used for indentation';
  if (message.startsWith('Missing closing')) return 'a quotation mark is not closed';
  if (message.startsWith('Flow sequence')) return 'a list that begins with [ does not end with ]';
  if (message.startsWith('Flow map')) return 'a mapping that begins with { does not end with }';
  if (message.startsWith('Implicit keys')) return 'a line has no colon, or its indentation is wrong';
  const isNested = message.startsWith('Nested mappings');
  if (needsQuotes) return isNested ? 'a value that contains a colon needs quotes' : 'this value needs quotes';
  if (isNested) return 'a line below this value is indented too far';
  const sentence = (message.split('\n')[0] ?? message).replace(/: ".*$/, '').replace(/[.:]?\s*$/, '');
  return sentence.slice(0, 200);
}

function makeLocatedMapping(
  value: JsonObject,
  root: PlainNode,
  placeAt: PlaceAt,
  findLookAlikeAt: LookAlikeFinder,
): LocatedMapping {
  return {
    value,
    valueAt: (path) => followYamlPath(root, path).target?.json,
    isRefused: (path) => followYamlPath(root, path).nearest.isRefused,
    keysOf: (path) =>
      [...(followYamlPath(root, path).target?.children.keys() ?? [])].filter((key) => typeof key === 'string'),
    placeOf: (path) => placeAt(followYamlPath(root, path).nearest.offset),
    keyPlaceOf: (path) => placeAt(followYamlPath(root, path).nearest.keyOffset),
    findLookAlike: (path, unknownName) => {
      const { keyOffset, offset } = followYamlPath(root, path).nearest;
      return findLookAlikeAt(keyOffset, unknownName) ?? findLookAlikeAt(offset);
    },
    warnAboutYaml11: (path) => {
      const [first, ...others] = listYaml11Values(followYamlPath(root, path).target);
      if (first === undefined) return [];
      const evidence = { written: first.source, others: others.length };
      return [makeProblem('yaml/ambiguous-value', evidence, placeAt(first.offset))];
    },
  };
}

type WrittenValue = { readonly source: string; readonly offset: number };

/** Matches unquoted values that YAML 1.1, unlike YAML 1.2, reads as a Boolean or as an octal number. */
const YAML_1_1_VALUE = /^(?:[Yy]es|YES|[Nn]o|NO|[Oo]n|ON|[Oo]ff|OFF|[-+]?0[0-9]+)$/;

function listYaml11Values(node: PlainNode | undefined): readonly WrittenValue[] {
  if (node === undefined) return [];
  const { source, offset, children } = node;
  if (source !== null && YAML_1_1_VALUE.test(source)) return [{ source, offset }];
  return [...children.values()].flatMap(listYaml11Values);
}

/** `nearest` is the last value that exists on the path, and `target` is the value at the end of the path. */
function followYamlPath(root: PlainNode, path: YamlPath): { nearest: PlainNode; target?: PlainNode } {
  let nearest = root;
  for (const step of path) {
    const inner = nearest.children.get(step);
    if (inner === undefined) return { nearest };
    nearest = inner;
  }
  return { nearest, target: nearest };
}

function makeFailedResult(problems: readonly Problem[]): YamlResult {
  return { mapping: null, problems };
}

/** Parses YAML 1.2 (core schema) with integers as `bigint`. Returns null if the nesting is too deep for the library. */
export function parseYamlDocument(text: string, options: yaml.ParseOptions): yaml.Document | null {
  try {
    const document = yaml.parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      uniqueKeys: false, // The library's check takes quadratic time. `readChildren` checks this instead.
      intAsBigInt: true,
      prettyErrors: false,
      logLevel: 'error', // With `silent`, the library would drop a second document without an error.
      ...options,
    });
    return document.errors.some((error) => error.code === 'RESOURCE_EXHAUSTION') ? null : document;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** A YAML value as JSON data, with its place and the values that it contains. */
type PlainNode = {
  /** The JSON data; null if the value has a problem. */
  readonly json: JsonValue;
  /** The value as it is written in the file, if it is an unquoted scalar without problems. Null otherwise. */
  readonly source: string | null;
  readonly offset: number;
  /** The offset of the value's key. For a list item, this is the offset of the item. */
  readonly keyOffset: number;
  /** Whether the value has a problem. If so, problems with its shape would only result from it. */
  readonly isRefused: boolean;
  /** The values directly inside this value, by index, or by key in file order. */
  readonly children: ReadonlyMap<PropertyKey, PlainNode>;
};

type YamlWalk = { readonly placeAt: PlaceAt; readonly problems: Problem[] };

const MAX_DEPTH = 64;

/** Shared by all nodes without children, which are most nodes. */
const NO_CHILDREN: PlainNode['children'] = new Map();

function readNode(walk: YamlWalk, node: unknown, keyOffset: number, depth = 0): PlainNode {
  const offset = yaml.isNode(node) ? findOffset(node) : keyOffset;
  const place = () => walk.placeAt(offset);
  const problem =
    depth > MAX_DEPTH
      ? makeProblem('yaml/too-deep', {}, place())
      : (findUnsupportedFeature(node, place) ?? findNumberProblem(node, place));
  if (problem !== null) walk.problems.push(problem);
  const children = problem === null ? readChildren(walk, node, depth + 1) : NO_CHILDREN;
  const json = problem === null ? toJsonValue(node, children) : null;
  const isPlain = problem === null && yaml.isScalar(node) && node.type === 'PLAIN';
  return { json, source: (isPlain && node.source) || null, offset, keyOffset, isRefused: problem !== null, children };
}

function readChildren(walk: YamlWalk, node: unknown, depth: number): PlainNode['children'] {
  if (yaml.isSeq(node))
    return new Map(node.items.map((item, at) => [at, readNode(walk, item, findOffset(item), depth)]));
  if (!yaml.isMap(node)) return NO_CHILDREN;
  const children = new Map<PropertyKey, PlainNode>();
  for (const pair of node.items) {
    const keyOffset = findOffset(pair.key ?? pair.value);
    const value = readNode(walk, pair.value, keyOffset, depth);
    const key = readPlainKey(walk, pair, keyOffset);
    if (key === null) continue;
    if (children.has(key)) walk.problems.push(makeProblem('yaml/duplicate-key', { key }, walk.placeAt(keyOffset)));
    children.set(key, value);
  }
  return children;
}

function toJsonValue(node: unknown, children: PlainNode['children']): JsonValue {
  if (yaml.isSeq(node)) return Array.from(children.values(), ({ json }) => json);
  if (yaml.isMap(node)) {
    // `readPlainKey` refuses the key `__proto__`.
    const object: Record<PropertyKey, JsonValue> = {};
    for (const [key, { json }] of children) object[key] = json;
    return object;
  }
  const value = yaml.isScalar(node) ? node.value : null;
  return typeof value === 'string' || typeof value === 'boolean' || value === null ? value : Number(value);
}

/** Refuses numbers that JavaScript would round. A number as a key is refused for another reason: it is not a string. */
function findNumberProblem(node: unknown, place: () => Place): Problem | null {
  if (!yaml.isScalar(node) || (typeof node.value !== 'number' && typeof node.value !== 'bigint')) return null;
  return isExact(node.value)
    ? null
    : makeProblem('yaml/number', { number: node.source ?? String(node.value) }, place());
}

/**
 * Returns false for infinity, NaN and integers that JavaScript cannot represent exactly. The library returns an integer
 * as `bigint`, or as an already rounded `number` if it is written with a decimal point or an exponent.
 */
function isExact(value: number | bigint): boolean {
  const number = Number(value);
  if (typeof value === 'bigint') return Math.abs(number) <= 2 ** 53 && BigInt(number) === value;
  return Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number);
}

/** Returns the key, or reports why it is refused: not a string, an anchor or tag, `__proto__`, or an unquoted `<<`. */
function readPlainKey({ placeAt, problems }: YamlWalk, { key }: yaml.Pair, offset: number): string | null {
  const place = () => placeAt(offset);
  const name = yaml.isScalar(key) ? key.value : undefined;
  const isMergeKey = name === '<<' && yaml.isScalar(key) && key.type === 'PLAIN';
  const problem = findUnsupportedFeature(key, place);
  if (problem !== null) problems.push(problem);
  else if (typeof name !== 'string') problems.push(makeProblem('yaml/key-not-text', {}, place()));
  else if (isMergeKey || name === '__proto__') problems.push(makeProblem('yaml/forbidden-key', { key: name }, place()));
  else return name;
  return null;
}

/** Refuses aliases, anchors, tags, NUL characters and lone surrogates. */
function findUnsupportedFeature(node: unknown, place: () => Place): Problem | null {
  if (!yaml.isNode(node)) return null;
  if (yaml.isAlias(node) || node.anchor !== undefined) return makeProblem('yaml/alias', {}, place());
  if (node.tag !== undefined) return makeProblem('yaml/tag', { tag: node.tag }, place());
  return yaml.isScalar(node) && typeof node.value === 'string' ? findTextProblem(node.value, place) : null;
}

function findTextProblem(text: string, place: () => Place): Problem | null {
  if (!text.isWellFormed()) {
    const reason = 'an escape sequence represents only half of a surrogate pair';
    return makeProblem('yaml/syntax', { reason, corrected: null }, place());
  }
  if (!text.includes('\0')) return null;
  return makeProblem('yaml/syntax', { reason: 'a string contains a NUL character', corrected: null }, place());
}

function findOffset(node: unknown): number {
  return (yaml.isNode(node) ? node.range?.[0] : undefined) ?? 0;
}
