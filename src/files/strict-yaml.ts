import * as yaml from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

/** A YAML mapping as plain data, with the places of its values. A path leads from the mapping to a value in it. */
export type LocatedMapping = {
  /** The data. A value that has a problem is null here, so that its shape causes no further problem. */
  readonly value: JsonObject;
  /** Returns the value at a path; undefined if there is none. */
  readonly valueAt: (path: YamlPath) => JsonValue | undefined;
  /** Whether the value at a path, or the nearest value around it, has a problem already. */
  readonly isRefused: (path: YamlPath) => boolean;
  /** Returns the keys of the mapping at a path in the order of the file. JavaScript objects would put `"10"` before `"b"`. */
  readonly keysOf: (path: YamlPath) => readonly string[];
  /** Returns the place of the value at a path, or of the nearest value around it. */
  readonly placeOf: (path: YamlPath) => Place;
  /** Returns the place of the key at a path, or of the nearest key around it. */
  readonly keyPlaceOf: (path: YamlPath) => Place;
};

type YamlPath = readonly PropertyKey[];

/** The mapping is null when nothing in the text can be relied on. */
type YamlResult = { readonly mapping: LocatedMapping | null; readonly problems: readonly Problem[] };

type PlaceAt = (offset: number) => Place;

const MAX_SYNTAX_PROBLEMS = 20;

/**
 * Parses one YAML 1.2 document (core schema) that must be a mapping of plain JSON data: no tags, anchors, aliases,
 * merge keys, directives, duplicate keys or numbers that JavaScript cannot keep.
 * @param firstLine the line of the file on which the text begins
 */
export function parseStrictYaml(text: string, path: string, firstLine = 1): YamlResult {
  const lines = new yaml.LineCounter();
  const placeAt: PlaceAt = (offset) => {
    const { line, col } = lines.linePos(offset);
    return { path, line: Math.max(line, 1) + firstLine - 1, column: Math.max(col, 1) };
  };
  const document = parseYamlDocument(text, { lineCounter: lines });
  if (document === null) return makeFailedResult([makeProblem('yaml/too-deep', {}, placeAt(0))]);
  const problems = listSyntaxProblems(document, text, placeAt);
  if (problems.length > 0) return makeFailedResult(problems);
  const root = readNode({ placeAt, problems }, document.contents, 0);
  const { contents } = document;
  const isEmpty = contents === null || (yaml.isScalar(contents) && contents.value === null && contents.source === '');
  const value = isEmpty ? {} : root.json;
  if (isJsonObject(value)) return { mapping: makeLocatedMapping(value, root, placeAt), problems };
  return makeFailedResult(problems.length > 0 ? problems : [makeProblem('yaml/not-a-mapping', {}, placeAt(0))]);
}

/** What the library says first; after a few errors the rest only follows from them, and may be thousands. */
function listSyntaxProblems(document: yaml.Document, text: string, placeAt: PlaceAt): Problem[] {
  if (/^%/m.test(text)) return [makeProblem('yaml/syntax', { reason: 'a line begins with %' }, placeAt(0))];
  const warnings = document.warnings.filter((warning) => warning.code !== 'TAG_RESOLVE_FAILED');
  return [...document.errors, ...warnings]
    .slice(0, MAX_SYNTAX_PROBLEMS)
    .map((error) => makeProblem('yaml/syntax', { reason: describeSyntaxError(error) }, placeAt(error.pos[0])));
}

/** The first sentence, without the source that some messages quote: it may be long, or a secret. */
function describeSyntaxError({ code, message }: yaml.Document['errors'][number]): string {
  if (code === 'MULTIPLE_DOCS') return 'it holds more than one document';
  if (message.startsWith('Nested mappings')) return 'a value with a colon in it needs quotes around it';
  const sentence = (message.split('\n')[0] ?? message).replace(/: ".*$/, '').replace(/[.:]?\s*$/, '');
  return sentence.slice(0, 200);
}

function makeLocatedMapping(value: JsonObject, root: PlainNode, placeAt: PlaceAt): LocatedMapping {
  return {
    value,
    valueAt: (path) => followYamlPath(root, path).found?.json,
    isRefused: (path) => followYamlPath(root, path).nearest.isRefused,
    keysOf: (path) =>
      [...(followYamlPath(root, path).found?.inside.keys() ?? [])].filter((key) => typeof key === 'string'),
    placeOf: (path) => placeAt(followYamlPath(root, path).nearest.offset),
    keyPlaceOf: (path) => placeAt(followYamlPath(root, path).nearest.keyOffset),
  };
}

/** Goes down a path as far as there are values. */
function followYamlPath(nearest: PlainNode, path: YamlPath): { nearest: PlainNode; found?: PlainNode } {
  const [step, ...rest] = path;
  if (step === undefined) return { nearest, found: nearest };
  const inner = nearest.inside.get(step);
  return inner === undefined ? { nearest } : followYamlPath(inner, rest);
}

function makeFailedResult(problems: readonly Problem[]): YamlResult {
  return { mapping: null, problems };
}

/**
 * Parses YAML as all of promptsync reads it: version 1.2, core schema, integers whole. Null when the nesting is deeper
 * than the library's recursion can follow.
 */
export function parseYamlDocument(text: string, wanted: yaml.ParseOptions): yaml.Document | null {
  try {
    const document = yaml.parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      uniqueKeys: false, // The library's check is quadratic; `readInside` has its own.
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

/** A value as plain JSON data, with the places of what is in it. */
type PlainNode = {
  /** Null where it has a problem. */
  readonly json: JsonValue;
  readonly offset: number;
  /** Of an item in a list where the item begins. */
  readonly keyOffset: number;
  /** Whether it has a problem: what its shape has wrong only follows from that. */
  readonly isRefused: boolean;
  /** By keys in the order in which they are written, or by numbers. */
  readonly inside: ReadonlyMap<PropertyKey, PlainNode>;
};

/** What is not plain is noted while the nodes are read. */
type YamlWalk = { readonly placeAt: PlaceAt; readonly problems: Problem[] };

const MAX_DEPTH = 64;

function readNode(walk: YamlWalk, node: unknown, keyOffset: number, depth = 0): PlainNode {
  const offset = yaml.isNode(node) ? findOffset(node) : keyOffset;
  const place = () => walk.placeAt(offset);
  const problem =
    depth > MAX_DEPTH
      ? makeProblem('yaml/too-deep', {}, place())
      : (findUnsupportedFeature(node, place) ?? findNumberProblem(node, place));
  if (problem !== null) walk.problems.push(problem);
  const inside = problem === null ? readInside(walk, node, depth + 1) : new Map<PropertyKey, PlainNode>();
  const json = problem === null ? toJsonValue(node, inside) : null;
  return { json, offset, keyOffset, isRefused: problem !== null, inside };
}

function readInside(walk: YamlWalk, node: unknown, depth: number): PlainNode['inside'] {
  if (yaml.isSeq(node))
    return new Map(node.items.map((item, at) => [at, readNode(walk, item, findOffset(item), depth)]));
  const inside = new Map<PropertyKey, PlainNode>();
  for (const pair of yaml.isMap(node) ? node.items : []) {
    const keyOffset = findOffset(pair.key ?? pair.value);
    const value = readNode(walk, pair.value, keyOffset, depth);
    const key = readPlainKey(walk, pair, keyOffset);
    if (key === null) continue;
    if (inside.has(key)) walk.problems.push(makeProblem('yaml/duplicate-key', { key }, walk.placeAt(keyOffset)));
    inside.set(key, value);
  }
  return inside;
}

function toJsonValue(node: unknown, inside: PlainNode['inside']): JsonValue {
  if (yaml.isSeq(node)) return [...inside.values()].map(({ json }) => json);
  if (yaml.isMap(node)) return Object.fromEntries([...inside].map(([key, { json }]) => [key, json]));
  const value = yaml.isScalar(node) ? node.value : null;
  return typeof value === 'string' || typeof value === 'boolean' || value === null ? value : Number(value);
}

function findNumberProblem(node: unknown, place: () => Place): Problem | null {
  if (!yaml.isScalar(node) || (typeof node.value !== 'number' && typeof node.value !== 'bigint')) return null;
  return isExact(node.value)
    ? null
    : makeProblem('yaml/number', { number: node.source ?? String(node.value) }, place());
}

/** Integers come as bigint, except those with a point or an exponent, which were rounded already. */
function isExact(value: number | bigint): boolean {
  const number = Number(value);
  if (typeof value === 'bigint') return Math.abs(number) <= 2 ** 53 && BigInt(number) === value;
  return Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number);
}

/** A key is a text; null when it is something else, or a text that means more than itself. */
function readPlainKey({ placeAt, problems }: YamlWalk, { key }: yaml.Pair, offset: number): string | null {
  const place = () => placeAt(offset);
  const name = yaml.isScalar(key) ? key.value : undefined;
  const merges = name === '<<' && yaml.isScalar(key) && key.type === 'PLAIN';
  const found = findUnsupportedFeature(key, place);
  if (found !== null) problems.push(found);
  else if (typeof name !== 'string') problems.push(makeProblem('yaml/key-not-text', {}, place()));
  else if (merges || name === '__proto__') problems.push(makeProblem('yaml/forbidden-key', { key: name }, place()));
  else return name;
  return null;
}

/** What a value or a key has that plain data has not. */
function findUnsupportedFeature(node: unknown, place: () => Place): Problem | null {
  if (yaml.isAlias(node) || (yaml.isNode(node) && 'anchor' in node && node.anchor !== undefined)) {
    return makeProblem('yaml/alias', {}, place());
  }
  const tag = yaml.isNode(node) ? node.tag : undefined;
  if (tag !== undefined) return makeProblem('yaml/tag', { tag }, place());
  const text = yaml.isScalar(node) && typeof node.value === 'string' ? node.value : '';
  if (text.isWellFormed() && !text.includes('\0')) return null;
  const reason = text.isWellFormed() ? 'a text holds a NUL character' : 'an escape sequence names half of a character';
  return makeProblem('yaml/syntax', { reason }, place());
}

function findOffset(node: unknown): number {
  return (yaml.isNode(node) ? node.range?.[0] : undefined) ?? 0;
}
