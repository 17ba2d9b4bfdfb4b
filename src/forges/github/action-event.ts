import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { makeProblem, getErrorMessage, ProblemError } from '../../problem.ts';

const CommitIdShape = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/);
const RepositoryShape = z.object({ full_name: z.string() });
const UserShape = z.object({ login: z.string() });

const EventShape = z.object({
  action: z.string().optional(),
  pull_request: z
    .object({
      number: z.int().positive(),
      state: z.string().optional(),
      merged: z.boolean().nullish(),
      // `repo` is null if the fork was deleted while its pull request was open.
      head: z.object({ sha: CommitIdShape, repo: RepositoryShape.nullish() }),
      base: z.object({ sha: CommitIdShape, ref: z.string(), repo: RepositoryShape.nullish() }),
      user: UserShape.nullish(),
    })
    .optional(),
  merge_group: z.object({ base_sha: CommitIdShape, head_sha: CommitIdShape }).optional(),
  repository: RepositoryShape.extend({ default_branch: z.string().optional() }).optional(),
  sender: UserShape.nullish(),
  // If a push creates the branch, GitHub sends only zeros. Other events have no `before`. Both become null.
  before: z
    .string()
    .default('0')
    .transform((id) => (/^0+$/.test(id) ? null : id)),
});

export type PullRequest = {
  readonly number: number;
  /** The id of the head commit. */
  readonly head: string;
  /** The id of the base commit on the target branch. */
  readonly base: string;
  /** The name of the target branch, into which the pull request would be merged. */
  readonly into: string;
  /**
   * True if the pull request comes from a fork or from Dependabot. Workflow runs for such a pull request get no
   * secrets, and their token can only read.
   */
  readonly isForeign: boolean;
  /** The state at the time of the event. Events such as `labeled` also happen after the pull request was closed. */
  readonly state: 'open' | 'merged' | 'closed';
};

export type ActionEvent = {
  /** The name of the event, such as `pull_request`. */
  readonly name: string;
  readonly pull: PullRequest | null;
  /** The id of the commit that a merge queue wants to merge. Null for all other events. */
  readonly queued: string | null;
  /** The full name of the ref that the run is for, such as `refs/heads/main`. */
  readonly ref: string;
  /** The name of the repository's default branch. Null if the event does not include it. */
  readonly defaultBranch: string | null;
  /** The tip of the branch before the push, or the base commit of a merge queue. Null if there is none. */
  readonly before: string | null;
};

const DEPENDABOT = 'dependabot[bot]';

/** Throws a `ProblemError` if the event file does not contain a valid payload from GitHub. */
export async function readEvent(environment: Readonly<Record<string, string | undefined>>): Promise<ActionEvent> {
  const { GITHUB_EVENT_NAME: name = '', GITHUB_EVENT_PATH: path = '', GITHUB_REF: ref = '' } = environment;
  const payload: unknown = await readFile(path, 'utf8')
    .then(JSON.parse)
    .catch((error) => {
      throw makeInvalidEventError(getErrorMessage(error));
    });
  return parseEvent(name, ref, payload);
}

/** Throws a `ProblemError` if the payload is not valid. */
export function parseEvent(name: string, ref: string, payload: unknown): ActionEvent {
  const parsed = EventShape.safeParse(payload);
  if (!parsed.success) {
    const { message = '', path = [] } = parsed.error.issues[0] ?? {};
    throw makeInvalidEventError(`${path.join('.')}: ${message}`);
  }
  const { pull_request: pull, merge_group: mergeGroup, repository, before } = parsed.data;
  return {
    name,
    ref,
    pull: pull === undefined ? null : makePullRequest(pull, parsed.data),
    defaultBranch: repository?.default_branch ?? null,
    queued: mergeGroup?.head_sha ?? null,
    before: mergeGroup?.base_sha ?? before,
  };
}

function makeInvalidEventError(reason: string): ProblemError {
  return new ProblemError(makeProblem('action/invalid-event', { reason }));
}

type Payload = z.infer<typeof EventShape>;

type PullPayload = NonNullable<Payload['pull_request']>;

function makePullRequest(pull: PullPayload, payload: Payload): PullRequest {
  const { repository, sender } = payload;
  const { number, head, base, user } = pull;
  const ownName = base.repo?.full_name ?? repository?.full_name;
  const headName = head.repo?.full_name;
  const isFromFork = headName === undefined || headName !== ownName;
  const isByDependabot = user?.login === DEPENDABOT || sender?.login === DEPENDABOT;
  const isForeign = isFromFork || isByDependabot;
  return { number, head: head.sha, base: base.sha, into: base.ref, isForeign, state: getPullState(pull, payload) };
}

function getPullState({ state, merged }: PullPayload, { action }: Payload): PullRequest['state'] {
  if (state !== 'closed' && action !== 'closed') return 'open';
  return merged ? 'merged' : 'closed';
}

/** The modes that propose edits in a pull request. */
export type ProposalMode = 'pull' | 'promote' | 'rollback';
/** The mode of an action run after promptsync has resolved `auto`. */
export type ActionMode = 'plan' | 'sync' | 'drift' | ProposalMode;

/** Throws a `ProblemError` if the event does not allow the mode. `live` is the live branch, or null if unknown. */
export function chooseMode(mode: ActionMode | 'auto', event: ActionEvent, live: string | null): ActionMode {
  const chosen = mode === 'auto' ? chooseAutoMode(event, live) : mode;
  if (chosen === 'plan' || chosen === 'drift') return chosen;
  if (event.pull !== null) throw new ProblemError(makeProblem('guard/not-merged', { kind: 'pull-request' }));
  if (chosen === 'sync' || event.ref === `refs/heads/${live}`) return chosen;
  // On any other branch, the pull request would also contain all other changes of that branch.
  const liveBranch = `the live branch (${live ?? 'unknown'})`;
  const expected = `${chosen} runs only on ${liveBranch}, but this run is for ${event.ref}`;
  throw new ProblemError(makeProblem('action/invalid-input', { input: 'mode', expected }));
}

function chooseAutoMode({ name, ref }: ActionEvent, branch: string | null): ActionMode {
  switch (name) {
    case 'pull_request':
    case 'pull_request_target':
    case 'merge_group':
      return 'plan';
    case 'push':
      return branch !== null && ref === `refs/heads/${branch}` ? 'sync' : 'plan';
    case 'schedule':
    case 'workflow_dispatch':
    case 'repository_dispatch':
      return 'drift';
    default:
      throw new ProblemError(makeProblem('action/unsupported-event', { event: name }));
  }
}
