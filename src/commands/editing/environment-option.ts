import type { Config } from '../../config/config.ts';
import { toolEnvironments } from '../../domain/policy.ts';
import { suggest } from '../../domain/suggest.ts';
import { hasControlCharacters } from '../../domain/text.ts';
import { makeProblem, type Problem } from '../../problem.ts';

type Known = Pick<Config, 'environments' | 'trackingEnvironment'>;

/** What is wrong with an environment that was named on the command line to be pinned. */
export function environmentProblems(option: string, environment: string, config: Known): readonly Problem[] {
  if (toolEnvironments(config.trackingEnvironment).includes(environment)) {
    return [makeProblem('prompt/tool-environment', { environment })];
  }
  return unknownEnvironment(option, environment, config);
}

/** What is wrong with an environment that is only asked about. */
export function unknownEnvironment(option: string, environment: string, config: Known): readonly Problem[] {
  const known = config.environments?.map(({ name }) => name) ?? null;
  const possible = environment !== '' && !hasControlCharacters(environment);
  if (known === null ? possible : known.includes(environment)) return [];
  const suggestion = suggest(environment, known ?? []);
  return [makeProblem('usage/unknown-environment', { option, environment, known: known ?? [], suggestion })];
}

/** What has to be read to judge a pin of an environment: itself, and the one that it is promoted from. */
export function readFor(environment: string, config: Known): readonly string[] {
  return [environmentBefore(environment, config), environment].filter((name) => name !== undefined);
}

/** The environment that one is promoted from by the configuration. */
export function environmentBefore(environment: string, { environments }: Known): string | undefined {
  return environments?.find(({ name }) => name === environment)?.promoteFrom;
}
