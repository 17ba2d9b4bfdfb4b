import {
  makeMarker,
  hasSameText,
  renderRetiredBody,
  type StickyText,
  upsertStickyText,
} from '../update-sticky-text.ts';
import { readOwnLogin, type GitHub } from './github-client.ts';
import type { Inputs } from './action-runner.ts';

/** A comment that promptsync keeps up to date. `issue` is the number of its issue or pull request. */
export type StickyComment = StickyText<Comment> & { readonly issue: number };
/** An issue that promptsync keeps up to date. It has no `mustWrite` rule, because every run writes it. */
type StickyIssue = Pick<StickyText<Issue>, 'marker'> & { readonly title: string; readonly body: string };

type Comment = { readonly id: number; readonly body?: string; readonly html_url: string };
type Issue = { readonly number: number; readonly title: string; readonly body?: string | null };

type WorkspaceInputs = Pick<Inputs, 'config' | 'working-directory'>;

export function makeCommentMarker(inputs: WorkspaceInputs): string {
  return makeMarker(inputs['working-directory'], inputs.config);
}

export function makeIssueMarker(inputs: WorkspaceInputs & Pick<Inputs, 'environments'>): string {
  return makeMarker(inputs['working-directory'], inputs.config, inputs.environments);
}

/**
 * Updates or creates promptsync's comment, and replaces the body of each duplicate by a link to it. Returns the URL of
 * the comment, or null if `mustWrite` returns false. Throws any error from Octokit.
 */
export async function upsertComment(github: GitHub, comment: StickyComment): Promise<string | null> {
  const { octokit, names } = github;
  const { issue, makeBody, mustWrite, isComplete } = comment;
  const edit = async (id: number, text: string): Promise<string> => {
    const call = 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}';
    return (await octokit.request(call, { ...names, comment_id: id, body: text })).data.html_url;
  };
  return upsertStickyText({
    find: () => findComments(github, comment),
    mustWrite,
    isComplete,
    mayHaveWorked,
    update: async (existing) => {
      const body = makeBody(existing.body ?? '');
      return hasSameText(existing.body, body) ? existing.html_url : edit(existing.id, body);
    },
    create: async () => {
      const body = makeBody(null);
      const call = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
      const response = await octokit.request(call, { ...names, issue_number: issue, body, request: { retries: 0 } });
      return response.data.html_url;
    },
    retire: async (duplicate, url) => void (await edit(duplicate.id, renderRetiredBody(url))),
  });
}

/** Finds promptsync's own comments, oldest first. Checks the author, because anybody can copy a marker. */
async function findComments(github: GitHub, { issue, marker }: StickyComment): Promise<readonly Comment[]> {
  const { octokit, names } = github;
  const call = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const comments = await octokit.paginate(call, { ...names, issue_number: issue, per_page: 100 });
  const candidates = comments.filter(({ body }) => body?.startsWith(marker));
  if (candidates.length === 0) return [];
  const ownLogin = await readOwnLogin(github);
  return candidates.filter(({ user }) => user?.login === ownLogin);
}

/** Updates or opens promptsync's issue, and closes duplicates. Throws any error from Octokit. */
export async function upsertIssue(github: GitHub, { title, body, marker }: StickyIssue): Promise<void> {
  const { octokit, names } = github;
  await upsertStickyText({
    find: () => findIssues(github, marker),
    mustWrite: () => true,
    mayHaveWorked,
    update: async (existing) => {
      const { number } = existing;
      if (hasSameText(existing.body, body) && existing.title === title) return number;
      const call = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
      await octokit.request(call, { ...names, issue_number: number, title, body });
      return number;
    },
    create: async () => {
      const call = 'POST /repos/{owner}/{repo}/issues';
      return (await octokit.request(call, { ...names, title, body, request: { retries: 0 } })).data.number;
    },
    retire: async (duplicate, number) => {
      await closeWithBody(github, duplicate, renderRetiredBody(`#${number}`), 'not_planned');
    },
  });
}

/** Closes promptsync's open issues, and replaces their bodies with the final report. Throws any error from Octokit. */
export async function closeIssues(github: GitHub, { marker, body }: Omit<StickyIssue, 'title'>): Promise<void> {
  for (const issue of await findIssues(github, marker)) await closeWithBody(github, issue, body, 'completed');
}

async function closeWithBody(
  { octokit, names }: GitHub,
  { number }: Issue,
  body: string,
  reason: 'completed' | 'not_planned',
): Promise<void> {
  const call = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
  await octokit.request(call, { ...names, issue_number: number, body, state: 'closed', state_reason: reason });
}

/** Finds the open issues that start with the marker and were opened by promptsync's own account, newest first. */
async function findIssues(github: GitHub, marker: string): Promise<readonly Issue[]> {
  const { octokit, names } = github;
  const creator = await readOwnLogin(github);
  const call = 'GET /repos/{owner}/{repo}/issues';
  const openItems = await octokit.paginate(call, { ...names, state: 'open', creator, per_page: 100 });
  // The list also contains pull requests, because GitHub treats them as issues.
  return openItems.filter(({ pull_request: pull, body }) => pull === undefined && body?.startsWith(marker));
}

/** Returns true if the response was lost, or if its status is 500 or higher, for example from a gateway. */
export function mayHaveWorked(error: unknown): boolean {
  return error instanceof Error && 'status' in error && Number(error.status) >= 500;
}
