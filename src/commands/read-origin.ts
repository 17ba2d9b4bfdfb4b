import { withLineFeeds } from '../domain/digest.ts';
import type { PromptPlan } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { Theirs } from '../merging/merge-prompt.ts';
import { fileInGit } from './content-in-git.ts';
import type { FormerFile } from './former-pins.ts';
import { hadOneText, originOf, type OutsideEdit } from './outside-edits.ts';
import type { Prepared } from './prepare-plan.ts';

export type Origin = Pick<Theirs, 'base' | 'baseContent'>;

/**
 * What a file and an edit in the service both come from: the file at the commit that the ledger names, of the version
 * that was edited; its text also from the service. Where no version of promptsync's is known, the file itself if git
 * says that its text was never changed.
 */
export async function readOrigin(
  prompt: PromptPlan,
  edit: OutsideEdit | null,
  earlier: readonly FormerFile[],
  { repository }: Prepared,
): Promise<Origin> {
  const { file } = prompt;
  const origin = originOf(edit?.version ?? NEWEST, prompt);
  if (origin === undefined) return firstOf(file, earlier);
  const { commit, path, digest, version } = origin;
  const then = commit === undefined || path === undefined ? null : await fileInGit(repository, commit, path);
  const base = then?.content.digest === digest && then.id === file.id ? then : null;
  const read = version === null ? null : { text: withLineFeeds(version.text), metadata: version.metadata };
  return { base, baseContent: base?.content ?? read };
}

function firstOf(file: PromptFile, earlier: readonly FormerFile[]): Origin {
  const files = earlier.map((former) => former.file);
  const base = files.at(-1) ?? null;
  return { base, baseContent: hadOneText(files, file) ? (base?.content ?? null) : null };
}

/** Fields belong to no version: the newest is what they are compared since. */
const NEWEST = { number: Infinity, stamp: null };
