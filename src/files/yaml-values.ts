import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import type { JsonValue } from '../domain/json.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

/** Where the values of a document stand, in the shape of the document itself; as offsets, since few are ever asked. */
export type PlaceTree = {
  readonly offset: number;
  /** Of the key whose value it is; elsewhere its own. */
  readonly keyOffset: number;
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
type Spot = { readonly offset: number; readonly keyOffset: number; readonly depth: number };
type Converted = { readonly value: JsonValue; readonly places: PlaceTree };

const DEEPEST = 64;
const SHORTEST_VIEW = 13;
const NO_CHILDREN: PlaceTree['children'] = new Map();

/** Turns a parsed YAML node into plain JSON data, noting where each value stands and all that is not plain. */
export function toJson(node: unknown, placeAt: (offset: number) => Place): JsonResult {
  const walk: Walk = { placeAt, problems: [] };
  const offset = offsetOf(node);
  const { value, places } = convert(walk, node, { offset, keyOffset: offset, depth: 0 });
  return { value, places, problems: walk.problems };
}

function convert(walk: Walk, node: unknown, spot: Spot): Converted {
  const tooDeep = spot.depth > DEEPEST;
  const problem = tooDeep
    ? makeProblem('yaml/too-deep', {}, walk.placeAt(spot.offset))
    : oddity(walk, node, spot.offset);
  if (problem !== null) return refuse(walk, problem, spot);
  if (isScalar(node)) return convertScalar(walk, node, spot);
  if (isMap(node)) return convertMap(walk, node, spot);
  return isSeq(node) ? convertSeq(walk, node, spot) : converted(null, spot);
}

function convertMap(walk: Walk, map: YAMLMap, spot: Spot): Converted {
  const values = new Map<string, JsonValue>();
  const children = new Map<string, PlaceTree>();
  for (const pair of map.items) {
    const keyOffset = offsetOf(pair.key ?? pair.value);
    const offset = pair.value === null ? keyOffset : offsetOf(pair.value);
    const { value, places } = convert(walk, pair.value, { offset, keyOffset, depth: spot.depth + 1 });
    const key = keyOf(walk, pair, keyOffset);
    if (key === null) continue;
    if (values.has(key)) walk.problems.push(makeProblem('yaml/duplicate-key', { key }, walk.placeAt(keyOffset)));
    values.set(key, value);
    children.set(key, places);
  }
  return converted(Object.fromEntries(values), spot, children);
}

function convertSeq(walk: Walk, seq: YAMLSeq, spot: Spot): Converted {
  const items = seq.items.map((item) => {
    const offset = offsetOf(item);
    return convert(walk, item, { offset, keyOffset: offset, depth: spot.depth + 1 });
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
  if (typeof value === 'string') return converted(detached(value), spot);
  if (typeof value === 'boolean' || value === null) return converted(value, spot);
  if (isExact(value)) return converted(Number(value), spot);
  const number = scalar.source ?? String(value);
  return refuse(walk, makeProblem('yaml/number', { number }, walk.placeAt(spot.offset)), spot);
}

/** The engine keeps a part of a text as a view of the whole: each id that is kept would keep all front matter. */
function detached(text: string): string {
  return text.length < SHORTEST_VIEW ? text : Buffer.from(text).toString();
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
  const reason = text.includes('\0') ? 'a text holds a NUL character' : halfCharacterIn(text);
  return reason === null ? null : makeProblem('yaml/syntax', { reason }, placeAt(offset));
}

function halfCharacterIn(text: string): string | null {
  return text.isWellFormed() ? null : 'an escape sequence names half of a character';
}

function converted(value: JsonValue, { offset, keyOffset }: Spot, children = NO_CHILDREN): Converted {
  return { value, places: { offset, keyOffset, refused: false, children } };
}

function refuse(walk: Walk, problem: Problem, { offset, keyOffset }: Spot): Converted {
  walk.problems.push(problem);
  return { value: null, places: { offset, keyOffset, refused: true, children: NO_CHILDREN } };
}

function offsetOf(node: unknown): number {
  return (isNode(node) ? node.range?.[0] : undefined) ?? 0;
}

function isNode(node: unknown): node is Node & { tag?: string } {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node);
}
