import { makeMarker, hasSameText, type StickyText, upsertStickyText } from '../commands/upsert-sticky-text.ts';
import { readOwnLogin, type GitHub } from './client.ts';
import type { Inputs } from './runner.ts';

/** A comment on an issue or a pull request. */
export type StickyComment = StickyText<Comment> & { readonly issue: number };
/** An issue that each run updates. Its rule for writing is missing, because every run writes it. */
type StickyIssue = Omit<StickyText<Issue>, 'mustWrite'> & { readonly title: string };

type Comment = { readonly id: number; readonly body?: string; readonly html_url: string };
type Issue = { readonly number: number; readonly title: string; readonly body?: string | null };

/** Makes the marker of the comments, issues and pull requests that runs with these inputs keep up to date. */
export function makeCommentMarker(inputs: Pick<Inputs, 'config' | 'working-directory'>): string {
  return makeMarker(inputs['working-directory'], inputs.config);
}

/**
 * Updates the comment of promptsync, or creates it if there is none. Returns the URL of the comment, or null if
 * `mustWrite` is false. Throws the errors of Octokit.
 */
export async function upsertComment(github: GitHub, comment: StickyComment): Promise<string | null> {
  const { octokit, names } = github;
  const { issue, body, mustWrite } = comment;
  return upsertStickyText({
    find: () => findComment(github, comment),
    mustWrite,
    mayHaveWorked,
    update: async (existing) => {
      if (hasSameText(existing.body, body)) return existing.html_url;
      const call = 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}';
      return (await octokit.request(call, { ...names, comment_id: existing.id, body })).data.html_url;
    },
    create: async () => {
      const call = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
      const response = await octokit.request(call, { ...names, issue_number: issue, body, request: { retries: 0 } });
      return response.data.html_url;
    },
  });
}

/**
 * Finds the comment that starts with the marker. It must belong to promptsync's own account, because anybody can copy a
 * marker.
 */
async function findComment(github: GitHub, { issue, marker }: StickyComment): Promise<Comment | null> {
  const { octokit, names } = github;
  const call = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const comments = await octokit.paginate(call, { ...names, issue_number: issue, per_page: 100 });
  const candidates = comments.filter(({ body }) => body?.startsWith(marker));
  if (candidates.length === 0) return null;
  const ownLogin = await readOwnLogin(github);
  return candidates.find(({ user }) => isWrittenBy(ownLogin, user)) ?? null;
}

/** Updates the open issue of promptsync, or opens an issue if there is none. Throws the errors of Octokit. */
export async function upsertIssue(github: GitHub, { title, body, marker }: StickyIssue): Promise<void> {
  const { octokit, names } = github;
  await upsertStickyText({
    find: () => findIssue(github, marker),
    mustWrite: () => true,
    mayHaveWorked,
    update: async (existing) => {
      if (hasSameText(existing.body, body) && existing.title === title) return;
      const call = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
      await octokit.request(call, { ...names, issue_number: existing.number, title, body });
    },
    create: async () => {
      const call = 'POST /repos/{owner}/{repo}/issues';
      await octokit.request(call, { ...names, title, body, request: { retries: 0 } });
    },
  });
}

/**
 * Closes the open issue of promptsync, if there is one, and replaces its text with the final report. Throws the errors
 * of Octokit.
 */
export async function closeIssue(github: GitHub, { marker, body }: Omit<StickyIssue, 'title'>): Promise<void> {
  const { octokit, names } = github;
  const issue = await findIssue(github, marker);
  if (issue === null) return;
  const call = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
  const closed = { state: 'closed', state_reason: 'completed' } as const;
  await octokit.request(call, { ...names, issue_number: issue.number, body, ...closed });
}

/**
 * Finds the open issue that starts with the marker and belongs to promptsync's own account. Returns null if there is
 * none.
 */
async function findIssue(github: GitHub, marker: string): Promise<Issue | null> {
  const { octokit, names } = github;
  const ownLogin = await readOwnLogin(github);
  const call = 'GET /repos/{owner}/{repo}/issues';
  const openItems = await octokit.paginate(call, { ...names, state: 'open', creator: ownLogin, per_page: 100 });
  // The list also contains pull requests, because GitHub treats them as issues.
  const issues = openItems.filter(({ pull_request: pull }) => pull === undefined);
  return issues.find(({ body, user }) => body?.startsWith(marker) && isWrittenBy(ownLogin, user)) ?? null;
}

/**
 * True if GitHub may have carried out a failed request: the response was lost, or it has a status of 500 or more, as
 * from a gateway.
 */
export function mayHaveWorked(error: unknown): boolean {
  return error instanceof Error && 'status' in error && Number(error.status) >= 500;
}

type Author = { readonly login: string; readonly type?: string };

/**
 * Whether an account wrote a text. GraphQL omits the suffix `[bot]` that REST appends to the logins of apps in some
 * responses.
 */
function isWrittenBy(login: string, author: Author | null | undefined): boolean {
  return author?.login === login || (author?.type === 'Bot' && author.login === `${login}[bot]`);
}
