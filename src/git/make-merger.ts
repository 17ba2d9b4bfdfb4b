import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { SimpleGitOptions } from 'simple-git';
import type { ConflictLabels, MergedText, MergeLines, PreferredSide, ThreeTexts } from '../domain/edits.ts';
import { detectFailure, type GitSettings, openGit } from './run-git.ts';

/** The maximum number of merge processes, regardless of the number of prompts. */
const limit = pLimit(4);

/** `git merge-file` reports at most this many conflicts as its exit code. A higher code means that git failed. */
const MAX_COUNTED_CONFLICTS = 127;

/** Keeps the user's configuration from making git show the base of a conflict, too. */
const TWO_SIDED_CONFLICTS = ['-c', 'merge.conflictStyle=merge'];

/**
 * Creates a function that merges prompt texts line by line, as git does, without a repository. A conflict results in
 * the lines of the preferred side or, without one, in conflict markers. Throws a `ProblemError` if git cannot merge.
 */
export function makeMerger(keyVariables: readonly string[]): MergeLines {
  return (texts, side, labels) =>
    limit(() => useTemporaryFolder((root) => mergeInFolder({ root, keyVariables }, texts, side, labels)));
}

async function mergeInFolder(
  settings: GitSettings,
  { base, ours, theirs }: ThreeTexts,
  side: PreferredSide,
  labels: ConflictLabels,
): Promise<MergedText> {
  const files = Object.entries({ ours: `${ours}\n`, base: base === null ? '' : `${base}\n`, theirs: `${theirs}\n` });
  await Promise.all(files.map(([name, text]) => writeFile(join(settings.root, name), text)));
  let conflicts = 0;
  const errors: NonNullable<SimpleGitOptions['errors']> = (error, result) => {
    const countsConflicts = result.exitCode <= MAX_COUNTED_CONFLICTS && !(error instanceof Error);
    if (!countsConflicts) return detectFailure(error, result);
    conflicts = result.exitCode;
    return undefined;
  };
  const { run } = openGit(settings, { errors });
  const labelOptions = [labels.ours, 'base', labels.theirs].map((label) => `-L${label}`);
  const sideOptions = side === null ? [] : [`--${side}`];
  const options = ['-p', ...sideOptions, ...labelOptions];
  const merged = await run(...TWO_SIDED_CONFLICTS, 'merge-file', ...options, 'ours', 'base', 'theirs');
  return { text: merged.slice(0, -1), conflicts };
}

/** Calls `use` with a new folder that other users cannot read, and then deletes the folder. */
async function useTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'promptsync-merge-'));
  try {
    // `openGit` requires a `.git` folder. `git merge-file` accepts an empty one.
    await mkdir(join(folder, '.git'));
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
