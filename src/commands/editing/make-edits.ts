import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Committed, EditedPrompt } from '../../domain/edits.ts';
import { replaceFile } from '../../files/read-write.ts';
import { openCommitter } from '../../git/commit.ts';
import type { Repository } from '../../git/repository.ts';
import { makeProblem, messageOf, problemOf, systemCodeOf, type Problem } from '../../problem.ts';
import type { Draft } from './draft-edits.ts';
import type { Prepared } from '../preparing/prepare-plan.ts';
import { gitStartOf } from '../workspace.ts';

export type EditOptions = {
  readonly dryRun: boolean;
  /** Commit what was edited. */
  readonly commit: boolean;
  /** Commit it on a new branch of this name. */
  readonly branch?: string | undefined;
};

export type Edited = {
  readonly edited: readonly EditedPrompt[];
  readonly committed?: Committed;
  readonly problems: readonly Problem[];
};

/** What forbids to commit, before anything is edited. */
export async function commitProblems(
  { commit, branch }: EditOptions,
  { config, repository }: Pick<Prepared, 'config' | 'repository'>,
): Promise<readonly Problem[]> {
  if (!commit && branch === undefined) return [];
  if (repository === null) return [makeProblem('git/commit-needs-git')];
  const problem = branch === undefined ? null : await openCommitter(gitStartOf(config)).branchProblem(branch);
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
  if (options.dryRun) {
    return { edited: drafts.map((draft) => editedOf(draft, statusOf(draft, draft.status))), problems: [] };
  }
  const commits = options.commit || options.branch !== undefined;
  const ready = commits ? await refuseUncommitted(drafts, where.repository) : drafts;
  if (!commits || !ready.some(({ status }) => status === 'pending')) {
    return { edited: await writeAll(ready, where), problems: [] };
  }
  const committer = openCommitter(gitStartOf(where.config));
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

/** A commit of an edit must not carry along what somebody has left in the file, nor take the place of what is staged. */
async function refuseUncommitted(drafts: readonly Draft[], repository: Repository | null): Promise<readonly Draft[]> {
  const paths = drafts.filter(({ status }) => status === 'pending').map(({ file }) => file.path);
  const uncommitted = await findUncommitted(paths, repository);
  return drafts.map((draft): Draft => {
    const { path } = draft.file;
    if (draft.status !== 'pending' || !uncommitted.has(path)) return draft;
    return {
      ...draft,
      status: 'blocked',
      problems: [...draft.problems, makeProblem('guard/uncommitted-edit', {}, { path })],
    };
  });
}

async function findUncommitted(paths: readonly string[], repository: Repository | null): Promise<ReadonlySet<string>> {
  if (repository === null || paths.length === 0) return new Set();
  const [edited, staged] = await Promise.all([repository.uncommitted(paths), repository.staged(paths)]);
  return edited.union(staged);
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
  const { path, id, key } = file;
  return { path, id, key, status, edits, problems: problem === undefined ? problems : [...problems, problem] };
}
