export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [key: string]: JsonValue };

/** Renders canonical JSON (RFC 8785): the keys of objects are sorted, so that equal values have equal digests. */
export function renderCanonicalJson(value: JsonValue): string {
  if (isJsonArray(value)) return `[${value.map(renderCanonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${renderCanonicalJson(value[name] ?? null)}`).join(',')}}`;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Rejects infinity, which `JSON.parse` returns for `1e999`. Throws a `RangeError` if the value is nested too deep. */
export function isJsonValue(value: unknown): value is JsonValue {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
  return value === null || Object.values(value).every(isJsonValue);
}

/** Never recurses deeper than `limit` levels. */
export function isNestedDeeper(value: JsonValue, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return limit === 0 || Object.values(value).some((item: JsonValue) => isNestedDeeper(item, limit - 1));
}

export function omitKey(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

function isJsonArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Returns a copy of JSON data with `map` applied to every string, including the keys of objects. */
export function mapStrings<Data>(data: Data, map: (text: string) => string): Data {
  // The type assertion is safe, because `map` turns strings into strings and all other values stay the same.
  return mapDeepStrings(data, map) as Data;
}

function mapDeepStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapDeepStrings(item, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [map(name), mapDeepStrings(member, map)]));
}
