import { readApiKey } from '../../config/api-key.ts';
import type { Config, ServiceLocation } from '../../config/config.ts';
import { UNNAMED } from '../../config/services.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import { makeProblem, type Problem } from '../../problem.ts';
import type { World } from '../world.ts';

/** A service that prompt files belong to; a remote one with the key that goes to it alone. */
export type NeededService = { readonly name: string; readonly files: readonly PromptFile[] } & (
  | { readonly kind: 'remote'; readonly baseUrl: string; readonly apiKey: string }
  | { readonly kind: 'embedded'; readonly databasePath: string }
);

export type NeededServices = {
  /** Sorted by name. */
  readonly needed: readonly NeededService[];
  readonly problems: readonly Problem[];
};

type Variables = World['environment'];

/**
 * The services of these files with their keys; the others need none. All keys that are missing are told at once.
 * @param given a key that was handed over: it goes before the variable of the key, where there is but one
 * @param also the name of a service that is needed although it may have no files yet
 */
export function neededServices(
  { services }: Config,
  files: readonly PromptFile[],
  given: string | undefined,
  environment: Variables,
  also: string = UNNAMED,
): NeededServices {
  if (services.size === 0) return failed([makeProblem('config/missing-service')]);
  const variables = keyVariables([...services.values()]);
  // Whichever are needed: a file that moves from one service to another would take the key along.
  if (given !== undefined && variables.length > 1) return failed([makeProblem('config/key-of-which', { variables })]);
  const handed = given === undefined ? {} : Object.fromEntries(variables.map((variable) => [variable, given]));
  const results = [...services]
    .map(([name, location]) => ({ name, location, files: filesOf(name, files) }))
    .filter((one) => one.name === UNNAMED || one.name === also || one.files.length > 0)
    .toSorted((a, b) => Number(a.name > b.name) - Number(a.name < b.name))
    .map((one) => withKey(one, { ...environment, ...handed }));
  const problems = results.flatMap((result) => result.problems);
  if (problems.length === 0) return { needed: results.flatMap((result) => result.needed), problems };
  return failed([...new Map(problems.map((problem) => [problem.message, problem])).values()]);
}

function failed(problems: readonly Problem[]): NeededServices {
  return { needed: [], problems };
}

type Located = Pick<NeededService, 'name' | 'files'> & { readonly location: ServiceLocation };

function withKey({ name, files, location }: Located, environment: Variables): NeededServices {
  if (location.kind === 'embedded') return { needed: [{ name, files, ...location }], problems: [] };
  const { apiKey, problems } = readApiKey(location.apiKeyVariable, environment);
  if (apiKey === null) return failed(problems);
  return { needed: [{ name, files, kind: location.kind, baseUrl: location.baseUrl, apiKey }], problems };
}

/** The files that belong to a service. */
export function filesOf<Owned extends Pick<PromptFile, 'service'>>(
  name: string,
  files: readonly Owned[],
): readonly Owned[] {
  return files.filter(({ service = UNNAMED }) => service === name);
}

/** Those that hold the keys of these services, each once. */
export function keyVariables(locations: readonly ServiceLocation[]): readonly string[] {
  return [...new Set(locations.flatMap((one) => (one.kind === 'remote' ? [one.apiKeyVariable] : [])))];
}
