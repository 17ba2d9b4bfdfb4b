import { readSourceFile } from '../history/read-at-commit.ts';
import type { FormerFile } from '../desired/read-history.ts';
import type { ObservedPromptPlan } from '../domain/plan.ts';
import { type EnvironmentPin, formatPin, type Pin, type PromptFile } from '../domain/prompt-file.ts';
import { type Content, toFileContent, listDistinctContents, isEqualContent, isSameContent } from '../domain/content.ts';
import { findPinnedVersion, hasGap, type KnownVersion } from '../domain/versions.ts';
import type { ServiceSide } from '../files/merge-prompt.ts';
import type { PromptRepository } from '../history/read-at-commit.ts';
import { findServedPin, isServedSubject } from './plan-import-commits.ts';

/**
 * A foreign version, and the file's pin for the environment that serves it. The pin is null if the file does not pin
 * the environment.
 */
type ServiceEdit = { readonly version: KnownVersion; readonly pin: EnvironmentPin | null };

/** The base for a three-way merge of a prompt file with the service. */
type MergeBase = Pick<ServiceSide, 'baseFile' | 'baseContent' | 'newerContents'>;

/**
 * Finds the base for merging an edit from the service into a prompt file. Content and fields have separate bases:
 *
 * - The base of the content is the version that somebody edited. If promptsync knows no version that may have been
 *   edited, the base is the first state of the file. This state is used only if the text of the file never changed in
 *   git.
 * - The fields, such as the name, do not belong to a version. Their base is the file from which promptsync created the
 *   newest managed version. If there is no managed version, the base is the first state of the file.
 *
 * If a base is uncertain, it is null, and the merge treats every difference as a conflict.
 */
export async function readMergeBase(
  { file, observed }: ObservedPromptPlan,
  edit: ServiceEdit | null,
  allFormerFiles: readonly FormerFile[],
  repository: PromptRepository | null,
): Promise<MergeBase> {
  const { formerFiles, servedContents } = await separateServedStates(allFormerFiles, repository);
  const known = observed.known;
  const newestManaged = known.find(({ isManaged }) => isManaged);
  // In a shallow clone, the oldest available state may not be the first state of the file.
  const completeHistory = repository?.isShallow === true ? [] : formerFiles;
  const baseFile =
    newestManaged === undefined
      ? (completeHistory.at(-1)?.file ?? null)
      : await readFileOfVersion(newestManaged, file, repository);
  if (edit === null) return { baseFile, ...NO_CONTENT_BASE };
  const history = { file, known, formerFiles, completeHistory, servedContents, repository };
  return { baseFile, ...(await readContentBase(edit, history)) };
}

/** The content of a version that an environment served when its prompt was imported, and the pin of that version. */
type ServedVersionContent = { readonly pin: Pin; readonly content: Content };

/** The states of a prompt file in git, newest first. The states that `import --commit` added are separate. */
type SeparatedStates = {
  readonly formerFiles: readonly FormerFile[];
  /** The contents of the states that `import --commit` added. */
  readonly servedContents: readonly ServedVersionContent[];
};

/**
 * Separates the states that `import --commit` committed before the new file. These states hold texts that environments
 * served. Such a text was never the desired text of the file, so these states are not evidence that the desired text
 * changed.
 */
async function separateServedStates(
  formerFiles: readonly FormerFile[],
  repository: PromptRepository | null,
): Promise<SeparatedStates> {
  if (repository === null) return { formerFiles, servedContents: [] };
  const commits = await repository.readCommits(formerFiles.map(({ commit }) => commit));
  const getSubject = ({ commit }: FormerFile): string => commits.get(commit)?.subject ?? '';
  const isServedState = (state: FormerFile): boolean => isServedSubject(getSubject(state));
  return {
    formerFiles: formerFiles.filter((state) => !isServedState(state)),
    servedContents: formerFiles.filter(isServedState).flatMap((state): readonly ServedVersionContent[] => {
      const pin = findServedPin(state.file, getSubject(state));
      return pin === null ? [] : [{ pin, content: state.file.content }];
    }),
  };
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
  /** The same states as `formerFiles`. Empty in a shallow clone, which may lack older states. */
  readonly completeHistory: readonly FormerFile[];
  readonly servedContents: SeparatedStates['servedContents'];
  readonly repository: PromptRepository | null;
};

async function readContentBase(edit: ServiceEdit, history: MergeHistory): Promise<ContentBase> {
  const { file, known, formerFiles, completeHistory, repository } = history;
  const servedContent = findServedContent(edit, history);
  if (servedContent !== null) return { baseContent: servedContent, newerContents: null };
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
 * Finds the content of the version that somebody edited among the contents that `import --commit` committed. Returns
 * null unless the file pins that version and promptsync cannot read its content from the service. If a ledger lists the
 * version, the content must match the digest in the ledger.
 */
function findServedContent(
  { version: { source }, pin }: ServiceEdit,
  { known, servedContents }: MergeHistory,
): Content | null {
  if (pin === null || source !== null) return null;
  const pinned = findPinnedVersion(known, pin.pin);
  if (pinned !== undefined && pinned.content !== null) return null;
  const pinText = formatPin(pin.pin);
  const matches = servedContents.filter((served) => formatPin(served.pin) === pinText);
  return matches.find(({ content }) => pinned === undefined || content.digest === pinned.digest)?.content ?? null;
}

/**
 * Returns the version from which to read the content of the origin. This is the origin itself if promptsync created it.
 * Otherwise, it is a version that promptsync created with the same content, such as a baseline, because git has the
 * content of such a version even if the service no longer shows it. If there is none, it is the origin.
 */
function findReadableVersion(origin: KnownVersion, known: readonly KnownVersion[]): KnownVersion {
  if (origin.isManaged) return origin;
  return known.find((version) => version.isManaged && isSameContent(version, origin)) ?? origin;
}

/**
 * The version that somebody edited in the service, or one of these values:
 *
 * - `unknown`: A version record or a pin refers to the version, but promptsync does not know that version.
 * - `none`: promptsync knows no older version that may have been edited. There is no older managed version, and no
 *   older version has text that the file had in git.
 */
type EditOrigin = KnownVersion | 'unknown' | 'none';

/**
 * Finds the version that somebody edited in the service. The first rule that applies decides:
 *
 * 1. If the edit contains a copied version record, its origin is the version that the record describes.
 * 2. If the file pins the environment to a specific version, that version is the origin.
 * 3. If there are managed versions before the edit, the newest of them is the origin.
 * 4. Otherwise, the origin is the newest version before the edit whose text the file had in git.
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
 * Returns true if any state of the file in git has the text of this version. Some services do not record who created a
 * version. For such services, only git can show whether a version comes from the file.
 */
function hasFormerText({ digest }: KnownVersion, formerFiles: readonly FormerFile[]): boolean {
  return formerFiles.some(({ file }) => file.content.digest === digest);
}

/** Returns the managed versions that are older than a version, newest first. */
export function listManagedBefore({ number }: KnownVersion, known: readonly KnownVersion[]): readonly KnownVersion[] {
  return known.filter((version) => version.isManaged && version.number < number);
}

/**
 * Returns true if the edit may be based on newer content than its presumed origin. If so, somebody may have restored a
 * line of the origin on purpose. The service does not show this, because a pull leaves no trace there. There are two
 * such cases:
 *
 * - promptsync does not know all versions between the origin and the edit.
 * - A version before the edit has the current text of the file, and a commit contains this text. After a revert,
 *   promptsync may have made this version active again without creating a new one. Uncommitted text does not count,
 *   because promptsync never synced it.
 *
 * Returns false in both cases if the file pins the environment to the origin.
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
  // A copied version record identifies the newest managed version that the edit can be based on. If the edit contains
  // such a record, only foreign versions count here.
  const possibleOrigins = before.filter(({ isManaged }) => version.source === null || !isManaged);
  return possibleOrigins.some(({ digest }) => digest === content.digest);
}

/**
 * Returns the content that the file had in git after the text of a version. Starts after the oldest state with that
 * text. If no state has that text, uses all states. Omits duplicates and the current content of the file.
 */
function listContentsSince(
  { digest }: KnownVersion,
  file: PromptFile,
  formerFiles: readonly FormerFile[],
): readonly Content[] {
  const firstIndex = formerFiles.findLastIndex((former) => former.file.content.digest === digest);
  const newerFiles = firstIndex === -1 ? formerFiles : formerFiles.slice(0, firstIndex);
  const contents = listDistinctContents(newerFiles.map((former) => former.file.content));
  return contents.filter((content) => !isEqualContent(content, file.content));
}

/**
 * Returns true if git shows that the text of the file never changed. Every difference then comes from the service.
 * Returns false if any state of the file pins a version that promptsync does not know, because the service then had
 * different text. Checks the pins of all states, because a pull may have replaced such a pin.
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
 * Returns the content of a version. If promptsync did not read the content from the service, reads it from git. Returns
 * null if git does not have the content either.
 */
async function readContentOf(
  version: KnownVersion,
  file: PromptFile,
  repository: PromptRepository | null,
): Promise<ContentBase['baseContent']> {
  if (version.content !== null) return toFileContent(version.content);
  return (await readFileOfVersion(version, file, repository))?.content ?? null;
}

/**
 * Reads the file from which promptsync created a version. Returns null if git lacks the file, or if the file belongs to
 * a different prompt.
 */
async function readFileOfVersion(
  version: KnownVersion,
  { id }: PromptFile,
  repository: PromptRepository | null,
): Promise<PromptFile | null> {
  const sourceFile = version.isManaged ? await readSourceFile(version, repository) : null;
  return sourceFile?.id === id ? sourceFile : null;
}
