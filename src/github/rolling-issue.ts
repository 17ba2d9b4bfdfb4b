import { z } from 'zod';
import type { GitHub } from './client.ts';
import { upsert } from './upsert.ts';
import { AuthorShape, isBy, whoAmI } from './whoami.ts';

export type RollingIssue = {
  /** A line that no reader sees: what the issue is found by, together with its author. */
  readonly marker: string;
  readonly title: string;
  /** With the marker as its first line. */
  readonly body: string;
};

const IssueShape = z.object({
  number: z.int(),
  title: z.string(),
  body: z.string().nullish(),
  user: AuthorShape.nullish(),
  pull_request: z.unknown().optional(),
});

/** Keeps one open issue of ours up to date: updates it where it is, else opens it. Throws what Octokit throws. */
export async function keepIssue(github: GitHub, { title, body, marker }: RollingIssue): Promise<void> {
  const { octokit, names } = github;
  await upsert({
    find: () => findIssue(github, marker),
    update: async (found) => {
      if (found.body === body && found.title === title) return;
      const call = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
      await octokit.request(call, { ...names, issue_number: found.number, title, body });
    },
    create: () =>
      octokit.request('POST /repos/{owner}/{repo}/issues', { ...names, title, body, request: { retries: 0 } }),
  });
}

/** Closes the issue, where one is open, with what it has come to. */
export async function closeIssue(github: GitHub, { marker, body }: Omit<RollingIssue, 'title'>): Promise<void> {
  const { octokit, names } = github;
  const found = await findIssue(github, marker);
  if (found === null) return;
  const call = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
  const closed = { state: 'closed', state_reason: 'completed' } as const;
  await octokit.request(call, { ...names, issue_number: found.number, body, ...closed });
}

async function findIssue(github: GitHub, marker: string): Promise<z.infer<typeof IssueShape> | null> {
  const { octokit, names } = github;
  const me = await whoAmI(github);
  const call = 'GET /repos/{owner}/{repo}/issues';
  const listed = await octokit.paginate(call, { ...names, state: 'open', creator: me, per_page: 100 });
  const issues = z
    .array(IssueShape)
    .parse(listed)
    .filter((one) => one.pull_request === undefined);
  return issues.find(({ body, user }) => body?.startsWith(marker) && isBy(me, user)) ?? null;
}
