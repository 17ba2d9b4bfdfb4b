import { posix } from 'node:path';
import { digestOf, shortDigest } from '../domain/digest.ts';

// A text that is kept in one place on a forge, such as the comment on a pull request. It is found again by its first
// line, the marker, which no reader sees, and by its author: anybody may copy a marker.

/** One for each folder of a repository and configuration: jobs side by side leave each other's texts alone. */
export function markerOf(folder: string, config = ''): string {
  const where = JSON.stringify([posix.normalize(`./${folder}/`), config]);
  return `<!-- promptsync ${shortDigest(digestOf(where))} -->`;
}

/** Whether two texts say the same, each with a link to the run that it is from; GitLab trims what it is given. */
export function saysTheSame(one: string | null | undefined, other: string): boolean {
  const runs = /\/(?:actions\/runs|-\/jobs)\/\d+/g;
  const [first, second] = [one ?? '', other].map((text) => text.replaceAll(runs, '').trimEnd());
  return first === second;
}

export type Sticky<Found> = {
  /** The first line of the body. */
  readonly marker: string;
  readonly body: string;
  /** Whether it is to be written, after what is there (null: none); by default always. */
  readonly wanted?: ((found: Found | null) => boolean) | undefined;
};

/** How a text of ours is found, changed and made. */
type Upsert<Found, Kept> = Pick<Sticky<Found>, 'wanted'> & {
  readonly find: () => Promise<Found | null>;
  readonly update: (found: Found) => Promise<Kept>;
  /** To be sent once: it would make a second one. */
  readonly create: () => Promise<Kept>;
  /** Whether a create that failed with this error may have worked: its answer was lost, or is a gateway's. */
  readonly mayHaveWorked: (error: unknown) => boolean;
};

/**
 * Updates what is there, else makes it; null where it is not wanted. When the answer to that was lost, it is looked for
 * before it is sent again.
 */
export async function upsert<Found, Kept>(keep: Upsert<Found, Kept>): Promise<Kept | null> {
  const { find, wanted = () => true, update, create, mayHaveWorked } = keep;
  const found = await find();
  if (!wanted(found)) return null;
  if (found !== null) return update(found);
  try {
    return await create();
  } catch (error) {
    if (!mayHaveWorked(error)) throw error;
    const made = await find();
    return made === null ? create() : update(made);
  }
}
