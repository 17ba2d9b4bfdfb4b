import { checkMergedAndUpToDate } from '../../run/check-merged-and-up-to-date.ts';
import { promotePrompts } from '../../commands/promote.ts';
import { pullEdits } from '../../commands/pull/pull.ts';
import type { CommandResult } from '../../run/command-result.ts';
import { makeCommandResult } from '../../run/exit-code.ts';
import { rollBackPrompts } from '../../commands/rollback/rollback.ts';
import { makeMarker } from '../update-sticky-text.ts';
import type { PlannedWorkspace } from '../../run/run-with-plan.ts';
import type { EditCommit } from '../../domain/edits.ts';
import { computeShortDigest } from '../../domain/digest.ts';
import { openProposal, type ProposalBranch } from '../../git/open-proposal.ts';
import { makeProblem, getErrorMessage, ProblemError, toProblem } from '../../problem.ts';
import { openFullRepository } from './checkout.ts';
import { ACTIONS_LOGIN, readOwnLogin, type GitHub } from './github-client.ts';
import { makeAccessOptions, type ActionContext } from './action-context.ts';
import type { ProposalMode, PullRequest } from './action-event.ts';
import { makeNewestCommitReader } from './review-guard.ts';
import { renderBody, makePublication, requireGitHub, type ActionRun } from './publish-run.ts';
import type { Inputs, SafeActionProcess } from './action-runner.ts';
import { makeCommentMarker } from './update-comments-and-issues.ts';

/** Reviews a pull request in the same way as the review workflow. */
type ReviewPullRequest = (pull: PullRequest) => Promise<ActionRun>;
type ProposalOutcome = Pick<ActionRun, 'result' | 'review'>;

/**
 * Proposes the commit of the command in a pull request, which later runs update. At the end, the work tree has the
 * state that a merge of the pull request would produce.
 * @param review called only with the workflow's default token, because GitHub does not run workflows for such a pull
 * request until somebody approves them
 */
export async function proposeEdits(
  mode: ProposalMode,
  context: ActionContext,
  host: SafeActionProcess,
  review: ReviewPullRequest,
): Promise<ProposalOutcome> {
  const { git, inputs, branch } = context;
  const github = requireGitHub(context.github);
  const { head } = await openFullRepository(context);
  const clone = openProposal(git, makeProposalBranchName(mode, inputs));
  await clone.prepareClone();
  const proposal = { mode, context, host, review, github, clone, into: branch ?? '', base: head ?? '' };
  return publishProposal(await runEditCommand(mode, context), proposal);
}

/**
 * Returns the branch name without the prefix `promptsync/`, such as `promote-production`. Each edited environment and
 * each configuration has its own branch. If the name of the environment had to be changed or shortened, or if the
 * configuration is not the default one, the branch name ends with a digest that keeps it unique.
 */
export function makeProposalBranchName(mode: ProposalMode, inputs: Inputs): string {
  const environment = getPinnedEnvironment(mode, inputs);
  const safeEnvironment = environment.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60);
  const name = safeEnvironment === '' ? mode : `${mode}-${safeEnvironment}`;
  const marker = makeCommentMarker(inputs);
  if (safeEnvironment === environment && marker === makeMarker('.')) return name;
  return `${name}.${computeShortDigest(marker + environment)}`;
}

/** Returns an empty string for `pull`, which is not limited to one environment. */
function getPinnedEnvironment(mode: ProposalMode, { to, environment }: Inputs): string {
  switch (mode) {
    case 'promote':
      return to;
    case 'rollback':
      return environment;
    case 'pull':
      return '';
  }
}

/** The command stops if HEAD is not merged or is out of date, because its edits would undo newer changes. */
async function runEditCommand(mode: ProposalMode, context: ActionContext): Promise<CommandResult> {
  const { inputs, system } = context;
  const { prompts, from, to, environment } = inputs;
  const selection = { only: mode === 'pull' ? [] : prompts.split(/\s+/).filter((name) => name !== '') };
  const findObstacles = (workspace: PlannedWorkspace) =>
    checkMergedAndUpToDate(workspace, { ...selection, readNewestFromForge: makeNewestCommitReader(context) });
  const options = { ...selection, ...makeAccessOptions(context), dryRun: false, commit: true, findObstacles };
  if (mode === 'pull') return pullEdits({ ...options, side: null, unattended: true }, system);
  if (mode === 'promote') return promotePrompts({ ...options, all: false, allowOlder: false, from, to }, system);
  return rollBackPrompts({ ...options, environment }, system);
}

type Proposal = {
  readonly mode: ProposalMode;
  readonly context: ActionContext;
  readonly host: SafeActionProcess;
  readonly review: ReviewPullRequest;
  readonly github: GitHub;
  readonly clone: ProposalBranch;
  /** The name of the live branch, which is the target branch of the pull request. */
  readonly into: string;
  /** The id of the commit whose files the command edits. */
  readonly base: string;
};

/** If this fails, the result contains a problem instead of the commit, because the commit is lost with the clone. */
async function publishProposal(result: CommandResult, proposal: Proposal): Promise<ProposalOutcome> {
  const { mode, clone, base, into, github, context, review } = proposal;
  const { committed, ...run } = result.run;
  const withCommit = (commit: EditCommit) => ({ ...result, run: { ...run, committed: commit } });
  try {
    if (committed === undefined || context.system.stopSignal.aborted) {
      if (mode === 'pull' && result.exitCode === 0) await closePull(proposal);
      return { result };
    }
    const head = await pushProposal(committed.commit, proposal);
    const pushedCommit = { commit: head, branch: clone.branch };
    const number = await upsertPull(withCommit(pushedCommit), head, proposal);
    const usesWorkflowToken = (await readOwnLogin(github)) === ACTIONS_LOGIN;
    const reviewRun = usesWorkflowToken
      ? await review({ number, head, base, into, isForeign: false, state: 'open' })
      : null;
    return { result: withCommit({ ...pushedCommit, pull_request: `#${number}` }), review: reviewRun };
  } catch (error) {
    const cause = toProblem(error);
    const evidence = { branch: clone.branch, reason: getErrorMessage(error) };
    const problem = cause.code === 'action/foreign-commit' ? cause : makeProblem('action/not-proposed', evidence);
    return { result: makeCommandResult({ ...run, problems: [...run.problems, problem] }, context.system) };
  }
}

/**
 * Pushes a commit to the proposal branch, unless the branch already contains the same changes. If a pull request for a
 * promotion or rollback is already open, keeps its earlier changes. Returns the commit id of the branch tip. Throws a
 * `ProblemError` if somebody else committed to the branch.
 */
async function pushProposal(editCommit: string, proposal: Proposal): Promise<string> {
  const { mode, clone, base } = proposal;
  const tip = await clone.fetch();
  if (tip === null) {
    await clone.push(editCommit, tip);
    return editCommit;
  }
  const tipChanges = await clone.readChanges(base, tip);
  const hasChangesOf = async (commit: string) => tipChanges === (await clone.readChanges(base, commit));
  if (await hasChangesOf(editCommit)) return tip;
  const commit = await clone.findForeignCommit(base, tip);
  if (commit !== null) throw new ProblemError(makeProblem('action/foreign-commit', { branch: clone.branch, commit }));
  const keepsEarlierChanges = mode !== 'pull' && (await findOpenPull(proposal)) !== undefined;
  const head = keepsEarlierChanges ? await clone.merge(tip) : editCommit;
  if (await hasChangesOf(head)) return tip;
  await clone.push(head, tip);
  return head;
}

/** Finds the open pull request from the proposal branch to the live branch. */
async function findOpenPull({ github: { octokit, names }, clone: { branch }, into }: Proposal) {
  const filter = { head: `${names.owner}:${branch}`, base: into, state: 'open' } as const;
  const pulls = (await octokit.request('GET /repos/{owner}/{repo}/pulls', { ...names, ...filter })).data;
  return pulls[0];
}

/** Opens the pull request, or updates it if its body describes a different commit. Returns its number. */
async function upsertPull(result: CommandResult, head: string, proposal: Proposal): Promise<number> {
  const { mode, context, host, github, clone, into } = proposal;
  const { octokit, names } = github;
  const marker = `<!-- promptsync proposes ${head} -->`;
  const body = renderBody(marker, makePublication({ mode, context, result }, host));
  // GitHub accepts at most 256 characters in a title.
  const text = { ...names, title: host.secrets.hide(await clone.readSubject()).slice(0, 256), body };
  const openPull = async () => {
    const request = { ...text, head: clone.branch, base: into, request: { retries: 0 } };
    return (await octokit.request('POST /repos/{owner}/{repo}/pulls', request)).data;
  };
  // The request may have succeeded even though its response was lost. Look for the new pull request before failing.
  const findAfterFailure = async (error: unknown) => (await findOpenPull(proposal)) ?? Promise.reject(error);
  const pull = (await findOpenPull(proposal)) ?? (await openPull().catch(findAfterFailure));
  if (!pull.body?.startsWith(marker)) {
    await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...text, pull_number: pull.number });
  }
  return pull.number;
}

/** Leaves the pull request open if somebody else committed to its branch. */
async function closePull(proposal: Proposal): Promise<void> {
  const { octokit, names } = proposal.github;
  const pull = await findOpenPull(proposal);
  if (pull === undefined) return;
  const tip = await proposal.clone.fetch();
  if (tip !== null && (await proposal.clone.findForeignCommit(proposal.base, tip)) !== null) return;
  const body = `No prompt file needs an edit anymore, so there is nothing to merge.\n\n${pull.body}`;
  const closed = { ...names, pull_number: pull.number, state: 'closed', body } as const;
  await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', closed);
}
