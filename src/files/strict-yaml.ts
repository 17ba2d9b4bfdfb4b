import {
  type Document,
  type ParseOptions,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

/** A YAML mapping as plain data that still knows where each of its values stands. */
export type LocatedMapping = {
  /** What a problem was found with is null in here; its shape is not worth another problem. */
  readonly value: JsonObject;
  readonly has: (path: readonly PropertyKey[]) => boolean;
  /** Whether the value at a path has a problem already. */
  readonly isRefused: (path: readonly PropertyKey[]) => boolean;
  /** The keys of the mapping at a path as they are written: objects would put `"10"` before `"b"`. */
  readonly keysOf: (path: readonly PropertyKey[]) => readonly string[];
  /** The place of the value at a path, or of the nearest value around it. */
  readonly placeOf: (path: readonly PropertyKey[]) => Place;
  readonly keyPlaceOf: (path: readonly PropertyKey[]) => Place;
};

/** The mapping is null when nothing in the text can be relied on. */
type YamlResult = { readonly mapping: LocatedMapping | null; readonly problems: readonly Problem[] };

const MOST_REPORTED = 20;

/**
 * Parses one YAML 1.2 document (core schema) that must be a mapping of plain JSON data: no tags, anchors, aliases,
 * merge keys, directives, duplicate keys or numbers that JavaScript cannot keep.
 * @param firstLine the line of the file on which the text begins
 */
export function parseStrictYaml(text: string, path: string, firstLine = 1): YamlResult {
  const lines = new LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { path, line: Math.max(line, 1) + firstLine - 1, column: Math.max(col, 1) };
  };
  const document = parseYamlDocument(text, { lineCounter: lines });
  if (document === null) return failed([makeProblem('yaml/too-deep', {}, placeAt(0))]);
  const problems = syntaxProblems(document, placeAt);
  if (problems.length > 0) return failed(problems);
  const result = toJson(document.contents, placeAt);
  const value = isEmpty(document) ? {} : result.value;
  if (isJsonObject(value)) return { mapping: locate(value, document, result, placeAt), problems: result.problems };
  return failed(result.problems.length > 0 ? result.problems : [makeProblem('yaml/not-a-mapping', {}, placeAt(0))]);
}

function isEmpty({ contents }: Document): boolean {
  return contents === null || (isScalar(contents) && contents.value === null && contents.source === '');
}

/** What the library says first; after a few errors the rest only follows from them, and may be thousands. */
function syntaxProblems(document: Document, placeAt: (offset: number) => Place): readonly Problem[] {
  const warnings = document.warnings.filter((warning) => warning.code !== 'TAG_RESOLVE_FAILED');
  const found = [...document.errors, ...warnings]
    .slice(0, MOST_REPORTED)
    .map((error) => makeProblem('yaml/syntax', { reason: wordingOf(error) }, placeAt(error.pos[0])));
  if (!hasDirectives(document)) return found;
  return [...found, makeProblem('yaml/syntax', { reason: 'directives are not allowed' }, placeAt(0))];
}

function hasDirectives({ directives }: Document): boolean {
  if (directives === undefined) return false;
  const { yaml, tags } = directives;
  return yaml.explicit === true || Object.keys(tags).length !== 1 || tags['!!'] !== 'tag:yaml.org,2002:';
}

/** The first sentence, without the source that some messages quote: it may be long, or a secret. */
function wordingOf({ code, message }: Document['errors'][number]): string {
  if (code === 'MULTIPLE_DOCS') return 'it holds more than one document';
  const sentence = (message.split('\n')[0] ?? message).replace(/: ".*$/, '').replace(/[.:]?\s*$/, '');
  return sentence.slice(0, 200);
}

function locate(
  value: JsonObject,
  { contents }: Document,
  { refused }: JsonResult,
  placeAt: (offset: number) => Place,
): LocatedMapping {
  return {
    value,
    has: (path) => follow(contents, path).found,
    isRefused: (path) => refused.has(follow(contents, path).node),
    keysOf: (path) => keysOf(follow(contents, path)),
    placeOf: (path) => {
      const { key, node } = follow(contents, path);
      return placeAt(offsetOf(node ?? key));
    },
    keyPlaceOf: (path) => placeAt(offsetOf(follow(contents, path).key)),
  };
}

/** A value with its key, which is an item itself in a list; where nothing is found, what is around it. */
type Followed = { readonly key: unknown; readonly node: unknown; readonly found: boolean };

/** Goes down a path as far as there are values. */
function follow(root: unknown, path: readonly PropertyKey[]): Followed {
  let at = { key: root, node: root };
  for (const step of path) {
    const child = childOf(at.node, step);
    if (child === null) return { ...at, found: false };
    at = child;
  }
  return { ...at, found: true };
}

function childOf(node: unknown, step: PropertyKey): Omit<Followed, 'found'> | null {
  if (isSeq(node)) {
    const item = typeof step === 'number' ? node.items[step] : undefined;
    return item === undefined ? null : { key: item, node: item };
  }
  const pair = isMap(node) ? pairsOf(node).get(step) : undefined;
  return pair === undefined ? null : { key: pair.key, node: pair.value };
}

function keysOf({ node, found }: Followed): readonly string[] {
  const keys = found && isMap(node) ? [...pairsOf(node).keys()] : [];
  return keys.filter((key) => typeof key === 'string');
}

/** Found once for each mapping: it may have thousands of keys, each with a place. */
function pairsOf(map: YAMLMap): ReadonlyMap<unknown, Pair> {
  const known = PAIRS.get(map);
  if (known !== undefined) return known;
  const pairs = new Map(map.items.map((pair) => [isScalar(pair.key) ? pair.key.value : null, pair]));
  PAIRS.set(map, pairs);
  return pairs;
}

const PAIRS = new WeakMap<YAMLMap, ReadonlyMap<unknown, Pair>>();

function failed(problems: readonly Problem[]): YamlResult {
  return { mapping: null, problems };
}

/**
 * Parses YAML as all of promptsync reads it: version 1.2, core schema, integers whole. Null when the nesting is deeper
 * than the library's recursion can follow.
 */
export function parseYamlDocument(text: string, wanted: ParseOptions): Document | null {
  try {
    const document = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      uniqueKeys: false, // The library's check is quadratic; `toJson` has its own.
      intAsBigInt: true,
      prettyErrors: false,
      logLevel: 'error', // With `silent` a second document would be dropped without an error.
      ...wanted,
    });
    return document.errors.some((error) => error.code === 'RESOURCE_EXHAUSTION') ? null : document;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

type JsonResult = {
  readonly value: JsonValue;
  readonly problems: readonly Problem[];
  /** The nodes that have a problem: what their shape has wrong only follows from it. */
  readonly refused: ReadonlySet<unknown>;
};

type Walk = {
  readonly placeAt: (offset: number) => Place;
  readonly problems: Problem[];
  readonly refused: Set<unknown>;
};

const DEEPEST = 64;

/** Turns a parsed YAML node into plain JSON data, noting all that is not plain; that is null in it. */
export function toJson(node: unknown, placeAt: (offset: number) => Place): JsonResult {
  const walk: Walk = { placeAt, problems: [], refused: new Set() };
  return { value: convert(walk, node, offsetOf(node), 0), problems: walk.problems, refused: walk.refused };
}

function convert(walk: Walk, node: unknown, offset: number, depth: number): JsonValue {
  const problem = depth > DEEPEST ? makeProblem('yaml/too-deep', {}, walk.placeAt(offset)) : oddity(walk, node, offset);
  if (problem !== null) return refuse(walk, problem, node);
  if (isScalar(node)) return convertScalar(walk, node, offset);
  if (isMap(node)) return convertMap(walk, node, depth);
  return isSeq(node) ? node.items.map((item) => convert(walk, item, offsetOf(item), depth + 1)) : null;
}

function convertMap(walk: Walk, map: YAMLMap, depth: number): JsonValue {
  const values = new Map<string, JsonValue>();
  for (const pair of map.items) {
    const keyOffset = offsetOf(pair.key ?? pair.value);
    const value = convert(walk, pair.value, pair.value === null ? keyOffset : offsetOf(pair.value), depth + 1);
    const key = keyOf(walk, pair, keyOffset);
    if (key === null) continue;
    if (values.has(key)) walk.problems.push(makeProblem('yaml/duplicate-key', { key }, walk.placeAt(keyOffset)));
    values.set(key, value);
  }
  return Object.fromEntries(values);
}

function convertScalar(walk: Walk, scalar: Scalar, offset: number): JsonValue {
  const { value } = scalar;
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (isExact(value)) return Number(value);
  const number = scalar.source ?? String(value);
  return refuse(walk, makeProblem('yaml/number', { number }, walk.placeAt(offset)), scalar);
}

/** Integers come as bigint, except those with a point or an exponent, which were rounded already. */
function isExact(value: unknown): boolean {
  const number = Number(value);
  if (typeof value === 'bigint') return Math.abs(number) <= 2 ** 53 && BigInt(number) === value;
  return Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number);
}

/** A key is a text; null when it is something else, or a text that means more than itself. */
function keyOf(walk: Walk, { key }: Pair, offset: number): string | null {
  const name = isScalar(key) ? key.value : undefined;
  const found = oddity(walk, key, offset) ?? keyProblem(walk, key, offset);
  if (found !== null) walk.problems.push(found);
  return found === null && typeof name === 'string' ? name : null;
}

function keyProblem({ placeAt }: Walk, key: unknown, offset: number): Problem | null {
  const name = isScalar(key) ? key.value : undefined;
  if (typeof name !== 'string') return makeProblem('yaml/key-not-text', {}, placeAt(offset));
  const merges = name === '<<' && isScalar(key) && key.type === 'PLAIN';
  return merges || name === '__proto__' ? makeProblem('yaml/forbidden-key', { key: name }, placeAt(offset)) : null;
}

/** What a value or a key has that plain data has not. */
function oddity({ placeAt }: Walk, node: unknown, offset: number): Problem | null {
  if (isAlias(node) || (isNode(node) && 'anchor' in node && node.anchor !== undefined)) {
    return makeProblem('yaml/alias', {}, placeAt(offset));
  }
  const tag = isNode(node) ? node.tag : undefined;
  if (tag !== undefined) return makeProblem('yaml/tag', { tag }, placeAt(offset));
  const text = isScalar(node) && typeof node.value === 'string' ? node.value : '';
  if (text.isWellFormed() && !text.includes('\0')) return null;
  const reason = text.isWellFormed() ? 'a text holds a NUL character' : 'an escape sequence names half of a character';
  return makeProblem('yaml/syntax', { reason }, placeAt(offset));
}

function refuse({ problems, refused }: Walk, problem: Problem, node: unknown): null {
  problems.push(problem);
  refused.add(node);
  return null;
}

/** Where a node begins. */
export function offsetOf(node: unknown): number {
  return (isNode(node) ? node.range?.[0] : undefined) ?? 0;
}
