import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { FileEdit } from '../../domain/edits.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import { isError, makeProblem, type Problem } from '../../problem.ts';
import { editPromptFile, type PromptEdits } from '../../files/edit.ts';
import { parsePromptFile } from '../../files/parse.ts';
import type { Prepared } from '../preparing/prepare-plan.ts';

/** What is to be done to one prompt's file. */
export type Draft = {
  readonly file: PromptFile;
  readonly status: 'unchanged' | 'pending' | 'blocked' | 'failed';
  readonly edits: readonly FileEdit[];
  readonly problems: readonly Problem[];
  /** Null where the file stays as it is. */
  readonly change: FileChange | null;
};

export type FileChange = {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  /** The file as it will be; null where it holds conflicts. */
  readonly file: PromptFile | null;
};

/** A draft of a file that stays as it is. */
export function stays(file: PromptFile, status: Draft['status'], problems: readonly Problem[] = []): Draft {
  return { file, status, edits: [], problems, change: null };
}

/** Makes the edits of one file, and writes nothing. What they were made of may be gone since the service was asked. */
export async function draftEdits(
  file: PromptFile,
  edits: readonly FileEdit[],
  wanted: PromptEdits,
  { config }: Pick<Prepared, 'config'>,
): Promise<Draft> {
  const { path } = file;
  const before = await readFile(join(config.folder, path)).catch(() => null);
  const parsed = before === null ? null : parsePromptFile(before, path);
  if (before === null || parsed === null || !isSame(parsed.file, file)) {
    return { ...stays(file, 'failed', [makeProblem('edit/changed-meanwhile', {}, { path })]), edits };
  }
  const result = editPromptFile(before, path, wanted);
  if ('problem' in result) return { ...stays(file, 'failed', [result.problem]), edits };
  const problems = newWarnings(parsed.problems, result.bytes, path);
  return { file, status: 'pending', edits, problems, change: { before, after: result.bytes, file: result.file } };
}

/** What comes from the service may hold characters that nobody sees: those that were in the file were told of before. */
function newWarnings(before: readonly Problem[], after: Uint8Array, path: string): readonly Problem[] {
  const told = new Set(before.map(({ message }) => message));
  return parsePromptFile(after, path).problems.filter((one) => !isError(one) && !told.has(one.message));
}

/** Whether two readings of a file say the same: a plan has the pins in promotion order. */
function isSame(one: PromptFile | null, other: PromptFile): boolean {
  return one !== null && isDeepStrictEqual(inFileOrder(one), inFileOrder(other));
}

function inFileOrder(file: PromptFile): PromptFile {
  return { ...file, pins: file.pins.toSorted((a, b) => a.line - b.line || a.column - b.column) };
}
