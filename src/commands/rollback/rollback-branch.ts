import { makeGitSettings } from '../../workspace/config.ts';
import type { EditCommit, FileEdit } from '../../domain/edits.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import { openRemote, type RemoteAddress } from '../../git/open-remote.ts';
import type { KnownTip, Repository } from '../../git/open-repository.ts';
import { quoteShellWord } from '../../problems/catalog-entry.ts';
import { shortenCommitId, showHidden } from '../../text.ts';
import type { RollbackTarget } from './commit-rollback.ts';

/**
 * Returns the default name of the branch for a rollback, such as `rollback-production-support-greeting`. Uses the first
 * key that the user typed. If that is a path or a pattern, uses the key of the first selected prompt.
 */
export function makeRollbackBranchName(
  environment: string,
  selectors: readonly string[],
  files: readonly PromptFile[],
): string {
  const keys = files.map(({ key }) => key);
  const key = keys.find((one) => one === selectors[0]) ?? keys[0] ?? '';
  return `rollback-${environment}-${key}`.replaceAll(/[^A-Za-z0-9-]/g, '-');
}

/** Without a commit, the only step is a warning that another clone may still pin the previous version. */
export async function readRollbackSteps(
  committed: EditCommit | null,
  edits: readonly FileEdit[],
  { config, repository }: Pick<RollbackTarget, 'config' | 'repository'>,
): Promise<readonly string[]> {
  const tip = await repository.findKnownTip();
  const liveBranch = config.branch ?? tip?.branch ?? null;
  const live = showHidden(liveBranch ?? 'the live branch');
  if (committed === null) return [describeUnneededCommit(live)];
  const remote = await openRemote(makeGitSettings(config))
    .findRemote(config.branch)
    .catch(() => null);
  const branch = committed.branch ?? '';
  const replacesPin = edits.some((edit) => edit.kind === 'set-pin' && edit.before !== null);
  return [
    `Committed ${shortenCommitId(committed.commit)} on ${showHidden(branch)}. To go back, run: git checkout -`,
    ...(await describeUnmergedCommits(repository, tip)),
    ...(remote === null ? [] : listPushSteps(branch, remote, liveBranch)),
    ...(replacesPin ? [`If ${live} is synced before this branch is merged, the sync undoes the rollback.`] : []),
  ];
}

/** Warns that a merge of the new branch would also add other unmerged commits to the live branch. */
async function describeUnmergedCommits(
  { head, isSameOrAncestor }: Repository,
  tip: KnownTip | null,
): Promise<readonly string[]> {
  if (head === null || tip === null || (await isSameOrAncestor(head, tip.commit))) return [];
  return [`The branch also contains your earlier commits that are not on ${showHidden(tip.branch)} yet.`];
}

function describeUnneededCommit(live: string): string {
  return `promptsync made no commit, because the files in this clone already have these pins. If the pins on ${live} differ, the next sync of ${live} will undo this rollback. To prevent that, merge the commit that has these pins. If that commit is already merged but the pins still differ, switch to ${live}, run git pull, and run this command again with --to N, where N is the version that is live now.`;
}

function listPushSteps(branch: string, remote: RemoteAddress, liveBranch: string | null): readonly string[] {
  return [
    `Next: git push -u ${quoteShellWord(remote.name)} ${quoteShellWord(branch)}`,
    `Next: ${describeRequestStep(remote, liveBranch)}`,
  ];
}

/** Matches the address of a remote on GitHub or GitLab, including self-hosted instances. */
const FORGE_ADDRESS = /^(?:[a-z+]+:\/\/)?(?:[^/@]*@)?[\w.-]*?(github|gitlab)[\w.-]*[:/]/i;

/** Returns the command that opens a pull request. If the forge is unknown, returns an instruction. */
function describeRequestStep({ url }: RemoteAddress, liveBranch: string | null): string {
  const target = liveBranch === null ? null : quoteShellWord(liveBranch);
  switch (FORGE_ADDRESS.exec(url)?.[1]?.toLowerCase()) {
    case 'github':
      return `gh pr create --fill${target === null ? '' : ` --base ${target}`}`;
    case 'gitlab':
      return `glab mr create --fill${target === null ? '' : ` --target-branch ${target}`}`;
    default:
      return 'open a pull request from this branch.';
  }
}
