import { mergedAndNewest } from '../commands/merged-and-newest.ts';
import { promote } from '../commands/promote.ts';
import { pull } from '../commands/pull.ts';
import { type CommandResult, refused, resultOf } from '../commands/result.ts';
import { rollback } from '../commands/rollback.ts';
import type { Walked } from '../commands/walk.ts';
import { digestOf, shortDigest } from '../domain/digest.ts';
import { openProposal } from '../git/proposal.ts';
import { makeProblem, messageOf, ProblemError, problemOf, type EvidenceOf } from '../problem.ts';
import { openWhole } from './checkout.ts';
import type { GitHub } from './client.ts';
import type { Context } from './context.ts';
import type { Event, Proposing, PullRequest } from './event.ts';
import { askGitHub } from './gates.ts';
import { describe } from './publish.ts';
import type { Inputs, SafeActionHost } from './runner.ts';
import { ACTIONS, markerOf, whoAmI } from './sticky.ts';

/**
 * Runs `pull`, `promote` or `rollback`, and keeps what it commits in one pull request. One that the workflow's own token
 * opens is handed to `review`, and the work tree is as the merge will leave it then.
 */
export async function propose(
  mode: Proposing,
  context: Context,
  host: SafeActionHost,
  review: (pull: PullRequest) => Promise<void>,
): Promise<CommandResult> {
  const { git, github, inputs } = context;
  if (github === null) {
    const evidence = { input: 'github-token', expected: 'without one no pull request can be opened' };
    throw new ProblemError(makeProblem('action/invalid-input', evidence));
  }
  const repository = await openWhole(context);
  const clone = openProposal(git, branchOf(mode, inputs));
  const goBack = await clone.begin();
  try {
    const result = await edit(mode, context);
    // Conflicts are somebody's to decide, and in no commit.
    const torn =
      result.run.edited?.filter(({ problems }) => problems.some(({ code }) => code === 'pull/conflict')) ?? [];
    await clone.discard(torn.map(({ path }) => repository.fromRoot(path)));
    const textOf = async (proposed: CommandResult, marker: string) => ({
      // GitHub takes so many characters.
      title: host.secrets.hide(await clone.subject()).slice(0, 256),
      body: describe({ mode, context, result: proposed }, marker, host),
    });
    return await proposeEdits(result, { ...context, github, clone, base: repository.head ?? '', textOf }, review);
  } finally {
    // The work is done by then.
    await goBack().catch(() => {});
  }
}

/**
 * The end of the branch's name: one for each environment that is pinned, and for each configuration. What git does not
 * allow there, or what is long, is replaced; a digest tells apart what became the same.
 */
export function branchOf(mode: Proposing, inputs: Inputs): string {
  const target = { promote: inputs.to, rollback: inputs.environment, pull: '' }[mode];
  const safe = target.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60);
  const name = safe === '' ? mode : `${mode}-${safe}`;
  const marker = markerOf(inputs);
  if (safe === target && marker === markerOf({ 'working-directory': '.' })) return name;
  return `${name}.${shortDigest(digestOf(marker + target))}`;
}

/** Edits and commits as the command does. A commit that is not the newest would take back what newer ones have done. */
async function edit(mode: Proposing, context: Context): Promise<CommandResult> {
  const { inputs, configuration, world } = context;
  const { 'api-key': apiKey, prompts, from, to, environment } = inputs;
  const chosen = { only: [], named: mode === 'pull' ? [] : prompts.split(/\s+/).filter((one) => one !== '') };
  const refusals = (walked: Walked) => mergedAndNewest(walked, { ...chosen, askForge: askGitHub(context) });
  const options = { ...chosen, configuration, apiKey, dryRun: false, commit: true, refusals };
  if (mode === 'pull') return pull({ ...options, side: null }, world);
  if (mode === 'promote') return promote({ ...options, all: false, from, to }, world);
  // The command line does not take it without a key.
  if (chosen.named.length === 0) return refused('rollback', makeProblem('usage/nothing-named'));
  return rollback({ ...options, environment }, world);
}

/** Where something is proposed. */
type Proposal = Pick<Context, 'inputs' | 'event' | 'world'> & {
  readonly github: GitHub;
  readonly clone: ReturnType<typeof openProposal>;
  /** The commit that is edited. */
  readonly base: string;
  /** What the pull request says of a result. */
  readonly textOf: (
    result: CommandResult,
    marker: string,
  ) => Promise<{ readonly title: string; readonly body: string }>;
};

/** What stands in the way is a problem of the run, and nothing is committed: the clone goes, and its commit with it. */
async function proposeEdits(
  result: CommandResult,
  proposal: Proposal,
  review: (pull: PullRequest) => Promise<void>,
): Promise<CommandResult> {
  const { clone, base, github, inputs, world } = proposal;
  const { committed, ...run } = result.run;
  try {
    if (committed === undefined || world.stop.aborted) {
      if (inputs.mode === 'pull' && result.exitCode === 0) await closePull(proposal);
      return result;
    }
    const head = await attempt(`Pushing ${clone.branch}`, () => bring(committed.commit, proposal));
    const made = { commit: head, branch: clone.branch };
    const proposed = { ...result, run: { ...run, committed: made } };
    const number = await attempt(`Opening the pull request of ${clone.branch}`, () =>
      keepPull(proposed, head, proposal),
    );
    if ((await whoAmI(github)) === ACTIONS) await review({ number, head, base, isForeign: false });
    return { ...result, run: { ...run, committed: { ...made, pull_request: `#${number}` } } };
  } catch (error) {
    return resultOf({ ...run, problems: [...run.problems, problemOf(error)] }, world);
  }
}

/** Brings a commit to the branch, unless what is there changes the same; resolves to the commit that is there then. */
async function bring(commit: string, proposal: Proposal): Promise<string> {
  const { clone, base } = proposal;
  const tip = await clone.fetch();
  if (tip !== null && (await clone.changes(base, tip)) === (await clone.changes(base, commit))) return tip;
  const foreign = tip === null ? null : await foreignCommit(tip, proposal);
  if (foreign !== null) {
    throw new ProblemError(makeProblem('action/foreign-commit', { branch: clone.branch, commit: foreign }));
  }
  await clone.push(commit, tip);
  return commit;
}

/** What somebody else has put on the branch, unless it was merged: after a squash that cannot be seen in the commits. */
async function foreignCommit(tip: string, proposal: Proposal): Promise<string | null> {
  const foreign = await proposal.clone.foreignCommit(proposal.base, tip);
  const pulls = foreign === null ? [] : await findPulls(proposal);
  return pulls.some(({ merged_at: at, head }) => at !== null && head.sha === tip) ? null : foreign;
}

/** The pull requests from the branch into the one that goes live, the newest first. */
async function findPulls({ github: { octokit, names }, clone: { branch }, event }: Proposal) {
  const which = { head: `${names.owner}:${branch}`, base: liveBranch(event), state: 'all', per_page: 100 } as const;
  return (await octokit.request('GET /repos/{owner}/{repo}/pulls', { ...names, ...which })).data;
}

function liveBranch({ ref }: Event): string {
  return ref.replace(/^refs\/heads\//, '');
}

async function findOpen(proposal: Proposal) {
  return (await findPulls(proposal)).find(({ state }) => state === 'open');
}

/** Opens the pull request, or updates one that tells of another commit; resolves to its number. */
async function keepPull(proposed: CommandResult, head: string, proposal: Proposal): Promise<number> {
  const { clone, event, github } = proposal;
  const { octokit, names } = github;
  const marker = `<!-- promptsync proposes ${head} -->`;
  const text = { ...names, ...(await proposal.textOf(proposed, marker)) };
  const open = async () => {
    const request = { ...text, head: clone.branch, base: liveBranch(event), request: { retries: 0 } };
    return (await octokit.request('POST /repos/{owner}/{repo}/pulls', request)).data;
  };
  const found =
    (await findOpen(proposal)) ??
    (await open().catch(async (error) => {
      // The answer may be lost alone.
      const made = await findOpen(proposal);
      if (made === undefined) throw error;
      return made;
    }));
  if (!found.body?.startsWith(marker)) {
    await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...text, pull_number: found.number });
  }
  return found.number;
}

/** Closes the pull request where nothing is left to propose, unless somebody else has committed to its branch. */
async function closePull(proposal: Proposal): Promise<void> {
  const { octokit, names } = proposal.github;
  await attempt(`Closing the pull request of ${proposal.clone.branch}`, async () => {
    const open = await findOpen(proposal);
    const tip = open && (await proposal.clone.fetch());
    if (open === undefined || (tip && (await foreignCommit(tip, proposal)))) return;
    const body = `The service has nothing any more that the files lack: there is nothing to merge.\n\n${open.body}`;
    const closed = { ...names, pull_number: open.number, state: 'closed', body } as const;
    await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', closed);
  });
}

async function attempt<Answer>(what: string, work: () => Promise<Answer>): Promise<Answer> {
  return work().catch((error) => {
    if (problemOf(error).code === 'action/foreign-commit') throw error;
    const evidence = { what, reason: messageOf(error), lack: lackOf(error) };
    throw new ProblemError(makeProblem('action/not-proposed', evidence));
  });
}

/** What git says where the credentials are missing, or may not write. */
const DENIED = /\b40[13]\b|denied|could not read (?:Username|Password)|Authentication failed/;

/** The permission or setting that an error shows to be missing. */
function lackOf(error: unknown): EvidenceOf<'action/not-proposed'>['lack'] {
  const text = messageOf(error);
  if (!(error instanceof Error && 'status' in error)) return DENIED.test(text) ? 'contents' : 'unknown';
  if (text.includes('not permitted to create or approve pull requests')) return 'setting';
  const isRefused = error.status === 403 || error.status === 404;
  return isRefused && !/rate limit/i.test(text) ? 'pull-requests' : 'unknown';
}
