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
