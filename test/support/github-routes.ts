import { z } from 'zod';
import {
  addComment,
  addIssue,
  commentsOf,
  commentToWire,
  dateOf,
  issueToWire,
  pullToWire,
  type IssueRecord,
  type State,
} from './github-state.ts';

export type Reply = {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Call = { readonly method: string; readonly url: URL; readonly body: unknown };

/** `part` is what the route's group has matched: a number, an id, a commit or a branch. */
type Handler = (state: State, part: string, call: Call) => Reply;

/** Paths without a slash at their beginning are those within the repository. */
const ROUTES: readonly (readonly [method: string, path: RegExp, handler: Handler])[] = [
  ['GET', /^issues\/(\d+)\/comments$/, listComments],
  ['POST', /^issues\/(\d+)\/comments$/, createComment],
  ['PATCH', /^issues\/comments\/(\d+)$/, editComment],
  ['GET', /^issues$/, listIssues],
  ['POST', /^issues$/, createIssue],
  ['PATCH', /^issues\/(\d+)$/, editIssue],
  ['GET', /^pulls\/(\d+)$/, showPull],
  ['GET', /^commits\/([^/]+)\/pulls$/, listPullsOfCommit],
  // Octokit encodes the slash, as GitHub takes it.
  ['GET', /^git\/ref\/heads(?:\/|%2F)(.+)$/i, showBranch],
  ['GET', /^\/user$/, showUser],
  ['POST', /^\/graphql$/, askViewer],
];

const LONGEST_BODY = 65_536;
const CommentShape = z.object({ body: z.string().min(1) });
const NewIssueShape = z.object({ title: z.string().min(1), body: z.string().nullish() });
const EditShape = z.object({
  title: z.string().min(1).optional(),
  body: z.string().nullish(),
  state: z.enum(['open', 'closed']).optional(),
  state_reason: z.enum(['completed', 'not_planned', 'duplicate', 'reopened']).nullish(),
});

/** Carries a call out that has the right token. */
export function answerCall(state: State, call: Call): Reply {
  if (call.method !== 'GET' && (typeof call.body !== 'object' || call.body === null)) {
    return refuse(400, 'Problems parsing JSON');
  }
  const path = call.url.pathname.replace(`/repos/${state.repository}/`, '');
  for (const [method, pattern, handler] of ROUTES) {
    const found = method === call.method ? pattern.exec(path) : null;
    if (found !== null) return handler(state, decodeURIComponent(found[1] ?? ''), call);
  }
  return refuse(404, 'Not Found');
}

function listComments(state: State, part: string, { url }: Call): Reply {
  if (!state.issues.has(Number(part))) return refuse(404, 'Not Found');
  return pageOf(
    commentsOf(state, Number(part)).map((comment) => commentToWire(state, comment)),
    url,
  );
}

function createComment(state: State, part: string, { body }: Call): Reply {
  if (!state.issues.has(Number(part))) return refuse(404, 'Not Found');
  const sent = CommentShape.safeParse(body);
  if (!sent.success) return invalid('IssueComment', sent.error);
  if (isTooLong(sent.data.body)) return tooLong('IssueComment');
  return { status: 201, body: commentToWire(state, addComment(state, Number(part), sent.data.body)) };
}

function editComment(state: State, part: string, { body }: Call): Reply {
  const comment = state.comments.get(Number(part));
  if (comment === undefined) return refuse(404, 'Not Found');
  if (comment.user.login !== state.as.login) return refuse(403, 'Must have admin rights to Repository.');
  const sent = CommentShape.safeParse(body);
  if (!sent.success) return invalid('IssueComment', sent.error);
  if (isTooLong(sent.data.body)) return tooLong('IssueComment');
  const edited = { ...comment, body: sent.data.body, updatedAt: later(comment.updatedAt) };
  state.comments.set(comment.id, edited);
  return { status: 200, body: commentToWire(state, edited) };
}

function listIssues(state: State, _part: string, { url }: Call): Reply {
  const wanted = url.searchParams.get('state') ?? 'open';
  const creator = url.searchParams.get('creator');
  const found = [...state.issues.values()]
    .filter((issue) => wanted === 'all' || issue.state === wanted)
    .filter((issue) => creator === null || issue.user.login === creator);
  return pageOf(
    found.toReversed().map((issue) => issueToWire(state, issue)),
    url,
  );
}

function createIssue(state: State, _part: string, { body }: Call): Reply {
  const sent = NewIssueShape.safeParse(body);
  if (!sent.success) return invalid('Issue', sent.error);
  if (isTooLong(sent.data.body)) return tooLong('Issue');
  const issue = addIssue(state, { title: sent.data.title, body: sent.data.body ?? '' });
  return { status: 201, body: issueToWire(state, issue) };
}

function editIssue(state: State, part: string, { body }: Call): Reply {
  const issue = state.issues.get(Number(part));
  if (issue === undefined) return refuse(404, 'Not Found');
  const sent = EditShape.safeParse(body);
  if (!sent.success) return invalid('Issue', sent.error);
  if (isTooLong(sent.data.body)) return tooLong('Issue');
  const edited = applyEdit(issue, sent.data);
  state.issues.set(issue.number, edited);
  return { status: 200, body: issueToWire(state, edited) };
}

function applyEdit(issue: IssueRecord, edit: z.infer<typeof EditShape>): IssueRecord {
  const { title = issue.title, state = issue.state } = edit;
  const body = edit.body === undefined ? issue.body : (edit.body ?? '');
  return { ...issue, title, body, state, state_reason: reasonOf(issue, edit), updatedAt: later(issue.updatedAt) };
}

/** GitHub gives every change of the state a reason of its own where none is sent. */
function reasonOf(issue: IssueRecord, { state = issue.state, state_reason }: z.infer<typeof EditShape>): string | null {
  if (state === issue.state) return state_reason ?? issue.state_reason;
  return state_reason ?? (state === 'open' ? 'reopened' : 'completed');
}

function showPull(state: State, part: string): Reply {
  const pull = state.pulls.get(Number(part));
  if (pull === undefined) return refuse(404, 'Not Found');
  return { status: 200, body: { ...pullToWire(state, pull), merged: pull.merged ?? false } };
}

function listPullsOfCommit(state: State, sha: string, { url }: Call): Reply {
  const found = [...state.pulls.values()].filter(({ head, mergeCommit }) => head === sha || mergeCommit === sha);
  return pageOf(
    found.map((pull) => pullToWire(state, pull)),
    url,
  );
}

function showBranch(state: State, name: string): Reply {
  const sha = state.branches.get(name);
  if (sha === undefined) return refuse(404, 'Not Found');
  return { status: 200, body: { ref: `refs/heads/${name}`, object: { sha, type: 'commit' } } };
}

function showUser({ identity, as }: State): Reply {
  if (identity !== 'user') return refuse(403, 'Resource not accessible by integration');
  return { status: 200, body: { login: as.login, type: as.type } };
}

function askViewer({ identity, as }: State, _part: string, { body }: Call): Reply {
  if (identity === 'none') return refuse(404, 'Not Found');
  const asked = /\bviewer\s*\{\s*login\s*\}/.test(JSON.stringify(body).replaceAll(String.raw`\n`, ' '));
  if (!asked) return { status: 200, body: { errors: [{ message: 'Only viewer { login } is known here.' }] } };
  return { status: 200, body: { data: { viewer: { login: as.login } } } };
}

/** One page of a list, with links to its neighbours as GitHub sends them. */
function pageOf(items: readonly object[], url: URL): Reply {
  const size = Math.min(100, numberIn(url, 'per_page', 30));
  const page = numberIn(url, 'page', 1);
  const last = Math.max(1, Math.ceil(items.length / size));
  const before = page > 1 ? [linkTo(url, Math.min(page - 1, last), 'prev')] : [];
  const after = page < last ? [linkTo(url, page + 1, 'next'), linkTo(url, last, 'last')] : [];
  const links = [...before, ...after, ...(page > 1 ? [linkTo(url, 1, 'first')] : [])];
  const headers: Record<string, string> = links.length === 0 ? {} : { link: links.join(', ') };
  return { status: 200, headers, body: items.slice((page - 1) * size, page * size) };
}

function numberIn(url: URL, name: string, otherwise: number): number {
  const number = Number(url.searchParams.get(name));
  return Number.isInteger(number) && number > 0 ? number : otherwise;
}

function linkTo(url: URL, page: number, relation: string): string {
  const target = new URL(url);
  target.searchParams.set('page', String(page));
  return `<${target.href}>; rel="${relation}"`;
}

function later(date: string): string {
  return dateOf((Date.parse(date) - Date.parse(dateOf(0))) / 1000 + 1);
}

/** In characters, as GitHub counts: one outside of the basic plane is one. */
function isTooLong(body: string | null | undefined): boolean {
  return [...(body ?? '')].length > LONGEST_BODY;
}

function tooLong(resource: string): Reply {
  const message = `body is too long (maximum is ${LONGEST_BODY} characters)`;
  return refuse(422, 'Validation Failed', [{ resource, code: 'custom', field: 'body', message }]);
}

function invalid(resource: string, { issues }: z.ZodError): Reply {
  const errors = issues.map(({ path }) => ({ resource, code: 'invalid', field: path.join('.') }));
  return refuse(422, 'Validation Failed', errors);
}

export function refuse(status: number, message: string, errors?: readonly object[]): Reply {
  return { status, body: { message, ...(errors === undefined ? {} : { errors }), status: String(status) } };
}
