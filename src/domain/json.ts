export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [key: string]: JsonValue };

/** One text per value whatever the order of its keys (RFC 8785), so that digests of equal values are equal. */
export function canonicalJson(value: JsonValue): string {
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name] ?? null)}`).join(',')}}`;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What JSON can hold: no infinite numbers, which parsing makes of such as `1e999`. Recursive: may throw a `RangeError`. */
export function isJsonValue(value: unknown): value is JsonValue {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
  return value === null || Object.values(value).every(isJsonValue);
}

export function omitKey(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

function isJsonArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** A copy of data, as JSON knows it, in which every string was mapped, names in objects included. */
export function mapStrings<Data>(data: Data, map: (text: string) => string): Data {
  // Strings become strings, and everything else stays what it is: the shape is that of `data`.
  return mapDeepStrings(data, map) as Data;
}

function mapDeepStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapDeepStrings(item, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [map(name), mapDeepStrings(held, map)]));
}
