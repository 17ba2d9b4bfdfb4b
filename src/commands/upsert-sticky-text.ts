import { posix } from 'node:path';
import { computeDigest, shortDigest } from '../domain/digest.ts';

// A sticky text is a text on GitHub or GitLab that each run updates instead of posting a new one, for example the comment
// on a pull request. promptsync finds it again by its first line, the marker, and by its author. The marker is an HTML
// comment, so readers do not see it. The author matters because anybody can copy a marker.

/** Makes the marker for one folder and configuration of a repository, so that parallel jobs update different texts. */
export function makeMarker(folder: string, config = ''): string {
  const identity = JSON.stringify([posix.normalize(`./${folder}/`), config]);
  return `<!-- promptsync ${shortDigest(computeDigest(identity))} -->`;
}

/**
 * True if two texts differ only in the links to the runs that wrote them. Ignores white space at the end, because GitLab
 * removes it.
 */
export function hasSameText(posted: string | null | undefined, body: string): boolean {
  const runLink = /\/(?:actions\/runs|-\/jobs)\/\d+/g;
  const normalize = (text: string): string => text.replaceAll(runLink, '').trimEnd();
  return normalize(posted ?? '') === normalize(body);
}

/** A text to post, and the rule that decides whether to post it. `Existing` is the type of the posted text. */
export type StickyText<Existing> = {
  /** The first line of the body. */
  readonly marker: string;
  readonly body: string;
  /** True if the body must be written. Receives the posted text, or null if there is none. */
  readonly mustWrite: (existing: Existing | null) => boolean;
};

/** The requests that find, update and create a text. `Saved` is the result of a write. */
type StickyActions<Existing, Saved> = Pick<StickyText<Existing>, 'mustWrite'> & {
  readonly find: () => Promise<Existing | null>;
  readonly update: (existing: Existing) => Promise<Saved>;
  /** Creates the text. This request must not be retried: a second one would create a second text. */
  readonly create: () => Promise<Saved>;
  /** True if a `create` with this error may have succeeded: its response was lost, or came from a gateway. */
  readonly mayHaveWorked: (error: unknown) => boolean;
};

/**
 * Updates the text, or creates it if there is none. Returns null if `mustWrite` is false. If the response of a create was
 * lost, it looks for the created text before it sends another create.
 */
export async function upsertStickyText<Existing, Saved>(
  actions: StickyActions<Existing, Saved>,
): Promise<Saved | null> {
  const { find, mustWrite, update, create, mayHaveWorked } = actions;
  const existing = await find();
  if (!mustWrite(existing)) return null;
  if (existing !== null) return update(existing);
  try {
    return await create();
  } catch (error) {
    if (!mayHaveWorked(error)) throw error;
    const created = await find();
    return created === null ? create() : update(created);
  }
}
