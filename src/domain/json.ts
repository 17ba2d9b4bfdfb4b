/** Whatever JSON can hold. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
/** A mapping of JSON. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** One text per value whatever the order of its keys (RFC 8785), so that digests of equal values are equal. */
export function canonicalJson(value: JsonValue): string {
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (isJsonObject(value)) return `{${membersOf(value).join(',')}}`;
  return JSON.stringify(value);
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What JSON can hold: no infinite numbers, which parsing makes of such as `1e999`. Recursive: may throw a `RangeError`. */
export function isJson(value: unknown): value is JsonValue {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
  return value === null || Object.values(value).every(isJson);
}

/** A copy of the object without one key. */
export function withoutKey(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

function membersOf(object: JsonObject): readonly string[] {
  const names = Object.keys(object).toSorted();
  return names.map((name) => `${JSON.stringify(name)}:${canonicalJson(object[name] ?? null)}`);
}

export function isJsonArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

type MapText = (text: string) => string;

/**
 * A copy of data in which every string was mapped, names in objects and maps included. What stays as it was is the same
 * object, so that what is known of it stays known.
 */
export function mapStrings<Data>(data: Data, map: MapText): Data {
  // Strings become strings, and everything else stays what it is: the shape is that of `data`.
  return mapped(data, map) as Data;
}

function mapped(value: unknown, map: MapText): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return mapItems(value, map) ?? value;
  if (value instanceof Set) return asSet(mapItems([...value], map)) ?? value;
  if (value instanceof Map) return asMap(mapItems([...value], map)) ?? value;
  const entries = mapItems(Object.entries(value), map);
  return entries === null ? value : Object.fromEntries(entries as [string, unknown][]);
}

/** Null where all stay as they were. */
function mapItems(items: readonly unknown[], map: MapText): readonly unknown[] | null {
  const changed = items.map((item) => mapped(item, map));
  return changed.every((item, index) => item === items[index]) ? null : changed;
}

function asSet(items: readonly unknown[] | null): ReadonlySet<unknown> | null {
  return items && new Set(items);
}

function asMap(items: readonly unknown[] | null): ReadonlyMap<unknown, unknown> | null {
  return items && new Map(items as [unknown, unknown][]);
}
