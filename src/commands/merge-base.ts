import { readSourceFile } from '../desired/read-at-commit.ts';
import type { FormerFile } from '../desired/read-history.ts';
import type { PromptPlan } from '../domain/plan.ts';
import type { EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import { type Content, toFileContent, makeContentKey, isSameContent } from '../domain/content.ts';
import { findPinnedVersion, hasGap, type KnownVersion } from '../domain/versions.ts';
import type { ServiceSide } from '../files/merge-prompt.ts';
import type { Repository } from '../git/open-repository.ts';

/** A version that somebody else has made, and what the file pins its environment to. */
type ServiceEdit = { readonly version: KnownVersion; readonly pin: EnvironmentPin | null };

type MergeBase = Pick<ServiceSide, 'baseFile' | 'baseContent' | 'newerContents'>;

/**
 * What a file and an edit in the service both come from: the text of the version that was edited. Fields belong to no
 * version: they are compared since the newest. Where no version of promptsync's is known, it is the file itself if git
 * says that its text was never changed. In any doubt it is not known, and all that differs is a conflict.
 */
export async function readMergeBase(
  { file, observed }: PromptPlan,
  edit: ServiceEdit | null,
  earlier: readonly FormerFile[],
  repository: Repository | null,
): Promise<MergeBase> {
  const known = observed?.known ?? [];
  const newest = known.find(({ isManaged }) => isManaged);
  // A shallow clone does not know what a file said first.
  const whole = repository?.isShallow === true ? [] : earlier;
  const baseFile =
    newest === undefined ? (whole.at(-1)?.file ?? null) : await readFileOfVersion(newest, file, repository);
  const content =
    edit === null ? NO_CONTENT_BASE : await readContentBase(edit, { file, known, earlier, whole, repository });
  return { baseFile, ...content };
}

/** The part of the merge base that belongs to a version. */
type ContentBase = Pick<MergeBase, 'baseContent' | 'newerContents'>;

const NO_CONTENT_BASE: ContentBase = { baseContent: null, newerContents: null };

/** A file, the versions that are known of it, and what git knows of it; `whole` is empty where that is not all. */
type MergeHistory = {
  readonly file: PromptFile;
  readonly known: readonly KnownVersion[];
  readonly earlier: readonly FormerFile[];
  readonly whole: readonly FormerFile[];
  readonly repository: Repository | null;
};

async function readContentBase(edit: ServiceEdit, history: MergeHistory): Promise<ContentBase> {
  const { file, known, earlier, whole, repository } = history;
  const origin = findOrigin(edit, known, earlier);
  if (origin === null) return NO_CONTENT_BASE;
  if (origin === undefined) {
    const first = whole.at(-1)?.file.content ?? null;
    return { ...NO_CONTENT_BASE, baseContent: hasOneKnownText(history) ? first : null };
  }
  // Of an adopted version that nothing serves any more the baseline has the text.
  const holder = origin.isManaged
    ? origin
    : (known.find((one) => one.isManaged && isSameContent(one, origin)) ?? origin);
  const baseContent = await readContentOf(holder, file, repository);
  return {
    baseContent,
    newerContents: mayOriginBeNewer(edit, origin, history) ? listTextsSince(origin, file, earlier) : null,
  };
}

/**
 * The version that an outside one was made from: the one whose record it has copied, else what the file says that its
 * environment served before. Where the file follows no number, it is the newest of promptsync's before it. Null where
 * that version is not known, and undefined where none of promptsync's, or of the file's texts, is.
 */
function findOrigin(
  { version, pin }: ServiceEdit,
  known: readonly KnownVersion[],
  earlier: readonly FormerFile[],
): KnownVersion | null | undefined {
  const own = listManagedBefore(version, known);
  const { source } = version;
  if (source !== null) return own.find(({ digest }) => digest === source.digest) ?? null;
  if (pin?.pin.kind === 'number' || pin?.pin.kind === 'version') return findPinnedVersion(known, pin.pin) ?? null;
  return own[0] ?? known.find((one) => one.isManaged === null && one.number < version.number && hasText(one, earlier));
}

/** Where nobody knows who has made a version, git says whether it holds a text of the file. */
function hasText({ digest }: KnownVersion, earlier: readonly FormerFile[]): boolean {
  return earlier.some(({ file }) => file.content.digest === digest);
}

/** Versions that promptsync made before another one, newest first. */
export function listManagedBefore({ number }: KnownVersion, known: readonly KnownVersion[]): readonly KnownVersion[] {
  return known.filter((one) => one.isManaged && one.number < number);
}

/**
 * Whether an edit may come from a newer state of the file than its origin: one that was pulled leaves no trace in the
 * service, and what it holds of the origin may be an edit that somebody has taken back. So it is where there was a
 * version in between that nobody knows, or where the service has had the file's text already, which a revert makes
 * active again without a new version. What no commit has is never synced.
 */
function mayOriginBeNewer(
  { version, pin }: ServiceEdit,
  origin: KnownVersion,
  { file, known, earlier }: MergeHistory,
): boolean {
  const { content } = file;
  const before = known.filter(({ number }) => number < version.number);
  if (pin !== null && findPinnedVersion(before, pin.pin)?.number === origin.number) return false;
  if (hasGap(before, origin.number, version.number)) return true;
  const committed = earlier.some((former) => former.file.content.digest === content.digest);
  // A copied record names the newest of promptsync's that the edit can come from.
  const met = before.filter(({ isManaged }) => version.source === null || !isManaged);
  return committed && origin.digest !== content.digest && met.some(({ digest }) => digest === content.digest);
}

/** What the file was since it had the text of a version, each content once; all that it was, where it never had that. */
function listTextsSince(
  { digest }: KnownVersion,
  file: PromptFile,
  earlier: readonly FormerFile[],
): readonly Content[] {
  const then = earlier.findLastIndex((former) => former.file.content.digest === digest);
  const since = earlier.slice(0, then === -1 ? earlier.length : then).map((former) => former.file.content);
  const distinct = new Map(since.map((content) => [makeContentKey(content), content]));
  distinct.delete(makeContentKey(file.content));
  return [...distinct.values()];
}

/**
 * Whether a file has had one text only, as far as git knows: then whatever differs was changed outside. Where one of its
 * pins names a version that is not known, the service has had more than that text: the pin may be another one by now,
 * as a pull has edited it.
 */
function hasOneKnownText({ file: { content }, whole, known }: MergeHistory): boolean {
  const isKnown = ({ pin }: EnvironmentPin) =>
    pin.kind === 'latest' || pin.kind === 'git' || findPinnedVersion(known, pin) !== undefined;
  return (
    whole.length > 0 && whole.every(({ file }) => file.content.digest === content.digest && file.pins.every(isKnown))
  );
}

/** Returns what a version holds, from git if it was not read; null where git does not know it either. */
async function readContentOf(
  version: KnownVersion,
  file: PromptFile,
  repository: Repository | null,
): Promise<ContentBase['baseContent']> {
  if (version.content !== null) return toFileContent(version.content);
  return (await readFileOfVersion(version, file, repository))?.content ?? null;
}

/** The file that a version of promptsync's was made from; null where git does not have it, or has another one there. */
async function readFileOfVersion(
  version: KnownVersion,
  { id }: PromptFile,
  repository: Repository | null,
): Promise<PromptFile | null> {
  const then = version.isManaged ? await readSourceFile(version, repository) : null;
  return then?.id === id ? then : null;
}
