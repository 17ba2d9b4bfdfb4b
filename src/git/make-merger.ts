import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { SimpleGitOptions } from 'simple-git';
import type { ConflictLabels, MergedText, MergeLines, PreferredSide, ThreeTexts } from '../domain/edits.ts';
import { detectFailure, type GitSettings, openGit } from './run-git.ts';

/** Runs at most four merge processes at a time, regardless of the number of prompts. */
const limit = pLimit(4);

/**
 * The largest number of conflicts that `git merge-file` reports as its exit code. A higher exit code means that git
 * failed.
 */
const MAX_COUNTED_CONFLICTS = 127;

/**
 * The options that make git show only the two sides of a conflict. Otherwise, the user's configuration could make git
 * show the base, too.
 */
const TWO_SIDED_CONFLICTS = ['-c', 'merge.conflictStyle=merge'];

/**
 * Creates a function that merges prompt texts line by line, as git does. If both sides changed the same lines, the
 * result contains the lines of the preferred side. If no side is preferred, it contains conflict markers around both.
 * The function works without a repository. It throws a `ProblemError` if git cannot merge.
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
    // promptsync runs git only in a folder that contains `.git`. For `git merge-file`, an empty `.git` folder is
    // enough.
    await mkdir(join(folder, '.git'));
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
