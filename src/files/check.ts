import { isJsonObject } from '../domain/json.ts';
import { suggest } from '../domain/suggest.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import type { LocatedMapping } from './strict-yaml.ts';

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

/** What the configuration says about the environments that a pin may name. */
export type EnvironmentRules = {
  /** Null when any name is allowed. */
  readonly known: readonly string[] | null;
  /** The tool's own environments, which no pin may name. */
  readonly reserved: readonly string[];
};

type Owned = Located & { readonly path: string };

/** What is wrong between a file and the configuration. */
export function checkOutline({ environments }: Outline, rules: EnvironmentRules): readonly Problem[] {
  return environments.flatMap((one) => environmentProblems(one, rules));
}

/** What is wrong between files. */
export function checkNames(all: readonly Names[]): readonly Problem[] {
  return [
    ...duplicates(all, 'id', (one, other) => makeProblem('prompt/duplicate-id', { id: one.value, other }, one.place)),
    ...duplicates(all, 'key', (one, other) =>
      makeProblem('prompt/duplicate-key', { key: one.value, other }, one.place),
    ),
  ];
}

/** Compared in normal form C: two spellings that look alike are one. Each of a group names another one. */
function duplicates(
  all: readonly Names[],
  field: 'id' | 'key',
  problem: (one: Owned, other: string) => Problem,
): readonly Problem[] {
  const repeated = repeatedIn(all.flatMap(({ [field]: name }) => (name === null ? [] : [comparable(name)])));
  if (repeated.size === 0) return [];
  const owned = all.flatMap(({ path, [field]: name }) => (name === null ? [] : [{ path, ...name }]));
  const groups = Map.groupBy(owned, comparable);
  return [...repeated].flatMap((value) => {
    const group = groups.get(value) ?? [];
    return group.map((one, index) => problem(one, group[index === 0 ? 1 : 0]?.path ?? one.path));
  });
}

function comparable({ value }: Located): string {
  return value.normalize('NFC');
}

function repeatedIn(values: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(values.filter((value) => seen.size === seen.add(value).size));
}

function environmentProblems({ value, place }: Located, { known, reserved }: EnvironmentRules): readonly Problem[] {
  if (reserved.includes(value)) return [makeProblem('prompt/tool-environment', { environment: value }, place)];
  if (known === null || known.includes(value)) return [];
  const suggestion = suggest(value, known);
  return [makeProblem('prompt/unknown-environment', { environment: value, known, suggestion }, place)];
}
