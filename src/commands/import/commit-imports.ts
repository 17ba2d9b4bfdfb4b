import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../workspace/config.ts';
import { openWorkspaceRepository } from '../../desired-state/open-workspace.ts';
import type { EditCommit, ImportCommit } from '../../domain/edits.ts';
import type { System } from '../../domain/system.ts';
import { replaceFile } from '../../workspace/read-write-files.ts';
import type { Committer } from '../../git/open-committer.ts';
import type { Repository } from '../../git/open-repository.ts';
import { makeProblem, ProblemError, type Problem, toProblem } from '../../problem.ts';
import { normalizeLineEndings } from '../../text.ts';
import type { CommittedFile, PlannedCommit } from './plan-import-commits.ts';

export type CommittedImports = {
  readonly committed?: EditCommit;
  readonly commits?: readonly ImportCommit[];
  readonly problems: readonly Problem[];
};

/**
 * Makes all commits of an import, or none of them. The user's hooks run for each commit, so promptsync reads each
 * commit back. If a commit fails, moves the branch back and leaves the new files uncommitted. The oldest commit comes
 * first, and the work tree already contains the files of the last one.
 */
export async function commitImports(
  commits: readonly PlannedCommit[],
  committer: Committer,
  config: Config,
  { stopSignal }: Pick<System, 'stopSignal'>,
): Promise<CommittedImports> {
  const newFiles = commits.at(-1)?.files ?? [];
  const repository = await openWorkspaceRepository(config);
  if (repository === null || newFiles.length === 0) return { problems: [] };
  const toRootPaths = (files: readonly CommittedFile[]) => files.map(({ path }) => repository.toRootPath(path));
  const workTree = openWorkTree(config.folder, newFiles);
  const start = await committer.readHead();
  const made: (EditCommit & ImportCommit)[] = [];
  try {
    for (const { subject, files } of commits) {
      if (stopSignal.aborted) throw new ProblemError(makeProblem('apply/interrupted'));
      await workTree.write(files);
      const commit = await committer.commit(toRootPaths(files), subject);
      made.push({ ...commit, subject, paths: files.map(({ path }) => path) });
      await checkCommit(commit.commit, files, repository);
    }
  } catch (error) {
    const commitIds = made.map(({ commit }) => commit);
    const failures = [
      describeError(error),
      ...(await describeFailure(workTree.restore())),
      ...(await describeFailure(committer.moveBack(commitIds, start), 'The branch still has the earlier commits: ')),
      // A failed commit leaves its new paths in the index.
      ...(await describeFailure(committer.unstage(toRootPaths(newFiles)))),
    ];
    // Omit repeated reasons. For example, several steps can fail because of the same lock file.
    const reason = [...new Set(failures)].map((sentence) => sentence.replace(/(?<![.?])$/, '.')).join(' ');
    return { problems: [makeProblem('git/not-committed', { reason, files: 'new' })] };
  }
  return { ...describeCommits(made), problems: [] };
}

/** Waits for a step. If the step fails, returns the reason with `words` before it. Otherwise, returns an empty list. */
async function describeFailure(step: Promise<void>, words = ''): Promise<readonly string[]> {
  return step.then(
    () => [],
    (error: unknown) => [`${words}${describeError(error)}`],
  );
}

function describeError(error: unknown): string {
  const { path, message } = toProblem(error);
  return path === undefined ? message : `${path}: ${message}`;
}

function describeCommits(made: readonly (EditCommit & ImportCommit)[]): Omit<CommittedImports, 'problems'> {
  const last = made.at(-1);
  if (last === undefined) return {};
  return {
    committed: { commit: last.commit, branch: last.branch },
    commits: made.map(({ commit, subject, paths }) => ({ commit, subject, paths })),
  };
}

type WorkTree = {
  /** Throws a `ProblemError` if somebody else has changed a file since promptsync wrote it. */
  readonly write: (files: readonly CommittedFile[]) => Promise<void>;
  /** Writes the new files again, even if a hook has changed them. Skips a file that `write` found to be edited. */
  readonly restore: () => Promise<void>;
};

/** @param newFiles the files as they are in the work tree now */
function openWorkTree(folder: string, newFiles: readonly CommittedFile[]): WorkTree {
  const newSources = new Map(newFiles.map(({ path, source }) => [path, source]));
  const sources = new Map(newSources);
  const editedPaths = new Set<string>();
  return {
    write: async (files) => {
      for (const { path, source } of files) {
        const fullPath = join(folder, path);
        const current = await readFile(fullPath, 'utf8').catch(() => null);
        if (current !== sources.get(path)) {
          // Ignore edits to an earlier text, because the user does not import that text.
          if (current !== null && sources.get(path) === newSources.get(path)) editedPaths.add(path);
          throw new ProblemError(makeProblem('edit/changed-meanwhile', {}, { path }));
        }
        if (source === sources.get(path)) continue;
        sources.set(path, source);
        await replaceFile(fullPath, source);
      }
    },
    restore: async () => {
      for (const { path, source } of newFiles) {
        if (!editedPaths.has(path)) await replaceFile(join(folder, path), source);
      }
    },
  };
}

/** Throws a `ProblemError` if the files in a commit differ, for example because a hook changed them. */
async function checkCommit(commit: string, files: readonly CommittedFile[], repository: Repository): Promise<void> {
  await Promise.all(
    files.map(async ({ path, source }) => {
      const rootPath = repository.toRootPath(path);
      const blob = await repository.findBlobId(commit, rootPath);
      const bytes = blob === null ? null : await repository.readCheckedOutFile(blob, rootPath);
      // git may write CRLF line endings, which promptsync treats as LF.
      if (normalizeLineEndings(bytes?.toString() ?? '') === normalizeLineEndings(source)) return;
      const reason = `the text of ${path} in the commit differs from what promptsync wrote. Check whether a hook or a git attribute changes the file.`;
      throw new ProblemError(makeProblem('git/failed', { reason }));
    }),
  );
}
