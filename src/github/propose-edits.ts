import { checkMergedAndUpToDate } from '../commands/check-merged-and-up-to-date.ts';
import { promotePrompts } from '../commands/promote.ts';
import { pullEdits } from '../commands/pull.ts';
import { type CommandResult, makeCommandResult } from '../commands/result.ts';
import { rollBackPrompts } from '../commands/rollback.ts';
import { makeMarker } from '../commands/upsert-sticky-text.ts';
import type { PlannedWorkspace } from '../commands/run-with-plan.ts';
import type { EditCommit } from '../domain/edits.ts';
import { computeDigest, shortDigest } from '../domain/digest.ts';
import { openProposal, type ProposalBranch } from '../git/open-proposal.ts';
import { makeProblem, getErrorMessage, ProblemError, toProblem } from '../problem.ts';
import { openFullRepository } from './checkout.ts';
import { ACTIONS_LOGIN, readOwnLogin, type GitHub } from './client.ts';
import { makeAccessOptions, type ActionContext } from './context.ts';
import type { ProposalMode, PullRequest } from './event.ts';
import { makeNewestCommitReader } from './review-guard.ts';
import { renderBody, makeConclusion, requireGitHub, type ActionRun } from './publish-run.ts';
import type { Inputs, SafeActionHost } from './runner.ts';
import { makeCommentMarker } from './upsert-posts.ts';

type Reviewer = (pull: PullRequest) => Promise<ActionRun>;
type ProposalOutcome = Pick<ActionRun, 'result' | 'review'>;

/**
 * Runs `pull`, `promote` or `rollback`, and keeps what it commits in one pull request. `review` reviews one that the
 * workflow's own token opens, whose workflows wait for an approval. The work tree is left as the merge would make it.
 */
export async function proposeEdits(
  mode: ProposalMode,
  context: ActionContext,
  host: SafeActionHost,
  review: Reviewer,
): Promise<ProposalOutcome> {
  const { git, inputs, branch } = context;
  const github = requireGitHub(context.github);
  const { head } = await openFullRepository(context);
  const clone = openProposal(git, chooseProposalBranch(mode, inputs));
  await clone.prepareClone();
  const proposal = { mode, context, host, review, github, clone, into: branch ?? '', base: head ?? '' };
  return publishProposal(await runEditCommand(mode, context), proposal);
}

/**
 * The end of the branch's name: one for each environment that is pinned, and for each configuration. What git does not
 * allow there, or what is long, is replaced; a digest tells apart what became the same.
 */
export function chooseProposalBranch(mode: ProposalMode, inputs: Inputs): string {
  const target = { promote: inputs.to, rollback: inputs.environment, pull: '' }[mode];
  const safe = target.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60);
  const name = safe === '' ? mode : `${mode}-${safe}`;
  const marker = makeCommentMarker(inputs);
  if (safe === target && marker === makeMarker('.')) return name;
  return `${name}.${shortDigest(computeDigest(marker + target))}`;
}

/** Edits and commits as the command does. A commit that is not the newest would take back what newer ones have done. */
async function runEditCommand(mode: ProposalMode, context: ActionContext): Promise<CommandResult> {
  const { inputs, world } = context;
  const { prompts, from, to, environment } = inputs;
  const chosen = { only: mode === 'pull' ? [] : prompts.split(/\s+/).filter((one) => one !== '') };
  const findObstacles = (walked: PlannedWorkspace) =>
    checkMergedAndUpToDate(walked, { ...chosen, readNewestFromForge: makeNewestCommitReader(context) });
  const options = { ...chosen, ...makeAccessOptions(context), dryRun: false, commit: true, findObstacles };
  if (mode === 'pull') return pullEdits({ ...options, side: null, unattended: true }, world);
  if (mode === 'promote') return promotePrompts({ ...options, all: false, from, to }, world);
  return rollBackPrompts({ ...options, environment }, world);
}

type Proposal = {
  readonly mode: ProposalMode;
  readonly context: ActionContext;
  readonly host: SafeActionHost;
  readonly review: Reviewer;
  readonly github: GitHub;
  readonly clone: ProposalBranch;
  /** The branch that goes live. */
  readonly into: string;
  /** The commit that is edited. */
  readonly base: string;
};

/** What stands in the way is a problem of the run, and nothing is committed: the clone goes, and its commit with it. */
async function publishProposal(result: CommandResult, proposal: Proposal): Promise<ProposalOutcome> {
  const { mode, clone, base, into, github, context, review } = proposal;
  const { committed, ...run } = result.run;
  const withCommit = (made: EditCommit) => ({ ...result, run: { ...run, committed: made } });
  try {
    if (committed === undefined || context.world.stopSignal.aborted) {
      if (mode === 'pull' && result.exitCode === 0) await closePull(proposal);
      return { result };
    }
    const head = await pushProposal(committed.commit, proposal);
    const made = { commit: head, branch: clone.branch };
    const number = await upsertPull(withCommit(made), head, proposal);
    const isOwn = (await readOwnLogin(github)) === ACTIONS_LOGIN;
    const reviewed = isOwn ? await review({ number, head, base, into, isForeign: false }) : null;
    return { result: withCommit({ ...made, pull_request: `#${number}` }), review: reviewed };
  } catch (error) {
    const { code } = toProblem(error);
    const reason = { branch: clone.branch, reason: getErrorMessage(error) };
    const problem = code === 'action/foreign-commit' ? toProblem(error) : makeProblem('action/not-proposed', reason);
    return { result: makeCommandResult({ ...run, problems: [...run.problems, problem] }, context.world) };
  }
}

/**
 * Brings a commit to the branch, unless what is there changes the same; resolves to the commit that is there then. What
 * an open pull request promotes or rolls back already stays in it.
 */
async function pushProposal(made: string, proposal: Proposal): Promise<string> {
  const { mode, clone, base } = proposal;
  const tip = await clone.fetch();
  const isThere = async (commit: string) =>
    (await clone.readChanges(base, tip ?? base)) === (await clone.readChanges(base, commit));
  if (tip === null) {
    await clone.push(made, tip);
    return made;
  }
  if (await isThere(made)) return tip;
  const commit = await clone.findForeignCommit(base, tip);
  if (commit !== null) throw new ProblemError(makeProblem('action/foreign-commit', { branch: clone.branch, commit }));
  const adds = mode !== 'pull' && (await findOpenPull(proposal)) !== undefined;
  const head = adds ? await clone.merge(tip) : made;
  if (await isThere(head)) return tip;
  await clone.push(head, tip);
  return head;
}

/** The open pull request from the branch into the one that goes live. */
async function findOpenPull({ github: { octokit, names }, clone: { branch }, into }: Proposal) {
  const which = { head: `${names.owner}:${branch}`, base: into, state: 'open' } as const;
  return (await octokit.request('GET /repos/{owner}/{repo}/pulls', { ...names, ...which })).data[0];
}

/** Opens the pull request, or updates one that tells of another commit; resolves to its number. */
async function upsertPull(result: CommandResult, head: string, proposal: Proposal): Promise<number> {
  const { mode, context, host, github, clone, into } = proposal;
  const { octokit, names } = github;
  const marker = `<!-- promptsync proposes ${head} -->`;
  const body = renderBody(marker, makeConclusion({ mode, context, result }, host));
  // GitHub takes so many characters.
  const text = { ...names, title: host.secrets.hide(await clone.readSubject()).slice(0, 256), body };
  const open = async () => {
    const request = { ...text, head: clone.branch, base: into, request: { retries: 0 } };
    return (await octokit.request('POST /repos/{owner}/{repo}/pulls', request)).data;
  };
  // It may be made although the answer was lost.
  const orMade = async (error: unknown) => (await findOpenPull(proposal)) ?? Promise.reject(error);
  const found = (await findOpenPull(proposal)) ?? (await open().catch(orMade));
  if (!found.body?.startsWith(marker)) {
    await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...text, pull_number: found.number });
  }
  return found.number;
}

/** Closes the pull request where nothing is left to propose, unless somebody else has committed to its branch. */
async function closePull(proposal: Proposal): Promise<void> {
  const { octokit, names } = proposal.github;
  const open = await findOpenPull(proposal);
  if (open === undefined) return;
  const tip = await proposal.clone.fetch();
  if (tip !== null && (await proposal.clone.findForeignCommit(proposal.base, tip)) !== null) return;
  const body = `The service has nothing any more that the files lack: there is nothing to merge.\n\n${open.body}`;
  const closed = { ...names, pull_number: open.number, state: 'closed', body } as const;
  await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', closed);
}
