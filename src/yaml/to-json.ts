import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import type { JsonValue } from '../domain/json.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

/** Where the values of a document stand, in the shape of the document itself. */
export type PlaceTree = {
  readonly place: Place;
  /** Of the key whose value it is; elsewhere its own place. */
  readonly keyPlace: Place;
  /** It has a problem already, so that what its shape has wrong only follows from that. */
  readonly refused: boolean;
  /** In the order in which they are written. */
  readonly children: ReadonlyMap<string | number, PlaceTree>;
};

export type JsonResult = {
  readonly value: JsonValue;
  readonly problems: readonly Problem[];
  readonly places: PlaceTree;
};

type Walk = { readonly placeAt: (offset: number) => Place; readonly problems: Problem[] };
type Spot = { readonly place: Place; readonly keyPlace: Place; readonly depth: number };
type Converted = { readonly value: JsonValue; readonly places: PlaceTree };

const DEEPEST = 64;

/** Turns a parsed YAML node into plain JSON data, noting where each value stands and all that is not plain. */
export function toJson(node: unknown, placeAt: (offset: number) => Place): JsonResult {
  const walk: Walk = { placeAt, problems: [] };
  const place = placeAt(offsetOf(node));
  const converted = convert(walk, node, { place, keyPlace: place, depth: 0 });
  return { ...converted, problems: walk.problems };
}

function convert(walk: Walk, node: unknown, spot: Spot): Converted {
  const problem = spot.depth > DEEPEST ? makeProblem('yaml/too-deep', {}, spot.place) : oddity(node, spot.place);
  if (problem !== null) return refuse(walk, problem, spot);
  if (isMap(node)) return convertMap(walk, node, spot);
  if (isSeq(node)) return convertSeq(walk, node, spot);
  return isScalar(node) ? convertScalar(walk, node, spot) : converted(null, spot);
}

function convertMap(walk: Walk, map: YAMLMap, spot: Spot): Converted {
  const values = new Map<string, JsonValue>();
  const children = new Map<string, PlaceTree>();
  for (const pair of map.items) {
    const keyPlace = walk.placeAt(offsetOf(pair.key ?? pair.value));
    const place = pair.value === null ? keyPlace : walk.placeAt(offsetOf(pair.value));
    const { value, places } = convert(walk, pair.value, { place, keyPlace, depth: spot.depth + 1 });
    const key = keyOf(walk, pair, keyPlace);
    if (key === null) continue;
    if (values.has(key)) walk.problems.push(makeProblem('yaml/duplicate-key', { key }, keyPlace));
    values.set(key, value);
    children.set(key, places);
  }
  return converted(Object.fromEntries(values), spot, children);
}

function convertSeq(walk: Walk, seq: YAMLSeq, spot: Spot): Converted {
  const items = seq.items.map((item) => {
    const place = walk.placeAt(offsetOf(item));
    return convert(walk, item, { place, keyPlace: place, depth: spot.depth + 1 });
  });
  const children = new Map(items.map(({ places }, index) => [index, places]));
  return converted(
    items.map(({ value }) => value),
    spot,
    children,
  );
}

function convertScalar(walk: Walk, scalar: Scalar, spot: Spot): Converted {
  const { value } = scalar;
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return converted(value, spot);
  if (isExact(value)) return converted(Number(value), spot);
  return refuse(walk, makeProblem('yaml/number', { number: scalar.source ?? String(value) }, spot.place), spot);
}

/** Integers come as bigint, except those with a point or an exponent, which were rounded already. */
function isExact(value: unknown): boolean {
  const number = Number(value);
  if (typeof value === 'bigint') return Math.abs(number) <= 2 ** 53 && BigInt(number) === value;
  return Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number);
}

/** A key is a text; null when it is something else, or a text that means more than itself. */
function keyOf(walk: Walk, { key }: Pair, place: Place): string | null {
  const name = isScalar(key) ? key.value : undefined;
  const problem = oddity(key, place) ?? (typeof name === 'string' ? null : makeProblem('yaml/key-not-text', {}, place));
  const merges = name === '<<' && isScalar(key) && key.type === 'PLAIN';
  const forbidden = merges || name === '__proto__' ? makeProblem('yaml/forbidden-key', { key: name }, place) : null;
  const found = problem ?? forbidden;
  if (found !== null) walk.problems.push(found);
  return found === null && typeof name === 'string' ? name : null;
}

/** What a value or a key has that plain data has not. */
function oddity(node: unknown, place: Place): Problem | null {
  if (isAlias(node) || (isNode(node) && 'anchor' in node && node.anchor !== undefined)) {
    return makeProblem('yaml/alias', {}, place);
  }
  const tag = isNode(node) ? node.tag : undefined;
  if (tag !== undefined) return makeProblem('yaml/tag', { tag }, place);
  const text = isScalar(node) && typeof node.value === 'string' ? node.value : '';
  if (text.includes('\0')) return makeProblem('yaml/syntax', { reason: 'a text holds a NUL character' }, place);
  if (text.isWellFormed()) return null;
  return makeProblem('yaml/syntax', { reason: 'an escape sequence names half of a character' }, place);
}

function converted(value: JsonValue, spot: Spot, children: PlaceTree['children'] = new Map()): Converted {
  return { value, places: { place: spot.place, keyPlace: spot.keyPlace, refused: false, children } };
}

function refuse(walk: Walk, problem: Problem, { place, keyPlace }: Spot): Converted {
  walk.problems.push(problem);
  return { value: null, places: { place, keyPlace, refused: true, children: new Map() } };
}

function offsetOf(node: unknown): number {
  return (isNode(node) ? node.range?.[0] : undefined) ?? 0;
}

function isNode(node: unknown): node is Node & { tag?: string } {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node);
}
