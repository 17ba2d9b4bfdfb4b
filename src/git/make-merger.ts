import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { SimpleGitOptions } from 'simple-git';
import type { ConflictLabels, MergedText, MergeLines, PreferredSide, ThreeTexts } from '../domain/edits.ts';
import { detectFailure, type GitSettings, openGit } from './open-git.ts';

/** So many processes at a time, however many prompts are merged. */
const limit = pLimit(4);
/** Up to it, the exit code of `git merge-file` counts conflicts; above it, git has failed. */
const MAX_COUNTED_CONFLICTS = 127;
/** Else the user's configuration could have the base shown as well. */
const TWO_SIDES = ['-c', 'merge.conflictStyle=merge'];

/**
 * Makes what merges texts line by line as git does: with markers around what both sides have changed, or with one side of
 * it. It needs no repository, and throws a `ProblemError` when git cannot merge.
 */
export function makeMerger(keyVariables: readonly string[]): MergeLines {
  return (texts, side, labels) =>
    limit(() => inNewFolder((root) => mergeInFolder({ root, keyVariables }, texts, side, labels)));
}

async function mergeInFolder(
  start: GitSettings,
  texts: ThreeTexts,
  side: PreferredSide,
  labels: ConflictLabels,
): Promise<MergedText> {
  const { base, ours, theirs } = texts;
  const files = Object.entries({ ours: `${ours}\n`, base: base === null ? '' : `${base}\n`, theirs: `${theirs}\n` });
  await Promise.all(files.map(([name, text]) => writeFile(join(start.root, name), text)));
  let conflicts = 0;
  const errors: NonNullable<SimpleGitOptions['errors']> = (error, result) => {
    if (!(result.exitCode <= MAX_COUNTED_CONFLICTS) || error instanceof Error) return detectFailure(error, result);
    conflicts = result.exitCode;
    return undefined;
  };
  const { run } = openGit(start, { errors });
  const named = [labels.ours, 'base', labels.theirs].map((label) => `-L${label}`);
  const sided = side === null ? [] : [`--${side}`];
  const merged = await run(...TWO_SIDES, 'merge-file', '-p', ...sided, ...named, 'ours', 'base', 'theirs');
  return { text: merged.slice(0, -1), conflicts };
}

/** A folder that others cannot read. */
async function inNewFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'promptsync-merge-'));
  try {
    // Git is started only where this is. It is no repository, and needs not be one.
    await mkdir(join(folder, '.git'));
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
