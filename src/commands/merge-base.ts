import { isDeepStrictEqual } from 'node:util';
import { fileInGit } from '../desired/at-commit.ts';
import type { FormerFile } from '../desired/former-files.ts';
import { EMPTY_METADATA_DIGEST, withLineFeeds } from '../domain/digest.ts';
import type { PromptPlan } from '../domain/plan.ts';
import type { Content, EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import { findNamed, hasGap, type KnownVersion, type Source } from '../domain/versions.ts';
import type { Theirs } from '../files/merge.ts';
import type { Repository } from '../git/repository.ts';

/** A version that somebody else has made, and what the file pins its environment to. */
type Edit = { readonly version: KnownVersion; readonly pin: EnvironmentPin | null };

type MergeBase = Pick<Theirs, 'base' | 'baseContent' | 'since'>;

/**
 * What a file and an edit in the service both come from: the file at the commit that the version which was edited was
 * made from; its text also from the service. Fields belong to no version: they are compared since the newest.
 * Where no version of promptsync's is known, it is the file itself if git says that its text was never changed.
 */
export async function readMergeBase(
  prompt: PromptPlan,
  edit: Edit | null,
  earlier: readonly FormerFile[],
  repository: Repository | null,
): Promise<MergeBase> {
  const { file } = prompt;
  const newest = newestOrigin(prompt);
  const edited = edit === null ? undefined : originOf(edit, prompt);
  const first = newest === undefined || edited === undefined ? await firstOf(prompt, earlier, repository) : NOTHING;
  const base = newest === undefined ? first.base : await fileOf(newest, file, repository);
  if (edited === null) return { base, baseContent: null, since: null };
  if (edited === undefined) return { base, baseContent: first.baseContent, since: null };
  const then = isDeepStrictEqual(edited, newest) ? base : await fileOf(edited, file, repository);
  const committed = earlier.some((former) => former.file.content.digest === file.content.digest);
  const doubtful = edit !== null && mayBeNewer(edit, edited, prompt, committed);
  return { base, baseContent: contentOf(edited, then), since: doubtful ? statesSince(edited, file, earlier) : null };
}

/** The newest version of promptsync's that is known. */
function newestOrigin({ observed }: PromptPlan): Original | undefined {
  const newest = observed?.known.find(({ ours }) => ours);
  return newest && originalOf(newest);
}

/** A version of promptsync's; its number and content are missing where only a copy of its record is known. */
type Original = Source & { readonly content: KnownVersion['content']; readonly number: number | null };

function originalOf({ digest, metadataDigest, ours, source, content, number }: KnownVersion): Original {
  return { ...(ours ? source : null), digest, metadataDigest, content, number };
}

/**
 * The version that an outside one was made from: the one whose record it has copied, which no ledger need remember; else
 * what the file says that its environment served before. Where the file follows no number, it is the newest of
 * promptsync's before it. Null where that version is not known, and undefined where none of promptsync's is.
 */
function originOf({ version, pin }: Edit, { observed }: PromptPlan): Original | null | undefined {
  if (observed === null) return undefined;
  const { known } = observed;
  const own = ownBefore(version, known);
  const { source } = version;
  const copied = own.find(({ digest }) => digest === source?.digest);
  if (copied !== undefined) return originalOf(copied);
  if (source !== null) return { ...source, content: null, number: null };
  if (pin?.pin.kind === 'number' || pin?.pin.kind === 'version') {
    const named = findNamed(known, pin.pin);
    return named === undefined ? null : originalOf(named);
  }
  return own[0] && originalOf(own[0]);
}

/** Versions that promptsync made before another one, newest first. */
export function ownBefore({ number }: KnownVersion, known: readonly KnownVersion[]): readonly KnownVersion[] {
  return known.filter((one) => one.ours && one.number < number);
}

/**
 * Whether an edit may come from a newer state of the file than its origin: one that was pulled leaves no trace in the
 * service, and what it holds of the origin may be an edit that somebody has taken back. So it is where there was a
 * version in between that nobody knows, or where the service has had the file's text already: `committed`, because
 * what no commit has is never synced.
 */
function mayBeNewer(
  { version, pin }: Edit,
  origin: Original,
  { file, observed }: PromptPlan,
  committed: boolean,
): boolean {
  if (observed === null) return false;
  const known = observed.known.filter(({ number }) => number < version.number);
  const { number } = origin;
  if (number === null) return true;
  if (pin !== null && findNamed(known, pin.pin)?.number === number) return false;
  if (hasGap(known, number, version.number)) return true;
  // A copied record names the newest of promptsync's that the edit can come from.
  const met = known.filter((one) => (one.ours ? version.source === null : one.number > number));
  return committed && met.some(({ digest }) => digest === file.content.digest && digest !== origin.digest);
}

/** What the file was since then, each content once; all that it was, where git does not know when that was. */
function statesSince({ commit, digest }: Original, file: PromptFile, earlier: readonly FormerFile[]) {
  const known = earlier.findIndex((former) => former.commit === commit);
  const then = known === -1 ? earlier.findLastIndex((former) => former.file.content.digest === digest) : known;
  const since = earlier.slice(0, then === -1 ? earlier.length : then).map((former) => former.file.content);
  const keyOf = (content: Content) => `${content.digest} ${content.metadataDigest ?? ''}`;
  const distinct = new Map(since.map((content) => [keyOf(content), content]));
  distinct.delete(keyOf(file.content));
  return [...distinct.values()];
}

const NOTHING: MergeBase = { base: null, baseContent: null, since: null };

/**
 * A shallow clone does not know what a file said first. Where one of its pins names a version that is not known, the
 * service has had more than the file's text: the pin may be another one by now, as a pull has edited it.
 */
async function firstOf(
  { file, observed }: PromptPlan,
  earlier: readonly FormerFile[],
  repository: Repository | null,
): Promise<MergeBase> {
  const shallow = repository?.shallow ?? false;
  const files = shallow ? [] : earlier.map((former) => former.file);
  const base = files.at(-1) ?? null;
  const known = observed?.known ?? [];
  const isOnlyText = hadOneText(files, file) && !files.some(({ pins }) => pins.some((one) => isUnknown(one, known)));
  return { base, baseContent: isOnlyText ? (base?.content ?? null) : null, since: null };
}

function isUnknown({ pin }: EnvironmentPin, known: readonly KnownVersion[]): boolean {
  return (pin.kind === 'number' || pin.kind === 'version') && findNamed(known, pin) === undefined;
}

/** Whether a file has had one text only, as far as git knows: then whatever differs was changed outside. */
function hadOneText(files: readonly PromptFile[], { content }: PromptFile): boolean {
  return files.length > 0 && files.every((file) => file.content.digest === content.digest);
}

/** Null where git does not have it, or has another one there. */
async function fileOf({ commit, path, digest }: Original, { id }: PromptFile, repository: Repository | null) {
  const then = commit === undefined || path === undefined ? null : await fileInGit(repository, commit, path);
  return then?.content.digest === digest && then.id === id ? then : null;
}

/** What a version held, by its file or as it was read. */
function contentOf({ content: held, metadataDigest }: Original, file: MergeBase['base']): MergeBase['baseContent'] {
  const read = held === null ? null : { text: withLineFeeds(held.text), metadata: held.metadata };
  const content = file?.content;
  if (content === undefined || content.metadata !== undefined) return content ?? read;
  // A file that did not manage metadata may do so by now.
  const metadata = metadataDigest === EMPTY_METADATA_DIGEST ? {} : read?.metadata;
  return { text: content.text, ...(metadata === undefined ? {} : { metadata }) };
}
