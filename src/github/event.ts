import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { makeProblem, getErrorMessage, ProblemError } from '../problem.ts';

/** What GitHub hands a workflow run, as far as it matters here; everything else in the payload is left alone. */
const commit = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/);
const repository = z.object({ full_name: z.string() });
const person = z.object({ login: z.string() });

const EventShape = z.object({
  pull_request: z
    .object({
      number: z.int().positive(),
      // A fork can be deleted while its pull request is open.
      head: z.object({ sha: commit, repo: repository.nullish() }),
      base: z.object({ sha: commit, ref: z.string(), repo: repository.nullish() }),
      user: person.nullish(),
    })
    .optional(),
  merge_group: z.object({ base_sha: commit, head_sha: commit }).optional(),
  repository: repository.extend({ default_branch: z.string().optional() }).optional(),
  sender: person.nullish(),
  // GitHub writes zeros where there was none.
  before: z
    .string()
    .default('0')
    .transform((id) => (/^0+$/.test(id) ? null : id)),
});

export type PullRequest = {
  readonly number: number;
  readonly head: string;
  readonly base: string;
  /** The name of the branch that it is to be merged into. */
  readonly into: string;
  /** From a fork or by Dependabot: such runs get no secrets, and a token that can only read. */
  readonly isForeign: boolean;
};

export type ActionEvent = {
  /** Such as `pull_request`. */
  readonly name: string;
  readonly pull: PullRequest | null;
  /** The commit that a merge queue wants to merge; null outside of one. */
  readonly queued: string | null;
  /** The full ref that the run is for, such as `refs/heads/main`. */
  readonly ref: string;
  readonly defaultBranch: string | null;
  /** The commit to compare with: of a push the one before it, of a merge queue its base; null where there is none. */
  readonly before: string | null;
};

const DEPENDABOT = 'dependabot[bot]';

/** Reads the event of a run. Throws a `ProblemError` when it is not one of GitHub's. */
export async function readEvent(environment: Readonly<Record<string, string | undefined>>): Promise<ActionEvent> {
  const { GITHUB_EVENT_NAME: name = '', GITHUB_EVENT_PATH: path = '', GITHUB_REF: ref = '' } = environment;
  const payload: unknown = await readFile(path, 'utf8')
    .then(JSON.parse)
    .catch((error) => {
      throw makeInvalidEventError(getErrorMessage(error));
    });
  return parseEvent(name, ref, payload);
}

/** Reads an event from its payload. Throws a `ProblemError`. */
export function parseEvent(name: string, ref: string, payload: unknown): ActionEvent {
  const parsed = EventShape.safeParse(payload);
  if (!parsed.success) {
    const { message = '', path = [] } = parsed.error.issues[0] ?? {};
    throw makeInvalidEventError(`${path.join('.')}: ${message}`);
  }
  const { pull_request: pull, merge_group: group, repository: home, before } = parsed.data;
  return {
    name,
    ref,
    pull: pull === undefined ? null : makePullRequest(pull, parsed.data),
    defaultBranch: home?.default_branch ?? null,
    queued: group?.head_sha ?? null,
    before: group?.base_sha ?? before,
  };
}

function makeInvalidEventError(reason: string): ProblemError {
  return new ProblemError(makeProblem('action/invalid-event', { reason }));
}

type Payload = z.infer<typeof EventShape>;

function makePullRequest(
  pull: NonNullable<Payload['pull_request']>,
  { repository: home, sender }: Payload,
): PullRequest {
  const { number, head, base, user } = pull;
  const own = base.repo?.full_name ?? home?.full_name;
  const byDependabot = [user, sender].some((one) => one?.login === DEPENDABOT);
  const isForeign = head.repo?.full_name === undefined || head.repo.full_name !== own || byDependabot;
  return { number, head: head.sha, base: base.sha, into: base.ref, isForeign };
}

/** The modes that end in a pull request. */
export type ProposalMode = 'pull' | 'promote' | 'rollback';
export type ActionMode = 'plan' | 'sync' | 'drift' | ProposalMode;

/** What a run is for: `auto` applies a push to the branch that goes live (null: not known). Throws a `ProblemError`. */
export function chooseMode(mode: ActionMode | 'auto', event: ActionEvent, live: string | null): ActionMode {
  const chosen = mode === 'auto' ? chooseAutoMode(event, live) : mode;
  if (chosen === 'plan' || chosen === 'drift') return chosen;
  if (event.pull !== null) throw new ProblemError(makeProblem('guard/not-merged', { kind: 'pull-request' }));
  if (chosen === 'sync' || event.ref === `refs/heads/${live}`) return chosen;
  // Whatever else another branch holds would be in the pull request as well.
  const expected = `${chosen} works on the branch that goes live (${live}), and this run is for ${event.ref}`;
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
