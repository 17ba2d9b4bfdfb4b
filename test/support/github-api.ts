import { createServer, STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { listen } from './front.ts';

/** The token of the GitHub double. No output may contain it. */
export const TOKEN = 'ghs_5eCre7token0123456789';

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

export type CheckRun = {
  readonly id: number;
  readonly name: string;
  readonly head_sha: string;
  readonly external_id: string | null;
  readonly conclusion: string;
  /** The check run of a GitHub Actions job has only nulls here. */
  readonly output: { readonly title: string | null; readonly summary: string | null; readonly text: string | null };
  /** The app that created the check run. */
  readonly app: { readonly slug: string };
};

export type Pull = {
  readonly number: number;
  readonly head: string;
  /** The name of the base branch. */
  readonly base: string;
  readonly merged?: boolean;
  /** The head branch. If it is set, the head of the open pull request is the tip of this branch. */
  readonly branch?: string;
  /** The merge commit. For an open pull request, the test merge that GitHub makes. */
  readonly mergeCommit?: string | null;
  /** All commits that a merged pull request added to the base branch. */
  readonly commits?: readonly string[];
};

export type ApiRequest = {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  /** The JSON value, or undefined if the request has no body. */
  readonly body: unknown;
};

export type Failure =
  /** The request is answered like this and has no effect. A string is sent unchanged, any other body as JSON. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  /** The request takes effect, and the connection ends without an answer. */
  | 'lost-answer'
  /** The request has no effect and is never answered. */
  | 'hang'
  /** The request takes effect, and the body of the answer stops after its first byte. */
  | 'half-answer';

export type FailureMatch = { readonly method?: string; readonly path: RegExp };

export type GitHubDouble = Awaited<ReturnType<typeof startGitHub>>;

export type GitHubOptions = {
  /** The account of the token. The default is the account of a workflow token. */
  readonly as?: Person;
  /** Returns the tip of a branch of the remote, or an empty string for a missing branch. */
  readonly tipOf?: (branch: string) => string;
};

/** The state of the GitHub double. Each map is in order of creation. */
type State = Required<GitHubOptions> & {
  readonly issues: Map<number, GitHubIssue>;
  readonly comments: Map<number, GitHubComment & { readonly issue: number }>;
  readonly pulls: Map<number, Pull>;
  readonly checks: CheckRun[];
  readonly branches: Map<string, string>;
  readonly trees: Map<string, readonly string[]>;
  readonly failures: { readonly match: FailureMatch; readonly failure: Failure; left: number }[];
};
/** The planned failures of the next requests, in the order in which they were planned. */
export type Failing = Pick<State, 'failures'>;

/** Starts a double of GitHub's REST API. Tests of lost answers and rate limits need real connections. */
export async function startGitHub(options: GitHubOptions = {}) {
  const { as = { login: 'github-actions[bot]', type: 'Bot' }, tipOf = () => '' } = options;
  const maps = { issues: new Map(), comments: new Map(), pulls: new Map(), branches: new Map(), trees: new Map() };
  const state: State = { as, tipOf, ...maps, checks: [], failures: [] };
  const requests: ApiRequest[] = [];
  return {
    /** The address of the API. GraphQL is at `/graphql` below it. */
    apiUrl: await listenToApi(state, requests, ({ path, ...request }, { authorization, host }) => {
      const call = { ...request, url: new URL(path, `http://${host}`) };
      return authorization?.endsWith(` ${TOKEN}`) === true ? answerCall(state, call) : { status: 401 };
    }),
    token: TOKEN,
    /** All requests so far. */
    requests,
    comments: (issue: number) => commentsOf(state, issue),
    /** Edits a comment as somebody with the permission to do so. */
    editComment: (id: number, body: string) => void state.comments.set(id, { ...state.comments.get(id)!, body }),
    /** Returns the pull requests with a head branch, in order of creation. */
    pulls: () =>
      [...state.pulls.values()].filter(({ branch }) => branch !== undefined).map((pull) => pullOf(state, pull)),
    /** Returns the issues that are not pull requests, in order of creation. */
    issues: () => [...state.issues.values()].filter(({ number }) => !state.pulls.has(number)),
    /** Adds a comment, by default as the account of the token. The issue need not exist yet. */
    addComment: (issue: number, { body, user }: { readonly body: string; readonly user?: Person }) =>
      void addComment(state, issue, body, user),
    addIssue: (issue: NewIssue) => void addIssue(state, issue),
    /** Returns the current check runs of a commit. */
    checks: (head: string) => state.checks.filter(({ head_sha: sha }) => sha === head),
    /** Adds a check run, by default as the app of the token. */
    addCheck: (check: NewCheck) => void addCheck(state, check),
    /** Replaces these fields of a check run. */
    editCheck: (id: number, fields: Partial<CheckRun>) => {
      const at = state.checks.findIndex((check) => check.id === id);
      state.checks[at] = { ...state.checks[at]!, ...fields };
    },
    /** Adds a pull request, or replaces the one with the same number. */
    addPull: (pull: Pull) => addPull(state, pull),
    /** Sets the tip of a branch. `tree` has the lines that `git ls-tree -r -t` prints. */
    setBranch: (name: string, sha: string, tree: readonly string[] = []) => {
      state.branches.set(name, sha);
      state.trees.set(sha, tree);
    },
    /** Fails the next `times` matching requests. Earlier planned failures come first. */
    fail: (match: FailureMatch, failure: Failure, times = 1) =>
      void state.failures.push({ match, failure, left: times }),
  };
}

/** A new issue, by default by the account of the token. */
type NewIssue = { readonly title: string } & Partial<GitHubIssue>;

/** Adds an issue. An issue without a number gets the next number, which issues and pull requests share. */
function addIssue(state: State, { title, ...given }: NewIssue): GitHubIssue {
  const number = given.number ?? Math.max(0, ...state.issues.keys()) + 1;
  const issue = { number, title, body: '', state: 'open' as const, state_reason: null, user: state.as, ...given };
  state.issues.set(number, issue);
  return issue;
}

/** Adds a pull request and its issue, because every pull request is an issue, too. Updates an existing one in place. */
function addPull(state: State, pull: Pull): void {
  const { number, merged } = pull;
  const known = state.issues.get(number) ?? addIssue(state, { number, title: `Pull ${number}` });
  state.issues.set(number, { ...known, state: merged === true ? 'closed' : 'open' });
  state.pulls.set(number, pull);
}

function addComment(state: State, issue: number, body: string, user = state.as): GitHubComment {
  const id = 2_000_000_001 + state.comments.size;
  state.comments.set(id, { id, issue, body, user });
  return { id, body, user };
}

type NewCheck = Omit<CheckRun, 'id' | 'app' | 'external_id'> & Partial<CheckRun>;

function addCheck(state: State, check: NewCheck): CheckRun {
  const app = { slug: state.as.login.replace('[bot]', '') };
  const made = { app, external_id: null, ...check, id: 4_000_000_001 + state.checks.length };
  state.checks.push(made);
  return made;
}

function commentsOf({ comments }: State, wanted: number): readonly GitHubComment[] {
  return [...comments.values()].flatMap(({ issue, ...comment }) => (issue === wanted ? [comment] : []));
}

/** Starts a server that records each request, and then answers it or carries out its planned failure. */
export function listenToApi(
  failing: Failing,
  requests: ApiRequest[],
  answer: (request: ApiRequest, headers: IncomingMessage['headers']) => Reply,
): Promise<string> {
  const respond = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = Buffer.concat(await incoming.toArray()).toString('utf8');
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
    requests.push(request);
    await sendOrFail(takeFailure(failing, method, path), incoming, response, () => answer(request, headers));
  };
  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  return listen(server);
}

/** Sends the answer to a request, or carries out its planned failure. */
export async function sendOrFail(
  failure: Failure | undefined,
  incoming: IncomingMessage,
  response: ServerResponse,
  answer: () => Reply | Promise<Reply>,
): Promise<void> {
  if (failure === 'hang') return;
  if (typeof failure === 'object') return send(response, failure);
  const reply = await answer();
  if (failure === 'lost-answer') return void incoming.socket.destroy();
  if (failure === 'half-answer') {
    const type = { 'content-type': 'application/json; charset=utf-8' };
    return void response.writeHead(reply.status, type).write('{');
  }
  send(response, reply);
}

export function takeFailure({ failures }: Failing, method: string, path: string): Failure | undefined {
  const planned = failures.find(
    ({ match, left }) => left > 0 && (match.method ?? method) === method && path.search(match.path) !== -1,
  );
  if (planned !== undefined) planned.left -= 1;
  return planned?.failure;
}

export type Reply = Exclude<Failure, string>;

function send(response: ServerResponse, { status, headers, body = { message: STATUS_CODES[status] } }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

type Call = Omit<ApiRequest, 'path'> & { readonly url: URL };

/** Answers a call. `part` is the group that the route matched: a number, an id, a commit or a branch. */
type Handler = (state: State, part: string, call: Call) => Reply;

/** All routes. Paths without a leading slash belong to the repository. */
const ROUTES: readonly (readonly [method: string, path: RegExp, handler: Handler])[] = [
  ['GET', /^issues\/(\d+)\/comments$/, listComments],
  ['POST', /^issues\/(\d+)\/comments$/, createComment],
  ['PATCH', /^issues\/comments\/(\d+)$/, editComment],
  ['GET', /^issues$/, listIssues],
  ['POST', /^issues$/, createIssue],
  ['PATCH', /^issues\/(\d+)$/, editIssue],
  ['GET', /^pulls$/, listPulls],
  ['POST', /^pulls$/, createPull],
  ['PATCH', /^pulls\/(\d+)$/, editPull],
  ['GET', /^pulls\/(\d+)$/, showPull],
  ['POST', /^check-runs$/, createCheck],
  ['PATCH', /^check-runs\/(\d+)$/, editCheck],
  ['GET', /^commits\/([^/]+)\/check-runs$/, listChecks],
  ['GET', /^commits\/([^/]+)\/pulls$/, listPullsOfCommit],
  // Octokit encodes the slash, and GitHub accepts that.
  ['GET', /^git\/ref\/heads(?:\/|%2F)(.+)$/i, showBranch],
  ['GET', /^git\/trees\/([^/]+)$/, showTree],
  ['GET', /^\/repos\/acme\/prompts$/, () => ({ status: 200, body: { full_name: 'acme/prompts' } })],
  ['POST', /^\/graphql$/, askViewer],
];

const NOT_FOUND: Reply = { status: 404 };

function answerCall(state: State, call: Call): Reply {
  const path = call.url.pathname.replace('/repos/acme/prompts/', '');
  for (const [method, pattern, handler] of ROUTES) {
    const found = method === call.method ? pattern.exec(path) : null;
    if (found !== null) return handler(state, decodeURIComponent(found[1] ?? ''), call);
  }
  return NOT_FOUND;
}

/** GitHub counts code points, so an emoji counts as one character. */
const body = z.string().refine((text) => [...text].length <= 65_536);
const CommentShape = z.object({ body: body.min(1) });
const IssueShape = z.object({ title: z.string().min(1), body: body.default('') });
const EditShape = z.object({
  ...{ title: z.string().min(1).optional(), body: body.optional() },
  state: z.enum(['open', 'closed']).optional(),
  state_reason: z.enum(['completed', 'not_planned']).optional(),
});

/** GitHub limits each text of a check run to 65,535 bytes. */
const outputText = z.string().refine((text) => Buffer.byteLength(text) <= 65_535);
const CheckShape = z.object({
  name: z.string().min(1),
  head_sha: z.string(),
  external_id: z.string().optional(),
  conclusion: z.enum(['success', 'neutral', 'failure']),
  output: z.object({ title: z.string().min(1), summary: outputText, text: outputText }),
});

/** Calls `use` with the parsed body, or returns 422 if the body does not have the shape. */
function withSent<Sent>(shape: z.ZodType<Sent>, { body }: Call, use: (sent: Sent) => Reply): Reply {
  const parsed = shape.safeParse(body);
  return parsed.success ? use(parsed.data) : { status: 422, body: { message: 'Validation Failed' } };
}

function listComments(state: State, part: string, { url }: Call): Reply {
  return state.issues.has(Number(part)) ? pageOf(commentsOf(state, Number(part)).map(commentToWire), url) : NOT_FOUND;
}

function createComment(state: State, part: string, call: Call): Reply {
  if (!state.issues.has(Number(part))) return NOT_FOUND;
  return withSent(CommentShape, call, ({ body }) => ({
    status: 201,
    body: commentToWire(addComment(state, Number(part), body)),
  }));
}

function commentToWire(comment: GitHubComment): object {
  return { ...comment, html_url: `https://github.com/acme/prompts/pull/1#issuecomment-${comment.id}` };
}

function editComment(state: State, part: string, call: Call): Reply {
  const comment = state.comments.get(Number(part));
  if (comment === undefined) return NOT_FOUND;
  if (comment.user.login !== state.as.login) return { status: 403 };
  return withSent(CommentShape, call, ({ body }) => {
    state.comments.set(comment.id, { ...comment, body });
    return { status: 200, body: commentToWire({ ...comment, body }) };
  });
}

/** Only apps may create check runs. */
function createCheck(state: State, _part: string, call: Call): Reply {
  if (state.as.type === 'User') return { status: 403, body: { message: 'You must authenticate via a GitHub App.' } };
  return withSent(CheckShape, call, ({ external_id: id = null, ...sent }) => ({
    status: 201,
    body: addCheck(state, { ...sent, external_id: id }),
  }));
}

function editCheck(state: State, part: string, call: Call): Reply {
  const at = state.checks.findIndex(({ id }) => id === Number(part));
  const check = state.checks[at];
  if (check === undefined) return NOT_FOUND;
  return withSent(CheckShape.partial(), call, (sent) => {
    state.checks[at] = { ...check, ...(sent as Partial<CheckRun>) };
    return { status: 200, body: state.checks[at] };
  });
}

/** By default, GitHub lists only the newest check run of each name and app. With `filter=all` it lists every one. */
function listChecks({ checks }: State, sha: string, { url }: Call): Reply {
  const name = url.searchParams.get('check_name');
  const named = checks.filter((check) => check.head_sha === sha && (name === null || check.name === name));
  const latest = new Map(named.map((check) => [JSON.stringify([check.name, check.app.slug]), check]));
  const found = url.searchParams.get('filter') === 'all' ? named : [...latest.values()];
  const { body, ...reply } = pageOf(found, url);
  return { ...reply, body: { total_count: found.length, check_runs: body } };
}

function listIssues(state: State, _part: string, { url }: Call): Reply {
  const creator = url.searchParams.get('creator');
  const found = [...state.issues.values()]
    .filter((issue) => issue.state === (url.searchParams.get('state') ?? 'open'))
    .filter((issue) => creator === null || issue.user.login === creator);
  const wires = found.toReversed().map((issue) => issueToWire(state, issue));
  return pageOf(wires, url);
}

/** Returns the JSON of an issue. An empty body is null, and only pull requests have the field `pull_request`. */
function issueToWire({ pulls }: State, issue: GitHubIssue): object {
  const body = issue.body === '' ? null : issue.body;
  return { ...issue, body, ...(pulls.has(issue.number) ? { pull_request: {} } : {}) };
}

function createIssue(state: State, _part: string, call: Call): Reply {
  return withSent(IssueShape, call, (sent) => ({ status: 201, body: issueToWire(state, addIssue(state, sent)) }));
}

function editIssue(state: State, part: string, call: Call): Reply {
  const issue = state.issues.get(Number(part));
  if (issue === undefined) return NOT_FOUND;
  return withSent(EditShape, call, (sent) => {
    const { title = issue.title, body = issue.body, state: next = issue.state } = sent;
    const edited = { ...issue, title, body, state: next, state_reason: sent.state_reason ?? issue.state_reason };
    state.issues.set(issue.number, edited);
    return { status: 200, body: issueToWire(state, edited) };
  });
}

function showPull(state: State, part: string): Reply {
  const pull = state.pulls.get(Number(part));
  return pull === undefined ? NOT_FOUND : { status: 200, body: pullToWire(state, pull) };
}

function listPulls(state: State, _part: string, { url }: Call): Reply {
  const wanted = (name: string) => url.searchParams.get(name);
  const found = [...state.pulls.values()]
    .map((pull) => pullOf(state, pull))
    .filter(({ branch, base }) => wanted('head') === `acme:${branch}` && wanted('base') === base)
    .filter(({ state: pullState }) => pullState === (wanted('state') ?? 'open'));
  const wires = found.toReversed().map((pull) => pullToWire(state, pull));
  return pageOf(wires, url);
}

const PullShape = z.object({ title: z.string().min(1).max(256), head: z.string(), base: z.string(), body });

function createPull(state: State, _part: string, call: Call): Reply {
  return withSent(PullShape, call, ({ title, body: text, head: branch, base }) => {
    const isOpen = (pull: Pull) => pull.branch === branch && state.issues.get(pull.number)?.state === 'open';
    if (state.tipOf(branch) === '' || [...state.pulls.values()].some(isOpen)) {
      return { status: 422, body: { message: 'Validation Failed' } };
    }
    const { number } = addIssue(state, { title, body: text });
    const pull = { number, head: '', base, branch };
    state.pulls.set(number, pull);
    return { status: 201, body: pullToWire(state, pull) };
  });
}

function editPull(state: State, part: string, call: Call): Reply {
  const pull = state.pulls.get(Number(part));
  const edited = pull === undefined ? NOT_FOUND : editIssue(state, part, call);
  return pull === undefined || edited.status !== 200 ? edited : { status: 200, body: pullToWire(state, pull) };
}

function listPullsOfCommit(state: State, sha: string, { url }: Call): Reply {
  const all = [...state.pulls.values()].map((pull) => pullOf(state, pull));
  const found = all.filter(({ head, mergeCommit, commits = [] }) => [head, mergeCommit, ...commits].includes(sha));
  const wires = found.map((pull) => pullToWire(state, pull));
  return pageOf(wires, url);
}

/** Returns a pull request with the fields that it shares with issues and with its current head. */
function pullOf({ issues, tipOf }: State, pull: Pull) {
  const { title = '', body = '', state = 'open' } = issues.get(pull.number) ?? {};
  const head = pull.branch === undefined || pull.merged ? pull.head : tipOf(pull.branch);
  return { ...pull, title, body, state, head };
}

function pullToWire(state: State, pull: Pull): object {
  const { number, title, body, head, base, merged, mergeCommit = null, ...rest } = pullOf(state, pull);
  return {
    ...{ number, title, body: body === '' ? null : body, state: merged ? 'closed' : rest.state },
    merged_at: merged ? '2026-01-02T00:00:00Z' : null,
    merge_commit_sha: mergeCommit,
    head: { ref: rest.branch ?? `change-${number}`, sha: head },
    base: { ref: base },
  };
}

function showBranch({ branches }: State, name: string): Reply {
  const sha = branches.get(name);
  return sha === undefined ? NOT_FOUND : { status: 200, body: { object: { sha, type: 'commit' } } };
}

function showTree({ trees }: State, sha: string, { url }: Call): Reply {
  if (url.searchParams.get('recursive') === null) return NOT_FOUND;
  const tree = (trees.get(sha) ?? []).map((line) => {
    const [, mode, type, id, path] = /^(\S+) (\S+) (\S+)\t(.*)$/.exec(line) ?? [];
    return { path, mode, type, sha: id };
  });
  return { status: 200, body: { sha, tree, truncated: false } };
}

function askViewer({ as }: State): Reply {
  return { status: 200, body: { data: { viewer: { login: as.login } } } };
}

/** Returns one page of a list, with GitHub's link to the next page. */
function pageOf(items: readonly object[], url: URL): Reply {
  const numberIn = (name: string, otherwise: number): number => Number(url.searchParams.get(name) ?? otherwise);
  const [size, page] = [Math.min(100, numberIn('per_page', 30)), numberIn('page', 1)];
  const next = new URL(url);
  next.searchParams.set('page', String(page + 1));
  const headers = page * size < items.length ? { link: `<${next.href}>; rel="next"` } : {};
  return { status: 200, headers, body: items.slice((page - 1) * size, page * size) };
}
