import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Committed, EditedPrompt, FileEdit } from '../domain/edits.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { replaceFile } from '../files/replace-file.ts';
import { openCommitter } from '../git/commit.ts';
import type { Repository } from '../git/repository.ts';
import { isError, makeProblem, messageOf, problemOf, systemCodeOf, type Problem } from '../problem.ts';
import { editPromptFile, type PromptEdits } from '../prompts/edit.ts';
import { parsePromptFile } from '../prompts/parse.ts';
import type { Prepared } from './prepare-plan.ts';

export type EditOptions = {
  readonly dryRun: boolean;
  /** Commit what was edited. */
  readonly commit: boolean;
  /** Commit it on a new branch of this name. */
  readonly branch?: string | undefined;
};

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

export type Edited = {
  readonly edited: readonly EditedPrompt[];
  readonly committed?: Committed;
  readonly problems: readonly Problem[];
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
  if (before === null || !isSame(parsePromptFile(before, path).file, file)) {
    return { ...stays(file, 'failed', [makeProblem('edit/changed-meanwhile', {}, { path })]), edits };
  }
  const result = editPromptFile(before, path, wanted);
  if ('problem' in result) return { ...stays(file, 'failed', [result.problem]), edits };
  const problems = newWarnings(before, result.bytes, path);
  return { file, status: 'pending', edits, problems, change: { before, after: result.bytes, file: result.file } };
}

/** What comes from the service may hold characters that nobody sees: those that were in the file were told of before. */
function newWarnings(before: Uint8Array, after: Uint8Array, path: string): readonly Problem[] {
  const told = new Set(parsePromptFile(before, path).problems.map(({ message }) => message));
  return parsePromptFile(after, path).problems.filter((one) => !isError(one) && !told.has(one.message));
}

/** Whether two readings of a file say the same: a plan has the pins in promotion order. */
function isSame(one: PromptFile | null, other: PromptFile): boolean {
  return one !== null && isDeepStrictEqual(inFileOrder(one), inFileOrder(other));
}

function inFileOrder(file: PromptFile): PromptFile {
  return { ...file, pins: file.pins.toSorted((a, b) => a.line - b.line || a.column - b.column) };
}

/** What forbids to commit, before anything is edited. */
export async function commitProblems(
  { commit, branch }: EditOptions,
  { config, repository }: Pick<Prepared, 'config' | 'repository'>,
): Promise<readonly Problem[]> {
  if (!commit && branch === undefined) return [];
  if (repository === null) return [makeProblem('git/commit-needs-git')];
  const problem = branch === undefined ? null : await openCommitter(config.folder).branchProblem(branch);
  return problem === null ? [] : [problem];
}

type Where = Pick<Prepared, 'config' | 'repository'>;

/** Writes the files, and commits them where that is asked for. What stands in the way of one does not stop the others. */
export async function makeEdits(
  drafts: readonly Draft[],
  options: EditOptions,
  where: Where,
  messageFor: (edited: readonly EditedPrompt[]) => string,
): Promise<Edited> {
  if (options.dryRun)
    return { edited: drafts.map((draft) => editedOf(draft, statusOf(draft, draft.status))), problems: [] };
  const commits = options.commit || options.branch !== undefined;
  const ready = commits ? await refuseUncommitted(drafts, where.repository) : drafts;
  if (!commits || !ready.some(({ status }) => status === 'pending')) {
    return { edited: await writeAll(ready, where), problems: [] };
  }
  const committer = openCommitter(where.config.folder);
  const obstacle = options.branch === undefined ? null : await committer.switchTo(options.branch);
  if (obstacle !== null) return { edited: ready.map((draft) => editedOf(draft, draft.status)), problems: [obstacle] };
  const edited = await writeAll(ready, where);
  const written = edited.filter(({ status }) => status === 'applied');
  if (written.length === 0) return { edited, problems: [] };
  const paths = written.map(({ path }) => where.repository?.fromRoot(path) ?? path);
  try {
    return { edited, committed: await committer.commit(paths, messageFor(written)), problems: [] };
  } catch (error) {
    return { edited, problems: [makeProblem('git/not-committed', { reason: problemOf(error).message })] };
  }
}

/** A commit of an edit must not carry along what somebody else has left in the file. */
async function refuseUncommitted(drafts: readonly Draft[], repository: Repository | null): Promise<readonly Draft[]> {
  const paths = drafts.filter(({ status }) => status === 'pending').map(({ file }) => file.path);
  const uncommitted = paths.length === 0 ? new Set() : await repository?.uncommitted(paths);
  return drafts.map((draft): Draft => {
    const { path } = draft.file;
    if (draft.status !== 'pending' || uncommitted?.has(path) !== true) return draft;
    return {
      ...draft,
      status: 'blocked',
      problems: [...draft.problems, makeProblem('guard/uncommitted-edit', {}, { path })],
    };
  });
}

async function writeAll(drafts: readonly Draft[], where: Where): Promise<readonly EditedPrompt[]> {
  return Promise.all(drafts.map((draft) => write(draft, where)));
}

async function write(draft: Draft, { config }: Where): Promise<EditedPrompt> {
  if (draft.status !== 'pending' || draft.change === null) return editedOf(draft, draft.status);
  const { path } = draft.file;
  const full = join(config.folder, path);
  try {
    if (!(await readFile(full)).equals(draft.change.before)) {
      return editedOf(draft, 'failed', makeProblem('edit/changed-meanwhile', {}, { path }));
    }
    await replaceFile(full, draft.change.after);
    return editedOf(draft, statusOf(draft, 'applied'));
  } catch (error) {
    const reason = systemCodeOf(error) === 'unknown reason' ? messageOf(error) : systemCodeOf(error);
    return editedOf(draft, 'failed', makeProblem('edit/unwritable', { reason }, { path }));
  }
}

/** A file with conflicts is written, and not done: somebody has to decide. */
function statusOf({ status, change }: Draft, done: EditedPrompt['status']): EditedPrompt['status'] {
  return status === 'pending' && change?.file === null ? 'failed' : done;
}

function editedOf({ file, edits, problems }: Draft, status: EditedPrompt['status'], problem?: Problem): EditedPrompt {
  const { path, id, key, service } = file;
  return {
    path,
    id,
    key,
    ...(service === undefined ? {} : { service }),
    status,
    edits,
    problems: problem === undefined ? problems : [...problems, problem],
  };
}
