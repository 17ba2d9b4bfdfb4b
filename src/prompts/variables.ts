import { placeholdersOf } from '../domain/placeholders.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { LocatedMapping } from '../yaml/strict-yaml.ts';

/** `variables`, where it is a list of texts, names the placeholders of the text exactly, each once. */
export function variableProblems(mapping: LocatedMapping, text: string): readonly Problem[] {
  const declared = mapping.value['variables'];
  if (!isListOfTexts(declared)) return [];
  const used = new Set(placeholdersOf(text));
  const named = new Set(declared);
  const missing = [...used].filter((name) => !named.has(name));
  const unused = [...named].filter((name) => !used.has(name));
  const repeated = [...new Set(declared.filter(isRepeated()))];
  if (missing.length + unused.length + repeated.length === 0) return [];
  return [makeProblem('prompt/variables-mismatch', { missing, unused, repeated }, mapping.placeOf(['variables']))];
}

function isRepeated(): (name: string) => boolean {
  const seen = new Set<string>();
  return (name) => seen.size === seen.add(name).size;
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}
