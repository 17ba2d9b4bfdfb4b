import { isAlias, isMap, isScalar, isSeq, isNode, type Pair, type Scalar, type YAMLMap } from 'yaml';
import type { JsonValue } from '../domain/json.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

export type JsonResult = {
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
  const reason = text.includes('\0') ? 'a text holds a NUL character' : halfCharacterIn(text);
  return reason === null ? null : makeProblem('yaml/syntax', { reason }, placeAt(offset));
}

function halfCharacterIn(text: string): string | null {
  return text.isWellFormed() ? null : 'an escape sequence names half of a character';
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
