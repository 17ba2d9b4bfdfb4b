import { suggest } from '../domain/suggest.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { Located, Outline } from './outline.ts';
import { placeOfFile } from './source.ts';

/** What the configuration says about the environments that a pin may name. */
export type EnvironmentRules = {
  /** Null when any name is allowed. */
  readonly known: readonly string[] | null;
  /** The tool's own environments, which no pin may name. */
  readonly reserved: readonly string[];
};

/** What the configuration says about the services that prompts belong to. */
export type ServiceRules = {
  readonly known: readonly string[];
  /** The service of a file (by its path) that names none itself; null when it has to. */
  readonly assigned: (path: string) => string | null;
};

/** Null, or absent, where services have no names: then no file may name one. */
export type PromptRules = EnvironmentRules & { readonly services?: ServiceRules | null };

type Owned = Located & { readonly path: string };

/** A prompt file that is not read, because its own problems and what it is called are known. */
export type KnownPrompt = { readonly path: string; readonly id: string; readonly key: string };

/** What is wrong between files, and between files and configuration. Of what is known, only names are compared. */
export function checkOutlines(
  outlines: readonly Outline[],
  rules: PromptRules,
  known: readonly KnownPrompt[] = [],
): readonly Problem[] {
  return [
    ...duplicates(
      [...outlines.flatMap(({ path, id }) => (id === null ? [] : [{ path, ...id }])), ...known.map(knownAs('id'))],
      (one, other) => makeProblem('prompt/duplicate-id', { id: one.value, other }, one.place),
    ),
    ...duplicates(
      [...outlines.flatMap(({ path, key }) => (key === null ? [] : [{ path, ...key }])), ...known.map(knownAs('key'))],
      (one, other) => makeProblem('prompt/duplicate-key', { key: one.value, other }, one.place),
    ),
    ...outlines.flatMap(({ environments }) => environments.flatMap((one) => environmentProblems(one, rules))),
    ...outlines.flatMap((outline) => serviceProblems(outline, rules.services ?? null)),
  ];
}

function knownAs(field: 'id' | 'key'): (prompt: KnownPrompt) => Owned {
  return ({ path, [field]: value }) => ({ path, value, place: placeOfFile(path) });
}

/** Compared in normal form C: two spellings that look alike are one. Each of a group names another one. */
function duplicates(all: readonly Owned[], problem: (one: Owned, other: string) => Problem): readonly Problem[] {
  const groups = [...Map.groupBy(all, ({ value }) => value.normalize('NFC')).values()];
  return groups
    .filter((group) => group.length > 1)
    .flatMap((group) => group.map((one, index) => problem(one, group[index === 0 ? 1 : 0]?.path ?? one.path)));
}

function environmentProblems({ value, place }: Located, { known, reserved }: EnvironmentRules): readonly Problem[] {
  if (reserved.includes(value)) return [makeProblem('prompt/tool-environment', { environment: value }, place)];
  if (known === null || known.includes(value)) return [];
  const suggestion = suggest(value, known);
  return [makeProblem('prompt/unknown-environment', { environment: value, known, suggestion }, place)];
}

function serviceProblems({ path, service }: Outline, rules: ServiceRules | null): readonly Problem[] {
  const known = rules?.known ?? [];
  if (service !== null && !known.includes(service.value)) {
    const suggestion = suggest(service.value, known);
    return [makeProblem('prompt/unknown-service', { service: service.value, known, suggestion }, service.place)];
  }
  const missing = service === null && rules !== null && rules.assigned(path) === null;
  return missing ? [makeProblem('prompt/no-service', { known }, placeOfFile(path))] : [];
}
