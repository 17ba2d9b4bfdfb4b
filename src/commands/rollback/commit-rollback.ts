import { join } from 'node:path';
import { type Config, makeGitSettings } from '../../workspace/config.ts';
import { getProviderWords } from '../../workspace/service-settings.ts';
import type { EditCommit, EditedPrompt } from '../../domain/edits.ts';
import { makeFailure, makeSuccess, type Result } from '../../domain/result.ts';
import { replaceUnchangedFile } from '../../workspace/read-write-files.ts';
import { openCommitter } from '../../git/open-committer.ts';
import type { Repository } from '../../git/open-repository.ts';
import { makeProblem, type Problem, toProblem } from '../../problem.ts';
import { type EditCommand, type PromptDraft, renderCommitMessage, writeDrafts } from '../../editing/edit-files.ts';

export type CommittedRollback = {
  /** Null if promptsync edited no file. */
  readonly commit: EditCommit | null;
  /** The problems of the prompts whose files promptsync could not edit, by prompt id. */
  readonly failures: ReadonlyMap<string, readonly Problem[]>;
};

export type RollbackTarget = {
  readonly branch: string;
  readonly config: Config;
  readonly repository: Repository;
};

/**
 * Creates the branch at HEAD and commits the edits there. If one file cannot be written, still commits the others. If
 * git refuses the commit, restores the files and the branch, and fails. Without drafts, creates no branch.
 */
export async function commitRollback(
  drafts: readonly PromptDraft[],
  { renderSubject }: Pick<EditCommand, 'renderSubject'>,
  { branch, config, repository }: RollbackTarget,
): Promise<Result<CommittedRollback>> {
  if (drafts.length === 0) return makeSuccess({ commit: null, failures: new Map() });
  const committer = openCommitter(makeGitSettings(config));
  const obstacle = await committer.switchTo(branch);
  if (obstacle !== null) return makeFailure(obstacle);
  const edited = await writeDrafts(drafts, config.folder);
  const written = edited.filter(({ status }) => status === 'applied');
  const failures = mapFailures(edited);
  if (written.length === 0) {
    await committer.undoSwitch(branch);
    return makeSuccess({ commit: null, failures });
  }
  const { service } = getProviderWords(config);
  const message = renderCommitMessage(written, (names) => renderSubject(names, service));
  try {
    const paths = written.map(({ path }) => repository.toRootPath(path));
    return makeSuccess({ commit: await committer.commit(paths, message), failures });
  } catch (error) {
    const kept = await putFilesBack(
      drafts.filter(({ file }) => !failures.has(file.id)),
      config,
    );
    await committer.undoSwitch(branch);
    return makeFailure(makeProblem('rollback/not-committed', { reason: toProblem(error).message, kept }));
  }
}

function mapFailures(edited: readonly EditedPrompt[]): CommittedRollback['failures'] {
  const failed = edited.filter(({ status }) => status !== 'applied');
  return new Map(failed.map(({ id, problems }) => [id, problems]));
}

/**
 * Restores the files as they were before the edits. Returns those that it leaves alone, because they no longer contain
 * the edits, for example because a hook has reformatted them.
 */
async function putFilesBack(drafts: readonly PromptDraft[], { folder }: Config): Promise<readonly string[]> {
  const results = await Promise.all(
    drafts.map(async ({ file: { path }, change }) => {
      if (change === null) return [path];
      const isBack = await replaceUnchangedFile(join(folder, path), change.after, change.before).catch(() => false);
      return isBack ? [] : [path];
    }),
  );
  return results.flat();
}
