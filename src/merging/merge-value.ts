import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../domain/json.ts';
import type { Side } from './merge-text.ts';

/** A value as it comes out of a merge. `conflict`: both sides have changed it, and nobody says which one counts. */
export type MergedValue<Value> = { readonly value: Value; readonly conflict: boolean };

/** Values of both sides and of what they come from; undefined: absent. */
export type ValueMerging<Value> = {
  /** Null where what both come from is not known. */
  readonly base: { readonly value: Value } | null;
  readonly ours: Value;
  readonly theirs: Value;
  /** Whether both may come from something newer: then a value of the base may be an edit taken back. */
  readonly doubtful?: boolean;
};

/** Merges one value as a whole. In a conflict it stays ours. */
export function mergeValue<Value>(merging: ValueMerging<Value>, side: Side): MergedValue<Value> {
  const { base, ours, theirs, doubtful = false } = merging;
  if (isDeepStrictEqual(ours, theirs)) return { value: ours, conflict: false };
  if (base !== null && !doubtful && isDeepStrictEqual(theirs, base.value)) return { value: ours, conflict: false };
  if (base !== null && isDeepStrictEqual(ours, base.value)) return { value: theirs, conflict: false };
  return { value: side === 'theirs' ? theirs : ours, conflict: side === null };
}

export type MergedMapping = {
  /** What is to be set or, where undefined, removed. */
  readonly changed: ReadonlyMap<string, JsonValue | undefined>;
  /** The whole mapping as the other side has it, where any key is in conflict. */
  readonly conflict: JsonObject | null;
};

/** Merges two mappings key by key. */
export function mergeMapping(merging: ValueMerging<JsonObject>, side: Side): MergedMapping {
  const { base, ours, theirs, doubtful = false } = merging;
  const keys = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  const merged = keys.map((key) => {
    const values = { ours: at(ours, key), theirs: at(theirs, key) };
    const from = base === null ? null : { value: at(base.value, key) };
    return { key, ...mergeValue({ base: from, ...values, doubtful }, side) };
  });
  const changed = merged.filter(({ key, value }) => !isDeepStrictEqual(value, at(ours, key)));
  const conflict = merged.some((one) => one.conflict);
  return { changed: new Map(changed.map(({ key, value }) => [key, value])), conflict: conflict ? theirs : null };
}

function at(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
