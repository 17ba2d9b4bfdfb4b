import { isJsonObject, type JsonValue } from '../domain/json.ts';
import { suggest } from '../domain/suggest.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { line } from '../files/yaml-shape.ts';
import type { LocatedMapping } from '../files/strict-yaml.ts';
import type { Assignment } from './config.ts';
import type { WrittenConfig } from './shape.ts';

/** Which files belong to which service; null where services have no names. */
export function assignmentOf({ service, services, prompts = [] }: WrittenConfig): Assignment | null {
  if (services === undefined) return null;
  const names = Object.keys(services);
  const only = names.length === 1 ? (names[0] ?? null) : null;
  const byPattern = prompts.flatMap((entry) =>
    typeof entry === 'string' || entry.service === undefined
      ? []
      : [{ pattern: entry.pattern, service: entry.service }],
  );
  return { byPattern, otherwise: typeof service === 'string' ? service : only };
}

/** Where `service` and the patterns name a service that is not there, or `service` is none of what it may be. */
export function serviceNameProblems(mapping: LocatedMapping): readonly Problem[] {
  const { service, prompts } = mapping.value;
  const entries = Array.isArray(prompts) ? prompts : [];
  return [
    ...(mapping.has(['services']) ? fallbackProblems(service, mapping) : unusedName(service, mapping)),
    ...entries.flatMap((entry: JsonValue, index) =>
      isJsonObject(entry) ? nameProblems(entry['service'], ['prompts', index, 'service'], mapping) : [],
    ),
  ];
}

function fallbackProblems(service: JsonValue | undefined, mapping: LocatedMapping): readonly Problem[] {
  if (!isJsonObject(service)) return nameProblems(service, ['service'], mapping);
  return invalidService('with `services` it is the name of one of them', mapping);
}

function unusedName(service: JsonValue | undefined, mapping: LocatedMapping): readonly Problem[] {
  const expected = 'expected mapping, received string; a name is for one of several `services`';
  return isName(service) ? invalidService(expected, mapping) : [];
}

function invalidService(expected: string, mapping: LocatedMapping): readonly Problem[] {
  return [makeProblem('config/invalid-field', { field: 'service', expected }, mapping.placeOf(['service']))];
}

function nameProblems(
  name: JsonValue | undefined,
  path: readonly (string | number)[],
  mapping: LocatedMapping,
): readonly Problem[] {
  const known = mapping.keysOf(['services']);
  if (!isName(name) || known.includes(name)) return [];
  const suggestion = suggest(name, known);
  return [makeProblem('config/unknown-service', { service: name, known, suggestion }, mapping.placeOf(path))];
}

/** What is none has a problem already. */
function isName(value: JsonValue | undefined): value is string {
  return line.safeParse(value).success;
}
