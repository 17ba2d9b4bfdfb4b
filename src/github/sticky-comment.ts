import { z } from 'zod';
import type { GitHub } from './client.ts';
import { upsert } from './upsert.ts';
import { AuthorShape, isBy, whoAmI } from './whoami.ts';

export type StickyComment = {
  readonly issue: number;
  /** A line that no reader sees: what the comment is found by, together with its author. */
  readonly marker: string;
  /** With the marker as its first line. */
  readonly body: string;
};

const CommentShape = z.object({
  id: z.int(),
  body: z.string().nullish(),
  user: AuthorShape.nullish(),
});
export type Comment = z.infer<typeof CommentShape>;

/** Keeps one comment of ours up to date: updates it where it is, else makes it. Throws what Octokit throws. */
export async function keepComment(github: GitHub, comment: StickyComment): Promise<void> {
  const { octokit, names } = github;
  const { issue, body } = comment;
  await upsert({
    find: () => findComment(github, comment),
    update: async (found) => {
      if (found.body === body) return;
      const call = 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}';
      await octokit.request(call, { ...names, comment_id: found.id, body });
    },
    create: () => {
      const call = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
      return octokit.request(call, { ...names, issue_number: issue, body, request: { retries: 0 } });
    },
  });
}

/** The comment that begins with the marker and is ours; others may have copied the marker. */
export async function findComment(
  github: GitHub,
  { issue, marker }: Pick<StickyComment, 'issue' | 'marker'>,
): Promise<Comment | null> {
  const { octokit, names } = github;
  const call = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const listed = await octokit.paginate(call, { ...names, issue_number: issue, per_page: 100 });
  const marked = z
    .array(CommentShape)
    .parse(listed)
    .filter(({ body }) => body?.startsWith(marker));
  if (marked.length === 0) return null;
  const me = await whoAmI(github);
  return marked.find(({ user }) => isBy(me, user)) ?? null;
}
