import { isJsonObject } from '../domain/json.ts';
import type { Place } from '../problem.ts';
import type { LocatedMapping } from '../yaml/strict-yaml.ts';

export type Located = { readonly value: string; readonly place: Place };

/** What is compared between files. */
export type Names = { readonly path: string; readonly id: Located | null; readonly key: Located | null };

/** What is checked beyond a file itself. Drawn from invalid files as well, so that every problem is found at once. */
export type Outline = Names & {
  readonly environments: readonly Located[];
};

export function outlineOf(mapping: LocatedMapping, path: string): Outline {
  const { id, key, pins } = mapping.value;
  const text = (field: string, value: unknown): Located | null =>
    typeof value === 'string' ? { value, place: mapping.placeOf([field]) } : null;
  const names = isJsonObject(pins) ? Object.keys(pins) : [];
  const environments = names.map((value) => ({ value, place: mapping.keyPlaceOf(['pins', value]) }));
  return { path, id: text('id', id), key: text('key', key), environments };
}
