import { makeMarker, hasSameText, type StickyText, upsertStickyText } from '../commands/upsert-sticky-text.ts';
import { readOwnLogin, type GitHub } from './client.ts';
import type { Inputs } from './runner.ts';

/**
 * A comment that promptsync keeps up to date on an issue or a pull request. `issue` is the number of that issue or pull
 * request.
 */
export type StickyComment = StickyText<Comment> & { readonly issue: number };
/** An issue that promptsync keeps up to date. It has no `mustWrite` rule, because every run writes it. */
type StickyIssue = Omit<StickyText<Issue>, 'mustWrite'> & { readonly title: string };

type Comment = { readonly id: number; readonly body?: string; readonly html_url: string };
type Issue = { readonly number: number; readonly title: string; readonly body?: string | null };

/** Builds the marker by which promptsync finds the comments and issues of earlier runs with the same inputs. */
export function makeCommentMarker(inputs: Pick<Inputs, 'config' | 'working-directory'>): string {
  return makeMarker(inputs['working-directory'], inputs.config);
}

/**
 * Updates promptsync's comment, or creates it if there is none. Returns the URL of the comment, or null if `mustWrite`
 * returns false. Throws any error from Octokit.
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
 * Finds the comment that starts with the marker and was written by promptsync's own account. Checks the author because
 * anybody can copy a marker. Returns null if there is none.
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

/** Updates promptsync's open issue, or opens one if there is none. Throws any error from Octokit. */
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
 * Closes promptsync's open issue, if there is one, and replaces its body with the final report. Throws any error from
 * Octokit.
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
 * Finds the open issue that starts with the marker and was opened by promptsync's own account. Returns null if there is
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
 * Returns true if GitHub may have processed a failed request. This is the case if the response was lost, or if its
 * status is 500 or higher, for example from a gateway.
 */
export function mayHaveWorked(error: unknown): boolean {
  return error instanceof Error && 'status' in error && Number(error.status) >= 500;
}

type Author = { readonly login: string; readonly type?: string };

/**
 * Returns true if the author is the account with this login. Some REST responses append the suffix `[bot]` to the login
 * of an app, but GraphQL omits it.
 */
function isWrittenBy(login: string, author: Author | null | undefined): boolean {
  return author?.login === login || (author?.type === 'Bot' && author.login === `${login}[bot]`);
}
