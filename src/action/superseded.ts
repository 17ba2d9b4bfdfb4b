import type { Walked } from '../commands/walk.ts';
import { openRemote } from '../git/remote.ts';
import { tipOfBranch } from '../github/pull-requests.ts';
import { makeProblem, messageOf, type Problem } from '../problem.ts';
import type { Context } from './context.ts';

/** Why this commit may not be applied: a newer one is there. Run again, an old run would roll the service back. */
export async function supersededBy(context: Context, { repository, plan }: Walked): Promise<readonly Problem[]> {
  if (repository === null || repository.head === null) return [];
  const { head } = repository;
  const { ref } = context.event;
  const tip = await tipOf(context);
  if (typeof tip !== 'string') return [tip];
  if (tip !== head) return [makeProblem('guard/superseded', { commit: head, newer: tip, where: `${ref} is at` })];
  const [newer] = await repository.descendantsOf(head, commitsOf(plan));
  const where = 'the service already has versions of';
  return newer === undefined ? [] : [makeProblem('guard/superseded', { commit: head, newer, where })];
}

/** The commit that the branch is at: the remote is asked, and GitHub where the clone may not ask it. */
async function tipOf({ event: { ref }, git, github }: Context): Promise<string | Problem> {
  if (ref === '') return makeProblem('guard/unknown-newest', { reason: 'GITHUB_REF is not set.' });
  try {
    const tip = await openRemote(git).tipOf(ref);
    return tip ?? makeProblem('guard/unknown-newest', { reason: `the remote has no ${ref}.` });
  } catch (error) {
    const branch = /^refs\/heads\/(.+)$/.exec(ref)?.[1];
    if (github === null || branch === undefined) return unknown(error);
    return tipOfBranch(await github(), branch).catch(unknown);
  }
}

function unknown(error: unknown): Problem {
  return makeProblem('guard/unknown-newest', { reason: messageOf(error) });
}

/** The commits of the versions that environments serve, and of the newest of promptsync's. */
function commitsOf({ prompts }: Walked['plan']): readonly string[] {
  const read = prompts.flatMap(({ observed }) => (observed?.known ?? []).filter(({ content }) => content !== null));
  return read.flatMap(({ source }) => source?.commit ?? []);
}
