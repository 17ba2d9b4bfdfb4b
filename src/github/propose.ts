import { mergedAndNewest } from '../commands/merged-and-newest.ts';
import { promote } from '../commands/promote.ts';
import { pull } from '../commands/pull.ts';
import { type CommandResult, resultOf } from '../commands/result.ts';
import { rollback } from '../commands/rollback.ts';
import { markerOf } from '../commands/sticky.ts';
import type { Walked } from '../commands/walk.ts';
import type { Committed } from '../domain/edits.ts';
import { digestOf, shortDigest } from '../domain/digest.ts';
import { openProposal } from '../git/proposal.ts';
import { makeProblem, messageOf, ProblemError, problemOf } from '../problem.ts';
import { openWhole } from './checkout.ts';
import { ACTIONS, whoAmI, type GitHub } from './client.ts';
import { accessOf, type Context } from './context.ts';
import type { Proposing, PullRequest } from './event.ts';
import { askGitHub } from './gates.ts';
import { bodyOf, conclude, needed, type Done } from './publish.ts';
import type { Inputs, SafeActionHost } from './runner.ts';
import { markerFor } from './sticky.ts';

type Reviewer = (pull: PullRequest) => Promise<Done>;
type Proposed = Pick<Done, 'result' | 'review'>;

/**
 * Runs `pull`, `promote` or `rollback`, and keeps what it commits in one pull request. `review` reviews one that the
 * workflow's own token opens, whose workflows wait for an approval. The work tree is left as the merge would make it.
 */
export async function propose(mode: Proposing, context: Context, host: SafeActionHost, review: Reviewer) {
  const { git, inputs, branch } = context;
  const github = needed(context.github);
  const { head } = await openWhole(context);
  const clone = openProposal(git, branchOf(mode, inputs));
  await clone.begin();
  const proposal = { mode, context, host, review, github, clone, into: branch ?? '', base: head ?? '' };
  return proposeEdits(await edit(mode, context), proposal);
}

/**
 * The end of the branch's name: one for each environment that is pinned, and for each configuration. What git does not
 * allow there, or what is long, is replaced; a digest tells apart what became the same.
 */
export function branchOf(mode: Proposing, inputs: Inputs): string {
  const target = { promote: inputs.to, rollback: inputs.environment, pull: '' }[mode];
  const safe = target.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60);
  const name = safe === '' ? mode : `${mode}-${safe}`;
  const marker = markerFor(inputs);
  if (safe === target && marker === markerOf('.')) return name;
  return `${name}.${shortDigest(digestOf(marker + target))}`;
}

/** Edits and commits as the command does. A commit that is not the newest would take back what newer ones have done. */
async function edit(mode: Proposing, context: Context): Promise<CommandResult> {
  const { inputs, world } = context;
  const { prompts, from, to, environment } = inputs;
  const chosen = { only: mode === 'pull' ? [] : prompts.split(/\s+/).filter((one) => one !== '') };
  const refusals = (walked: Walked) => mergedAndNewest(walked, { ...chosen, askForge: askGitHub(context) });
  const options = { ...chosen, ...accessOf(context), dryRun: false, commit: true, refusals };
  if (mode === 'pull') return pull({ ...options, side: null, unattended: true }, world);
  if (mode === 'promote') return promote({ ...options, all: false, from, to }, world);
  return rollback({ ...options, environment }, world);
}

type Proposal = {
  readonly mode: Proposing;
  readonly context: Context;
  readonly host: SafeActionHost;
  readonly review: Reviewer;
  readonly github: GitHub;
  readonly clone: ReturnType<typeof openProposal>;
  /** The branch that goes live. */
  readonly into: string;
  /** The commit that is edited. */
  readonly base: string;
};

/** What stands in the way is a problem of the run, and nothing is committed: the clone goes, and its commit with it. */
async function proposeEdits(result: CommandResult, proposal: Proposal): Promise<Proposed> {
  const { mode, clone, base, into, github, context, review } = proposal;
  const { committed, ...run } = result.run;
  const withCommit = (made: Committed) => ({ ...result, run: { ...run, committed: made } });
  try {
    if (committed === undefined || context.world.stop.aborted) {
      if (mode === 'pull' && result.exitCode === 0) await closePull(proposal);
      return { result };
    }
    const head = await bring(committed.commit, proposal);
    const made = { commit: head, branch: clone.branch };
    const number = await keepPull(withCommit(made), head, proposal);
    const isOwn = (await whoAmI(github)) === ACTIONS;
    const reviewed = isOwn ? await review({ number, head, base, into, isForeign: false }) : null;
    return { result: withCommit({ ...made, pull_request: `#${number}` }), review: reviewed };
  } catch (error) {
    const { code } = problemOf(error);
    const reason = { branch: clone.branch, reason: messageOf(error) };
    const problem = code === 'action/foreign-commit' ? problemOf(error) : makeProblem('action/not-proposed', reason);
    return { result: resultOf({ ...run, problems: [...run.problems, problem] }, context.world) };
  }
}

/**
 * Brings a commit to the branch, unless what is there changes the same; resolves to the commit that is there then. What
 * an open pull request promotes or rolls back already stays in it.
 */
async function bring(made: string, proposal: Proposal): Promise<string> {
  const { mode, clone, base } = proposal;
  const tip = await clone.fetch();
  const isThere = async (commit: string) =>
    (await clone.changes(base, tip ?? base)) === (await clone.changes(base, commit));
  if (tip === null) {
    await clone.push(made, tip);
    return made;
  }
  if (await isThere(made)) return tip;
  const commit = await clone.foreignCommit(base, tip);
  if (commit !== null) throw new ProblemError(makeProblem('action/foreign-commit', { branch: clone.branch, commit }));
  const adds = mode !== 'pull' && (await findOpen(proposal)) !== undefined;
  const head = adds ? await clone.join(tip) : made;
  if (await isThere(head)) return tip;
  await clone.push(head, tip);
  return head;
}

/** The open pull request from the branch into the one that goes live. */
async function findOpen({ github: { octokit, names }, clone: { branch }, into }: Proposal) {
  const which = { head: `${names.owner}:${branch}`, base: into, state: 'open' } as const;
  return (await octokit.request('GET /repos/{owner}/{repo}/pulls', { ...names, ...which })).data[0];
}

/** Opens the pull request, or updates one that tells of another commit; resolves to its number. */
async function keepPull(result: CommandResult, head: string, proposal: Proposal): Promise<number> {
  const { mode, context, host, github, clone, into } = proposal;
  const { octokit, names } = github;
  const marker = `<!-- promptsync proposes ${head} -->`;
  const body = bodyOf(marker, conclude({ mode, context, result }, host));
  // GitHub takes so many characters.
  const text = { ...names, title: host.secrets.hide(await clone.subject()).slice(0, 256), body };
  const open = async () => {
    const request = { ...text, head: clone.branch, base: into, request: { retries: 0 } };
    return (await octokit.request('POST /repos/{owner}/{repo}/pulls', request)).data;
  };
  // It may be made although the answer was lost.
  const orMade = async (error: unknown) => (await findOpen(proposal)) ?? Promise.reject(error);
  const found = (await findOpen(proposal)) ?? (await open().catch(orMade));
  if (!found.body?.startsWith(marker)) {
    await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...text, pull_number: found.number });
  }
  return found.number;
}

/** Closes the pull request where nothing is left to propose, unless somebody else has committed to its branch. */
async function closePull(proposal: Proposal): Promise<void> {
  const { octokit, names } = proposal.github;
  const open = await findOpen(proposal);
  if (open === undefined) return;
  const tip = await proposal.clone.fetch();
  if (tip !== null && (await proposal.clone.foreignCommit(proposal.base, tip)) !== null) return;
  const body = `The service has nothing any more that the files lack: there is nothing to merge.\n\n${open.body}`;
  const closed = { ...names, pull_number: open.number, state: 'closed', body } as const;
  await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', closed);
}
