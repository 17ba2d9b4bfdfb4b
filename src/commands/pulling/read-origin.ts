import { isDeepStrictEqual } from 'node:util';
import { EMPTY_METADATA_DIGEST, withLineFeeds } from '../../domain/digest.ts';
import type { PromptPlan } from '../../domain/plan.ts';
import type { Content, PromptFile } from '../../domain/prompt-file.ts';
import type { Repository } from '../../git/repository.ts';
import type { Theirs } from '../../merging/merge-prompt.ts';
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
  const first = newest === undefined || edited === undefined ? await firstOf(file, earlier, repository) : NOTHING;
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

/** A shallow clone does not know what a file said first. */
async function firstOf(
  file: PromptFile,
  earlier: readonly FormerFile[],
  repository: Repository | null,
): Promise<Origin> {
  const shallow = (await repository?.isShallow()) ?? false;
  const files = shallow ? [] : earlier.map((former) => former.file);
  const base = files.at(-1) ?? null;
  return { base, baseContent: hadOneText(files, file) ? (base?.content ?? null) : null, since: null };
}
