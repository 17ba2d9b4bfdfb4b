import type { Place } from '../problem.ts';
import { makeFilePlace } from './front-matter.ts';
import type { LocatedMapping } from './strict-yaml.ts';

export type LocatedText = { readonly value: string; readonly place: Place };

/**
 * The names in a prompt file. promptsync compares them with the names in other files and in the configuration. Even an
 * invalid file has an outline if its front matter can be parsed, so that promptsync can report all problems at once.
 */
export type PromptOutline = {
  readonly id: LocatedText | null;
  readonly key: LocatedText | null;
};

/** The path of a prompt file, and the id that the file takes from it. Null if the front matter has an id. */
export type FileLocation = { readonly path: string; readonly pathId: string | null };

export function makeOutline(mapping: LocatedMapping, { path, pathId }: FileLocation): PromptOutline {
  const { id, key } = mapping.value;
  const writtenId = typeof id === 'string' ? { value: id, place: mapping.placeOf(['id']) } : null;
  return {
    id: pathId === null ? writtenId : { value: pathId, place: makeFilePlace(path) },
    key: typeof key === 'string' ? { value: key, place: mapping.placeOf(['key']) } : null,
  };
}
