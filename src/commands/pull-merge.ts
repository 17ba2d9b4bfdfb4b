import { isDeepStrictEqual } from 'node:util';
import { type Draft, draftEdits, stays } from './edit-files.ts';
import { hadOneText, mayBeNewer, newestOrigin, type Original, originOf, type OutsideEdit } from './outside-edits.ts';
import { fileInGit } from '../desired/at-commit.ts';
import type { FormerFile } from '../desired/former-files.ts';
import type { PinEdit } from './pin-edit.ts';
import type { Walked } from './walk.ts';
import { EMPTY_METADATA_DIGEST, withLineFeeds } from '../domain/digest.ts';
import type { FieldName, PromptPlan } from '../domain/plan.ts';
import { findNamed, type KnownVersion } from '../domain/versions.ts';
import type { Content, EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import type { Side } from '../files/merge.ts';
import type { MergedPrompt, Theirs } from '../files/merge.ts';
import type { Repository } from '../git/repository.ts';
import { makeProblem } from '../problem.ts';

/** What the service holds of a prompt, with the text of one environment, and what file and service come from. */
export async function readTheirs(
  prompt: PromptPlan,
  edit: OutsideEdit | null,
  earlier: readonly FormerFile[],
  walked: Walked,
): Promise<Theirs> {
  const { file, observed } = prompt;
  const origin = await readOrigin(prompt, edit, earlier, walked);
  const held = edit?.version.content ?? null;
  const content = held === null ? null : { text: withLineFeeds(held.text), metadata: held.metadata };
  return { fields: changedFields(observed?.fields ?? file, file, earlier), content, ...origin };
}

/** A field that stands as an earlier commit had it was not changed by anybody: a sync has not got there yet. */
function changedFields(
  served: { readonly [Field in FieldName]?: string | null },
  file: PromptFile,
  earlier: readonly FormerFile[],
): Theirs['fields'] {
  const now = (field: FieldName): string => {
    const value = served[field] ?? '';
    return earlier.some((former) => (former.file[field] ?? '') === value) ? (file[field] ?? '') : value;
  };
  return { key: now('key'), name: now('name'), description: now('description') };
}

export type Origin = Pick<Theirs, 'base' | 'baseContent' | 'since'>;

/**
 * What a file and an edit in the service both come from: the file at the commit that the version which was edited was
 * made from; its text also from the service. Fields belong to no version: they are compared since the newest.
 * Where no version of promptsync's is known, it is the file itself if git says that its text was never changed.
 */
export async function readOrigin(
  prompt: PromptPlan,
  edit: OutsideEdit | null,
  earlier: readonly FormerFile[],
  { repository }: Walked,
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
function contentOf({ content: held, metadataDigest }: Original, file: Origin['base']): Origin['baseContent'] {
  const read = held === null ? null : { text: withLineFeeds(held.text), metadata: held.metadata };
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
  const known = observed?.known ?? [];
  const isOnlyText = hadOneText(files, file) && !files.some(({ pins }) => pins.some((one) => isUnknown(one, known)));
  return { base, baseContent: isOnlyText ? (base?.content ?? null) : null, since: null };
}

function isUnknown({ pin }: EnvironmentPin, known: readonly KnownVersion[]): boolean {
  return (pin.kind === 'number' || pin.kind === 'version') && findNamed(known, pin) === undefined;
}

type Asked = { readonly side: Side; readonly dryRun: boolean };

/** Makes the edits of a merge, pins included. A conflict is left to somebody only if the service's side can be taken. */
export async function draftMerge(
  file: PromptFile,
  merge: (side: Side) => Promise<MergedPrompt>,
  pins: readonly PinEdit[],
  { side, dryRun }: Asked,
  walked: Walked,
): Promise<Draft> {
  const merged = await merge(side);
  const places = conflictsIn(merged);
  const taken = places === 0 ? null : await draftMerged(file, await merge('theirs'), pins, walked);
  if (taken?.status === 'failed') return taken;
  const draft = await draftMerged(file, merged, pins, walked);
  if (places === 0 || draft.change === null) return draft;
  const code = dryRun ? 'pull/would-conflict' : 'pull/conflict';
  return { ...draft, problems: [...draft.problems, makeProblem(code, { places }, { path: file.path })] };
}

function conflictsIn({ edits, text }: MergedPrompt): number {
  return (text?.conflicts ?? 0) + edits.filter((edit) => edit.kind === 'set-field' && edit.conflict).length;
}

async function draftMerged(
  file: PromptFile,
  { edits, frontMatter, text }: MergedPrompt,
  pins: readonly PinEdit[],
  walked: Walked,
): Promise<Draft> {
  const all = [...edits, ...pins.map(({ edit }) => edit)];
  if (all.length === 0) return stays(file, 'unchanged');
  if (text?.text.includes('\r\n') === true) return unwritable(file);
  const changes = [...frontMatter, ...pins.map(({ change }) => change)];
  const wanted =
    text === null
      ? { frontMatter: changes }
      : { frontMatter: changes, text: text.text, conflicted: text.conflicts > 0 };
  return draftEdits(file, all, wanted, walked);
}

/** In a file a carriage return at the end of a line would be none of the text. */
function unwritable(file: PromptFile): Draft {
  const reason = 'a line of its text ends with a carriage return, which a file cannot hold';
  return stays(file, 'failed', [makeProblem('edit/not-kept', { reason }, { path: file.path })]);
}
