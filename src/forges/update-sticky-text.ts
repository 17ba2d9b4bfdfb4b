import { posix } from 'node:path';
import { CONFIG_NAME } from '../workspace/config.ts';
import { computeShortDigest } from '../domain/digest.ts';
import { escapeLine } from '../report/escape.ts';

// A sticky text is a comment, note or issue that later runs update instead of posting another one. promptsync finds it
// by its author and by its first line, the marker, which is an invisible HTML comment. promptsync checks the author,
// because anyone can copy a marker.

/**
 * Creates the marker for one workspace. Jobs for different workspaces do not overwrite each other's text.
 * @param environments the environments that the text is limited to; empty if it covers all of them
 */
export function makeMarker(folder: string, config = '', environments: readonly string[] = []): string {
  const file = config === '' ? '' : posix.normalize(config);
  const identity = JSON.stringify([posix.normalize(`./${folder}/`), file, ...environments]);
  return `<!-- promptsync ${computeShortDigest(identity)} -->`;
}

/**
 * Returns the path that identifies the workspace for readers: its folder, or its configuration file if that has an
 * unusual name. The path is relative to the repository root. Returns null for the root itself.
 */
export function makeWorkspacePath(folder: string, config = ''): string | null {
  const file = config === '' ? CONFIG_NAME : config;
  const path = posix.isAbsolute(file) ? file : posix.join(folder, file);
  const shownPath = posix.basename(path) === CONFIG_NAME ? posix.dirname(path) : path;
  return shownPath === '.' ? null : shownPath;
}

/** Ignores links to the CI runs that wrote the text, and white space at the end, which GitLab removes. */
export function hasSameText(posted: string | null | undefined, body: string): boolean {
  const runLink = /\/(?:actions\/runs|-\/jobs)\/\d+/g;
  const normalize = (text: string): string => text.replaceAll(runLink, '').trimEnd();
  return normalize(posted ?? '') === normalize(body);
}

/** The text to post, and when to post it. `Existing` is the type of the text that is already posted. */
export type StickyText<Existing> = {
  /** The hidden marker, which is the first line of the body. */
  readonly marker: string;
  /** Returns the body to post. Receives the posted body or null, because a job may replace only its own section. */
  readonly makeBody: (posted: string | null) => string;
  /** Returns true if promptsync must write the body. Receives the posted text, or null if there is none. */
  readonly mustWrite: (existing: Existing | null) => boolean;
  /**
   * Returns true if the posted text contains what this job published. Present if other jobs replace other sections of
   * the same text at the same time. Their write can undo the write of this job, because they read the text before it.
   */
  readonly isComplete?: ((posted: Existing) => boolean) | undefined;
};

/** Returns the body that replaces a duplicate. It has no marker, so later runs ignore the duplicate. */
export function renderRetiredBody(address: string): string {
  return `This report is outdated. Current report: ${escapeLine(address)}`;
}

/** The requests that find, update, create and retire a text. `Saved` is the result of a write. */
type StickyActions<Existing, Saved> = Pick<StickyText<Existing>, 'mustWrite' | 'isComplete'> & {
  /**
   * Finds the texts that contain the marker and that promptsync's own account wrote. promptsync updates the first text.
   * The others are duplicates, for example because two runs created a text at the same time.
   */
  readonly find: () => Promise<readonly Existing[]>;
  readonly update: (existing: Existing) => Promise<Saved>;
  /** Creates the text. Must not retry its request, because a retry after a lost response would post the text twice. */
  readonly create: () => Promise<Saved>;
  /** Removes the report from a duplicate of the saved text, because no later run updates that report. */
  readonly retire: (duplicate: Existing, saved: Saved) => Promise<void>;
  /** Returns true if `create` may have worked despite this error: the response was lost or came from a gateway. */
  readonly mayHaveWorked: (error: unknown) => boolean;
};

/** The number of times that a job writes its section, if the writes of other jobs undo it. */
const MAX_WRITES = 3;

/**
 * Updates or creates the text, and retires its duplicates. Returns null if `mustWrite` returns false. If `isComplete`
 * is present, reads the text back, and writes it again if it is not complete.
 */
export async function upsertStickyText<Existing, Saved>(
  actions: StickyActions<Existing, Saved>,
): Promise<Saved | null> {
  const { find, isComplete } = actions;
  let saved = await writeStickyText(actions);
  if (isComplete === undefined) return saved;
  for (let writes = 1; saved !== null && writes < MAX_WRITES; writes += 1) {
    const [posted] = await find();
    if (posted !== undefined && isComplete(posted)) break;
    saved = await writeStickyText(actions);
  }
  return saved;
}

async function writeStickyText<Existing, Saved>(actions: StickyActions<Existing, Saved>): Promise<Saved | null> {
  const { find, mustWrite, update, retire } = actions;
  const [existing = null, ...duplicates] = await find();
  if (!mustWrite(existing)) return null;
  const saved = existing === null ? await createOnce(actions) : await update(existing);
  for (const duplicate of duplicates) await retire(duplicate, saved);
  return saved;
}

async function createOnce<Existing, Saved>(actions: StickyActions<Existing, Saved>): Promise<Saved> {
  const { find, update, create, mayHaveWorked } = actions;
  try {
    return await create();
  } catch (error) {
    if (!mayHaveWorked(error)) throw error;
    const [created] = await find();
    return created === undefined ? create() : update(created);
  }
}
