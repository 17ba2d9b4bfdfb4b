import { posix } from 'node:path';
import { digestOf, shortDigest } from '../domain/digest.ts';
import type { GitHub } from './client.ts';
import type { Inputs } from './runner.ts';

/** A text that is kept in one place on GitHub: it is found again by its marker and its author. */
type Sticky = {
  /** The first line of the body, which no reader sees: see `markerOf`. */
  readonly marker: string;
  readonly body: string;
};
/** A comment on an issue or a pull request. */
type StickyComment = Sticky & { readonly issue: number };
type StickyIssue = Sticky & { readonly title: string };

/** One for each working directory and configuration: the jobs of a matrix leave each other's alone. */
export function markerOf({ config = '', 'working-directory': folder }: Pick<Inputs, 'config' | 'working-directory'>) {
  const where = JSON.stringify([posix.normalize(`${folder}/`), config]);
  return `<!-- promptsync ${shortDigest(digestOf(where))} -->`;
}

type Comment = { readonly id: number; readonly body?: string };
type Issue = { readonly number: number; readonly title: string; readonly body?: string | null };

/** Keeps one comment of ours up to date: updates it where it is, else makes it. Throws what Octokit throws. */
export async function keepComment(github: GitHub, comment: StickyComment): Promise<void> {
  const { octokit, names } = github;
  const { issue, body } = comment;
  await upsert({
    find: () => findComment(github, comment),
    update: async (found) => {
      if (sameButRun(found.body, body)) return;
      const call = 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}';
      await octokit.request(call, { ...names, comment_id: found.id, body });
    },
    create: () => {
      const call = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
      return octokit.request(call, { ...names, issue_number: issue, body, request: { retries: 0 } });
    },
  });
}

/** A second review of the same says the same, and is another run. */
function sameButRun(...texts: readonly (string | undefined)[]): boolean {
  return new Set(texts.map((text) => text?.replaceAll(/\/actions\/runs\/[0-9]+/g, ''))).size === 1;
}

/** The comment that begins with the marker and is ours; others may have copied the marker. */
export async function findComment(
  github: GitHub,
  { issue, marker }: Omit<StickyComment, 'body'>,
): Promise<Comment | null> {
  const { octokit, names } = github;
  const call = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const comments = await octokit.paginate(call, { ...names, issue_number: issue, per_page: 100 });
  const marked = comments.filter(({ body }) => body?.startsWith(marker));
  if (marked.length === 0) return null;
  const me = await whoAmI(github);
  return marked.find(({ user }) => isBy(me, user)) ?? null;
}

/** Keeps one open issue of ours up to date: updates it where it is, else opens it. Throws what Octokit throws. */
export async function keepIssue(github: GitHub, { title, body, marker }: StickyIssue): Promise<void> {
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
export async function closeIssue(github: GitHub, { marker, body }: Sticky): Promise<void> {
  const { octokit, names } = github;
  const found = await findIssue(github, marker);
  if (found === null) return;
  const call = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
  const closed = { state: 'closed', state_reason: 'completed' } as const;
  await octokit.request(call, { ...names, issue_number: found.number, body, ...closed });
}

async function findIssue(github: GitHub, marker: string): Promise<Issue | null> {
  const { octokit, names } = github;
  const me = await whoAmI(github);
  const call = 'GET /repos/{owner}/{repo}/issues';
  const listed = await octokit.paginate(call, { ...names, state: 'open', creator: me, per_page: 100 });
  // GitHub lists pull requests among the issues.
  const issues = listed.filter(({ pull_request: pull }) => pull === undefined);
  return issues.find(({ body, user }) => body?.startsWith(marker) && isBy(me, user)) ?? null;
}

/** How a text of ours is found, changed and made. */
type Upsert<Found> = {
  readonly find: () => Promise<Found | null>;
  readonly update: (found: Found) => Promise<void>;
  /** To be sent once: it would make a second one. */
  readonly create: () => Promise<unknown>;
};

/** Updates what is there, else makes it. When the answer to that was lost, it is looked for before it is sent again. */
async function upsert<Found>({ find, update, create }: Upsert<Found>): Promise<void> {
  const found = await find();
  if (found !== null) return update(found);
  try {
    await create();
  } catch (error) {
    if (!mayHaveWorked(error)) throw error;
    const made = await find();
    await (made === null ? create() : update(made));
  }
}

/** No answer, or one of a gateway's: what was sent may have been done. */
function mayHaveWorked(error: unknown): boolean {
  return error instanceof Error && 'status' in error && Number(error.status) >= 500;
}

/** What a workflow's own token writes as. */
export const ACTIONS = 'github-actions[bot]';

/**
 * The account that a token writes as. Tokens of apps, a workflow's own among them, may not ask REST for their user;
 * GraphQL answers all. Where it does not, the token is taken for a workflow's own.
 */
export async function whoAmI({ octokit }: GitHub): Promise<string> {
  try {
    return (await octokit.graphql<{ readonly viewer: Author }>('{ viewer { login } }')).viewer.login;
  } catch {
    return ACTIONS;
  }
}

type Author = { readonly login: string; readonly type?: string };

/** GraphQL leaves out the suffix that REST gives apps in some answers. */
function isBy(login: string, author: Author | null | undefined): boolean {
  return author?.login === login || (author?.type === 'Bot' && author.login === `${login}[bot]`);
}
