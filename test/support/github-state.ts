import { z } from 'zod';

export type Person = { readonly login: string; readonly type: 'Bot' | 'User' };
export type GitHubComment = { readonly id: number; readonly body: string; readonly user: Person };
export type GitHubIssue = {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly state: 'open' | 'closed';
  readonly state_reason: string | null;
  readonly user: Person;
};

export type Dated = { readonly createdAt: string; readonly updatedAt: string };
export type CommentRecord = GitHubComment & Dated & { readonly issue: number };
export type IssueRecord = GitHubIssue & Dated;
export type NewIssue = { readonly title: string } & Partial<GitHubIssue>;

export type Pull = {
  readonly number: number;
  readonly head: string;
  /** The name of the branch that it is to be merged into. */
  readonly base: string;
  readonly merged?: boolean;
  /** Of an open one it is the commit that GitHub made to try the merge. */
  readonly mergeCommit?: string | null;
};

/** What makes an answer of `GET /user` and of GraphQL's viewer; a job's own token has only the second. */
export type Identity = 'graphql' | 'user' | 'none';

/** Everything that the stand-in knows; each map is in order of creation, as ids and dates are. */
export type State = {
  /** Owner and name. */
  readonly repository: string;
  /** Whom the token acts as. */
  readonly as: Person;
  readonly identity: Identity;
  readonly issues: Map<number, IssueRecord>;
  readonly comments: Map<number, CommentRecord>;
  readonly pulls: Map<number, Pull>;
  readonly branches: Map<string, string>;
};

const AUTHOR: Person = { login: 'ada', type: 'User' };
const FIRST_COMMENT_ID = 2_000_000_001;

export function makeState(options: Pick<State, 'repository' | 'as' | 'identity'>): State {
  return { ...options, issues: new Map(), comments: new Map(), pulls: new Map(), branches: new Map() };
}

/** Issues and pull requests share their numbers, so an issue without one gets the next of both. */
export function addIssue(state: State, given: NewIssue): IssueRecord {
  const { number = Math.max(0, ...state.issues.keys()) + 1, body = '', user = state.as } = given;
  const { title, state: open = 'open', state_reason = null } = given;
  const now = dateOf(state.issues.size);
  const issue = { number, title, body, state: open, state_reason, user, createdAt: now, updatedAt: now };
  state.issues.set(number, issue);
  return issue;
}

/** Every pull request is an issue as well; a known one is changed in its place. */
export function addPull(state: State, pull: Pull): void {
  const known = state.issues.get(pull.number);
  const issue = known ?? addIssue(state, { number: pull.number, title: `Pull ${pull.number}`, user: AUTHOR });
  state.issues.set(pull.number, { ...issue, state: pull.merged === true ? 'closed' : 'open' });
  state.pulls.set(pull.number, pull);
}

export function addComment(state: State, issue: number, body: string, user: Person = state.as): CommentRecord {
  const id = FIRST_COMMENT_ID + state.comments.size;
  const now = dateOf(state.comments.size);
  const comment = { id, issue, body, user, createdAt: now, updatedAt: now };
  state.comments.set(id, comment);
  return comment;
}

export function commentsOf(state: State, issue: number): readonly CommentRecord[] {
  return [...state.comments.values()].filter((comment) => comment.issue === issue);
}

/** A second for each thing that was there before: no clock, and the order is seen in the dates. */
export function dateOf(second: number): string {
  return new Date(Date.UTC(2026, 0, 2) + second * 1000).toISOString().replace('.000Z', 'Z');
}

/** The comment as GitHub sends it. */
export function commentToWire({ repository }: State, comment: CommentRecord): object {
  const { id, issue, body, user, createdAt, updatedAt } = comment;
  const html_url = `${htmlUrl(repository, 'issues', issue)}#issuecomment-${id}`;
  return { id, html_url, body, user: toUser(user), created_at: createdAt, updated_at: updatedAt };
}

/** The issue as GitHub sends it: a missing body is null, and only a pull request has the field of that name. */
export function issueToWire({ repository, pulls }: State, issue: IssueRecord): object {
  const { number, title, body, state, state_reason, user, createdAt, updatedAt } = issue;
  return {
    id: 3_000_000_000 + number,
    number,
    title,
    body: body === '' ? null : body,
    state,
    state_reason,
    user: toUser(user),
    html_url: htmlUrl(repository, pulls.has(number) ? 'pull' : 'issues', number),
    created_at: createdAt,
    updated_at: updatedAt,
    ...(pulls.has(number) ? { pull_request: {} } : {}),
  };
}

/** The pull request as lists of them have it: `merged` is a field of the single one alone. */
export function pullToWire({ repository, branches }: State, pull: Pull): object {
  const { number, head, base, merged = false, mergeCommit = null } = pull;
  return {
    id: 4_000_000_000 + number,
    number,
    title: `Pull ${number}`,
    user: toUser(AUTHOR),
    html_url: htmlUrl(repository, 'pull', number),
    state: merged ? 'closed' : 'open',
    merged_at: merged ? dateOf(number) : null,
    merge_commit_sha: mergeCommit,
    head: { ref: `change-${number}`, sha: head },
    base: { ref: base, sha: branches.get(base) ?? '0'.repeat(40) },
  };
}

function toUser({ login, type }: Person): object {
  const id = Buffer.from(login).reduce((sum, byte, index) => sum + byte * (index + 1), 40_000_000);
  return { login, id, type };
}

function htmlUrl(repository: string, kind: 'issues' | 'pull', number: number): string {
  return `https://github.com/${repository}/${kind}/${number}`;
}

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
