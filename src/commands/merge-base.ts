import { readSourceFile } from '../desired/read-at-commit.ts';
import type { FormerFile } from '../desired/read-history.ts';
import type { PromptPlan } from '../domain/plan.ts';
import type { EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import { type Content, toFileContent, makeContentKey, isSameContent } from '../domain/content.ts';
import { findPinnedVersion, hasGap, type KnownVersion } from '../domain/versions.ts';
import type { ServiceSide } from '../files/merge-prompt.ts';
import type { Repository } from '../git/open-repository.ts';

/**
 * A version that somebody else created, and the pin of the environment that serves it. The pin is null if the file does
 * not pin the environment.
 */
type ServiceEdit = { readonly version: KnownVersion; readonly pin: EnvironmentPin | null };

/** The common base of a prompt file and the service, as the three-way merge needs it. */
type MergeBase = Pick<ServiceSide, 'baseFile' | 'baseContent' | 'newerContents'>;

/**
 * Reads the merge base of a prompt file and an edit in the service. The base of the content is the version that
 * somebody edited. Fields belong to no version, so their base is the file of the newest managed version. Without a
 * managed version, the base is the first state of the file. That state is the base of the content only if git shows
 * that the file never had another text. In any doubt, the base is null, and the merge treats every difference as a
 * conflict.
 */
export async function readMergeBase(
  { file, observed }: PromptPlan,
  edit: ServiceEdit | null,
  formerFiles: readonly FormerFile[],
  repository: Repository | null,
): Promise<MergeBase> {
  const known = observed?.known ?? [];
  const newestManaged = known.find(({ isManaged }) => isManaged);
  // The oldest state in a shallow clone may not be the first state of the file.
  const completeHistory = repository?.isShallow === true ? [] : formerFiles;
  const baseFile =
    newestManaged === undefined
      ? (completeHistory.at(-1)?.file ?? null)
      : await readFileOfVersion(newestManaged, file, repository);
  if (edit === null) return { baseFile, ...NO_CONTENT_BASE };
  const history = { file, known, formerFiles, completeHistory, repository };
  return { baseFile, ...(await readContentBase(edit, history)) };
}

/** The part of the merge base that concerns the content. */
type ContentBase = Pick<MergeBase, 'baseContent' | 'newerContents'>;

/** The merge base of the content if there is no edit, or if the origin of the edit is unknown. */
const NO_CONTENT_BASE: ContentBase = { baseContent: null, newerContents: null };

/** A prompt file, its known versions in the service, and its states in git. */
type MergeHistory = {
  readonly file: PromptFile;
  readonly known: readonly KnownVersion[];
  /** The states of the file in git, newest first. */
  readonly formerFiles: readonly FormerFile[];
  /** The states of the file in git back to its first one, newest first. Empty if the clone is shallow. */
  readonly completeHistory: readonly FormerFile[];
  readonly repository: Repository | null;
};

async function readContentBase(edit: ServiceEdit, history: MergeHistory): Promise<ContentBase> {
  const { file, known, formerFiles, completeHistory, repository } = history;
  const origin = findOrigin(edit, known, formerFiles);
  if (origin === 'unknown') return NO_CONTENT_BASE;
  if (origin === 'none') {
    const firstContent = completeHistory.at(-1)?.file.content ?? null;
    return { baseContent: hasOneKnownText(history) ? firstContent : null, newerContents: null };
  }
  const baseContent = await readContentOf(findReadableVersion(origin, known), file, repository);
  const newerContents = mayOriginBeNewer(edit, origin, history) ? listContentsSince(origin, file, formerFiles) : null;
  return { baseContent, newerContents };
}

/**
 * Returns the version from which promptsync can read the content of an origin. promptsync cannot read an adopted
 * version that no environment serves anymore. In that case, returns the baseline, which has the same content.
 */
function findReadableVersion(origin: KnownVersion, known: readonly KnownVersion[]): KnownVersion {
  if (origin.isManaged) return origin;
  return known.find((version) => version.isManaged && isSameContent(version, origin)) ?? origin;
}

/**
 * The version that somebody edited in the service. `unknown` if a version record or a pin names a version that
 * promptsync does not know. `none` if promptsync knows no older version that it created or that has a former text of
 * the file.
 */
type EditOrigin = KnownVersion | 'unknown' | 'none';

/**
 * Finds the version that somebody edited in the service. If the edit is a copy, that is the version whose version
 * record was copied. Otherwise it is the version that the file pins for the environment. If the pin names no version,
 * it is the newest managed version before the edit. Without a managed version, it is the newest older version with a
 * former text of the file.
 */
function findOrigin(
  { version, pin }: ServiceEdit,
  known: readonly KnownVersion[],
  formerFiles: readonly FormerFile[],
): EditOrigin {
  const managedBefore = listManagedBefore(version, known);
  const { source } = version;
  if (source !== null) return managedBefore.find(({ digest }) => digest === source.digest) ?? 'unknown';
  if (pin?.pin.kind === 'number' || pin?.pin.kind === 'version') {
    return findPinnedVersion(known, pin.pin) ?? 'unknown';
  }
  const [newestManaged] = managedBefore;
  if (newestManaged !== undefined) return newestManaged;
  const isOlderText = (candidate: KnownVersion) =>
    candidate.isManaged === null && candidate.number < version.number && hasFormerText(candidate, formerFiles);
  return known.find(isOlderText) ?? 'none';
}

/**
 * Whether the text of a version is a text that the file had in git. Some services do not record who
 * created a version. Then only git can tell whether the version comes from the file.
 */
function hasFormerText({ digest }: KnownVersion, formerFiles: readonly FormerFile[]): boolean {
  return formerFiles.some(({ file }) => file.content.digest === digest);
}

/** Returns the versions that promptsync created before another version, newest first. */
export function listManagedBefore({ number }: KnownVersion, known: readonly KnownVersion[]): readonly KnownVersion[] {
  return known.filter((version) => version.isManaged && version.number < number);
}

/**
 * Whether somebody may have made an edit from a newer state of the file than its origin. A pulled edit leaves no trace
 * in the service. So a text that the edit shares with the origin may be a text that somebody restored. This can happen
 * in two cases:
 *
 * - promptsync does not know all versions between the origin and the edit.
 * - The service had the committed text of the file before the edit. A revert makes such a version active again, and
 *   creates no new version. A text that no commit has was never synced.
 */
function mayOriginBeNewer(
  { version, pin }: ServiceEdit,
  origin: KnownVersion,
  { file, known, formerFiles }: MergeHistory,
): boolean {
  const { content } = file;
  const before = known.filter(({ number }) => number < version.number);
  if (pin !== null && findPinnedVersion(before, pin.pin)?.number === origin.number) return false;
  if (hasGap(before, origin.number, version.number)) return true;
  const isCommitted = formerFiles.some((former) => former.file.content.digest === content.digest);
  if (!isCommitted || origin.digest === content.digest) return false;
  // If the edit has a copied version record, that record names the newest managed version that the edit can come from.
  // Then only foreign versions count here.
  const possibleOrigins = before.filter(({ isManaged }) => version.source === null || !isManaged);
  return possibleOrigins.some(({ digest }) => digest === content.digest);
}

/**
 * Returns the distinct contents that the file had after it first had the text of a version, without its current
 * content. If the file never had that text, returns all its earlier contents.
 */
function listContentsSince(
  { digest }: KnownVersion,
  file: PromptFile,
  formerFiles: readonly FormerFile[],
): readonly Content[] {
  const firstIndex = formerFiles.findLastIndex((former) => former.file.content.digest === digest);
  const newerFiles = firstIndex === -1 ? formerFiles : formerFiles.slice(0, firstIndex);
  const distinct = new Map(newerFiles.map(({ file: { content } }) => [makeContentKey(content), content]));
  distinct.delete(makeContentKey(file.content));
  return [...distinct.values()];
}

/**
 * Whether git shows that the file never had another text. Every difference then comes from the service. If any state of
 * the file pins an unknown version, the service had other texts, too. This checks the pins of all states, because a
 * pull may have edited a pin since.
 */
function hasOneKnownText({ file: { content }, completeHistory, known }: MergeHistory): boolean {
  const isKnown = ({ pin }: EnvironmentPin) =>
    pin.kind === 'latest' || pin.kind === 'git' || findPinnedVersion(known, pin) !== undefined;
  return (
    completeHistory.length > 0 &&
    completeHistory.every(({ file }) => file.content.digest === content.digest && file.pins.every(isKnown))
  );
}

/**
 * Returns the content of a version, from git if promptsync did not read the version. Null if git lacks the content,
 * too.
 */
async function readContentOf(
  version: KnownVersion,
  file: PromptFile,
  repository: Repository | null,
): Promise<ContentBase['baseContent']> {
  if (version.content !== null) return toFileContent(version.content);
  return (await readFileOfVersion(version, file, repository))?.content ?? null;
}

/**
 * Reads the file from which promptsync created a version. Null if git lacks the file, or if its id is another prompt's.
 */
async function readFileOfVersion(
  version: KnownVersion,
  { id }: PromptFile,
  repository: Repository | null,
): Promise<PromptFile | null> {
  const sourceFile = version.isManaged ? await readSourceFile(version, repository) : null;
  return sourceFile?.id === id ? sourceFile : null;
}
