import { makeMarker, hasSameText, type StickyText, upsertStickyText } from '../commands/upsert-sticky-text.ts';
import { readOwnLogin, type GitHub } from './client.ts';
import type { Inputs } from './runner.ts';

/** A comment on an issue or a pull request. */
export type StickyComment = StickyText<Comment> & { readonly issue: number };
type StickyIssue = Omit<StickyText<Issue>, 'mustWrite'> & { readonly title: string };

type Comment = { readonly id: number; readonly body?: string; readonly html_url: string };
type Issue = { readonly number: number; readonly title: string; readonly body?: string | null };

/** Of everything that a run with these inputs keeps. */
export function makeCommentMarker(inputs: Pick<Inputs, 'config' | 'working-directory'>): string {
  return makeMarker(inputs['working-directory'], inputs.config);
}

/**
 * Keeps one comment of ours up to date: updates it where it is, else makes it. Resolves to its address, null where it is
 * not wanted. Throws what Octokit throws.
 */
export async function upsertComment(github: GitHub, comment: StickyComment): Promise<string | null> {
  const { octokit, names } = github;
  const { issue, body, mustWrite } = comment;
  return upsertStickyText({
    find: () => findComment(github, comment),
    mustWrite,
    mayHaveWorked,
    update: async (found) => {
      if (hasSameText(found.body, body)) return found.html_url;
      const call = 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}';
      return (await octokit.request(call, { ...names, comment_id: found.id, body })).data.html_url;
    },
    create: async () => {
      const call = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
      return (await octokit.request(call, { ...names, issue_number: issue, body, request: { retries: 0 } })).data
        .html_url;
    },
  });
}

/** The comment that begins with the marker and is ours; others may have copied the marker. */
async function findComment(github: GitHub, { issue, marker }: StickyComment): Promise<Comment | null> {
  const { octokit, names } = github;
  const call = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const comments = await octokit.paginate(call, { ...names, issue_number: issue, per_page: 100 });
  const marked = comments.filter(({ body }) => body?.startsWith(marker));
  if (marked.length === 0) return null;
  const me = await readOwnLogin(github);
  return marked.find(({ user }) => isWrittenBy(me, user)) ?? null;
}

/** Keeps one open issue of ours up to date: updates it where it is, else opens it. Throws what Octokit throws. */
export async function upsertIssue(github: GitHub, { title, body, marker }: StickyIssue): Promise<void> {
  const { octokit, names } = github;
  await upsertStickyText({
    find: () => findIssue(github, marker),
    mustWrite: () => true,
    mayHaveWorked,
    update: async (found) => {
      if (hasSameText(found.body, body) && found.title === title) return;
      const call = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
      await octokit.request(call, { ...names, issue_number: found.number, title, body });
    },
    create: async () => {
      const call = 'POST /repos/{owner}/{repo}/issues';
      await octokit.request(call, { ...names, title, body, request: { retries: 0 } });
    },
  });
}

/** Closes the issue, where one is open, with what it has come to. */
export async function closeIssue(github: GitHub, { marker, body }: Omit<StickyIssue, 'title'>): Promise<void> {
  const { octokit, names } = github;
  const found = await findIssue(github, marker);
  if (found === null) return;
  const call = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
  const closed = { state: 'closed', state_reason: 'completed' } as const;
  await octokit.request(call, { ...names, issue_number: found.number, body, ...closed });
}

async function findIssue(github: GitHub, marker: string): Promise<Issue | null> {
  const { octokit, names } = github;
  const me = await readOwnLogin(github);
  const call = 'GET /repos/{owner}/{repo}/issues';
  const listed = await octokit.paginate(call, { ...names, state: 'open', creator: me, per_page: 100 });
  // GitHub lists pull requests among the issues.
  const issues = listed.filter(({ pull_request: pull }) => pull === undefined);
  return issues.find(({ body, user }) => body?.startsWith(marker) && isWrittenBy(me, user)) ?? null;
}

/** No answer, or one of a gateway's: what was sent may have been done. */
export function mayHaveWorked(error: unknown): boolean {
  return error instanceof Error && 'status' in error && Number(error.status) >= 500;
}

type Author = { readonly login: string; readonly type?: string };

/** GraphQL leaves out the suffix that REST gives apps in some answers. */
function isWrittenBy(login: string, author: Author | null | undefined): boolean {
  return author?.login === login || (author?.type === 'Bot' && author.login === `${login}[bot]`);
}
