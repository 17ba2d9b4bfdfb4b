import { isJsonObject } from '../domain/json.ts';
import type { Place, Problem } from '../problem.ts';
import type { LocatedMapping } from './strict-yaml.ts';

/** A string from the front matter, with its place in the file. */
export type LocatedText = { readonly value: string; readonly place: Place };

/** The name of an environment in a pin. */
export type PinnedEnvironment = LocatedText & {
  /** The problem to report if the environment is unknown because its name or line has a look-alike. Null otherwise. */
  readonly lookAlike: Problem | null;
};

/**
 * The names in a prompt file. promptsync compares them with the names in other files and in the configuration. Even an
 * invalid file has an outline if its front matter can be parsed, so that promptsync can report all problems at once.
 */
export type PromptOutline = {
  readonly id: LocatedText | null;
  readonly key: LocatedText | null;
  readonly environments: readonly PinnedEnvironment[];
};

/** Returns the names in the front matter of a prompt file. */
export function makeOutline({ value, placeOf, keyPlaceOf, findLookAlike }: LocatedMapping): PromptOutline {
  const { id, key, pins } = value;
  const environments = isJsonObject(pins) ? Object.keys(pins) : [];
  return {
    id: typeof id === 'string' ? { value: id, place: placeOf(['id']) } : null,
    key: typeof key === 'string' ? { value: key, place: placeOf(['key']) } : null,
    environments: environments.map((name) => {
      const path = ['pins', name];
      return { value: name, place: keyPlaceOf(path), lookAlike: findLookAlike(path, name) };
    }),
  };
}
