import { posix } from 'node:path';
import { computeDigest, shortDigest } from '../domain/digest.ts';

// A sticky text is a text on GitHub or GitLab, for example the comment on a pull request. Each run updates the existing
// text instead of posting another one. promptsync finds the text by its first line, the marker, and by its author. The
// marker is an HTML comment, which readers do not see. promptsync checks the author, because anybody can copy a marker.

/**
 * Makes the marker for one folder and configuration of a repository. Jobs for other workspaces then update other texts.
 */
export function makeMarker(folder: string, config = ''): string {
  const identity = JSON.stringify([posix.normalize(`./${folder}/`), config]);
  return `<!-- promptsync ${shortDigest(computeDigest(identity))} -->`;
}

/**
 * True if two texts are equal, or differ only in the links to the runs that wrote them. It ignores white space at the
 * end of the posted text, because GitLab removes such white space.
 */
export function hasSameText(posted: string | null | undefined, body: string): boolean {
  const runLink = /\/(?:actions\/runs|-\/jobs)\/\d+/g;
  const normalize = (text: string): string => text.replaceAll(runLink, '').trimEnd();
  return normalize(posted ?? '') === normalize(body);
}

/** A text to post, and the rule that decides whether to post the text. `Existing` is the type of the posted text. */
export type StickyText<Existing> = {
  /** The hidden marker, which is the first line of the body. */
  readonly marker: string;
  readonly body: string;
  /** Returns true if promptsync must write the body. Receives the posted text, or null if there is none. */
  readonly mustWrite: (existing: Existing | null) => boolean;
};

/** The requests that find, update and create a text. `Saved` is the result of a write. */
type StickyActions<Existing, Saved> = Pick<StickyText<Existing>, 'mustWrite'> & {
  readonly find: () => Promise<Existing | null>;
  readonly update: (existing: Existing) => Promise<Saved>;
  /** Creates the text. It must not retry its request, because a second request would create a second text. */
  readonly create: () => Promise<Saved>;
  /**
   * Returns true if `create` may have succeeded although it threw this error, because the response was lost or came
   * from a gateway.
   */
  readonly mayHaveWorked: (error: unknown) => boolean;
};

/**
 * Updates the text, or creates the text if there is none. Returns null if `mustWrite` returned false. If the response
 * to `create` was lost, it searches for the created text before it calls `create` again.
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
