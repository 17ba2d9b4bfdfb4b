import { isDeepStrictEqual } from 'node:util';
import { EMPTY_METADATA_DIGEST, withLineFeeds } from '../../domain/digest.ts';
import { findNamed, knownVersions, type KnownVersion } from '../../domain/known-versions.ts';
import type { PromptPlan } from '../../domain/plan.ts';
import type { Content, EnvironmentPin, PromptFile } from '../../domain/prompt-file.ts';
import type { Repository } from '../../git/repository.ts';
import type { Theirs } from '../../files/merge.ts';
import { fileInGit } from '../past/content-in-git.ts';
import type { FormerFile } from '../past/former-pins.ts';
import { hadOneText, mayBeNewer, newestOrigin, originOf, type Original, type OutsideEdit } from './outside-edits.ts';
import type { Prepared } from '../preparing/prepare-plan.ts';

export type Origin = Pick<Theirs, 'base' | 'baseContent' | 'since'>;

/**
 * What a file and an edit in the service both come from: the file at the commit that the ledger names, of the version
 * that was edited; its text also from the service. Fields belong to no version: they are compared since the newest.
 * Where no version of promptsync's is known, it is the file itself if git says that its text was never changed.
 */
export async function readOrigin(
  prompt: PromptPlan,
  edit: OutsideEdit | null,
  earlier: readonly FormerFile[],
  { repository }: Prepared,
): Promise<Origin> {
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

const NOTHING: Origin = { base: null, baseContent: null, since: null };

/** Null where git does not have it, or has another one there. */
async function fileOf({ commit, path, digest }: Original, { id }: PromptFile, repository: Repository | null) {
  const then = commit === undefined || path === undefined ? null : await fileInGit(repository, commit, path);
  return then?.content.digest === digest && then.id === id ? then : null;
}

/** What a version held, by its file or as it was read. */
function contentOf({ version = null, metadataDigest }: Original, file: Origin['base']): Origin['baseContent'] {
  const read = version === null ? null : { text: withLineFeeds(version.text), metadata: version.metadata };
  const content = file?.content;
  if (content === undefined || content.metadata !== undefined) return content ?? read;
  // A file that did not manage metadata may do so by now.
  const metadata = metadataDigest === EMPTY_METADATA_DIGEST ? {} : read?.metadata;
  return { text: content.text, ...(metadata === undefined ? {} : { metadata }) };
}

/**
 * A shallow clone does not know what a file said first. Where one of its pins names a version that is not known, the
 * service has had more than the file's text: the pin may be another one by now, as a pull has edited it.
 */
async function firstOf(
  { file, observed }: PromptPlan,
  earlier: readonly FormerFile[],
  repository: Repository | null,
): Promise<Origin> {
  const shallow = (await repository?.isShallow()) ?? false;
  const files = shallow ? [] : earlier.map((former) => former.file);
  const base = files.at(-1) ?? null;
  const known = observed === null ? [] : knownVersions(observed);
  const isOnlyText = hadOneText(files, file) && !files.some(({ pins }) => pins.some((one) => isUnknown(one, known)));
  return { base, baseContent: isOnlyText ? (base?.content ?? null) : null, since: null };
}

function isUnknown({ pin }: EnvironmentPin, known: readonly KnownVersion[]): boolean {
  return (pin.kind === 'number' || pin.kind === 'version') && findNamed(known, pin) === undefined;
}
