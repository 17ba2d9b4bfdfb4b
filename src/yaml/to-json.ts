import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap } from 'yaml';
import type { JsonValue } from '../domain/json.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

export type JsonResult = {
  readonly value: JsonValue;
  readonly problems: readonly Problem[];
  /** `JSON.stringify(path)` → place of the value; with `key ` before it, place of the key. */
  readonly places: ReadonlyMap<string, Place>;
};

type Walk = {
  readonly placeAt: (offset: number) => Place;
  readonly problems: Problem[];
  readonly places: Map<string, Place>;
};

type Path = readonly (string | number)[];

const DEEPEST = 64;
const LARGEST = 2 ** 53;

/** Turns a parsed YAML node into plain JSON data, noting where each value stands and all that is not plain. */
export function toJson(node: unknown, placeAt: (offset: number) => Place): JsonResult {
  const walk: Walk = { placeAt, problems: [], places: new Map() };
  const value = convert(walk, node, []);
  return { value, problems: walk.problems, places: walk.places };
}

function convert(walk: Walk, node: unknown, path: Path): JsonValue {
  const place = walk.placeAt(offsetOf(node));
  walk.places.set(JSON.stringify(path), place);
  if (path.length > DEEPEST) return refuse(walk, makeProblem('yaml/too-deep', {}, place));
  if (isAlias(node) || hasAnchor(node)) return refuse(walk, makeProblem('yaml/alias', {}, place));
  const tag = tagOf(node);
  if (tag !== undefined) return refuse(walk, makeProblem('yaml/tag', { tag }, place));
  if (isMap(node)) return convertMap(walk, node, path);
  if (isSeq(node)) return node.items.map((item, index) => convert(walk, item, [...path, index]));
  if (isScalar(node)) return convertScalar(walk, node, place);
  return null;
}

function convertMap(walk: Walk, map: YAMLMap, path: Path): JsonValue {
  const entries = new Map<string, JsonValue>();
  for (const pair of map.items) {
    const key = keyOf(walk, pair);
    if (key === null) continue;
    const place = walk.placeAt(offsetOf(pair.key));
    if (entries.has(key)) walk.problems.push(makeProblem('yaml/duplicate-key', { key }, place));
    if (key === '__proto__') walk.problems.push(makeProblem('yaml/forbidden-key', { key }, place));
    walk.places.set(`key ${JSON.stringify([...path, key])}`, place);
    entries.set(key, convert(walk, pair.value ?? pair.key, [...path, key]));
    if (pair.value === null) entries.set(key, null);
  }
  return Object.fromEntries(entries);
}

function keyOf(walk: Walk, pair: Pair): string | null {
  const { key } = pair;
  if (isScalar(key) && !hasAnchor(key) && tagOf(key) === undefined && typeof key.value === 'string') return key.value;
  walk.problems.push(makeProblem('yaml/key-not-text', {}, walk.placeAt(offsetOf(key))));
  return null;
}

function convertScalar(walk: Walk, scalar: Scalar, place: Place): JsonValue {
  const { value } = scalar;
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  const number = Number(value);
  const exact = Number.isInteger(number) ? Math.abs(number) <= LARGEST : Number.isFinite(number);
  if (exact && !(typeof value === 'bigint' && BigInt(number) !== value)) return number;
  return refuse(walk, makeProblem('yaml/number', { number: scalar.source ?? String(value) }, place));
}

function refuse(walk: Walk, problem: Problem): null {
  walk.problems.push(problem);
  return null;
}

function offsetOf(node: unknown): number {
  return (isNode(node) ? node.range?.[0] : undefined) ?? 0;
}

function hasAnchor(node: unknown): boolean {
  return isNode(node) && 'anchor' in node && node.anchor !== undefined;
}

function tagOf(node: unknown): string | undefined {
  return isNode(node) ? node.tag : undefined;
}

function isNode(node: unknown): node is Node & { tag?: string } {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node);
}
