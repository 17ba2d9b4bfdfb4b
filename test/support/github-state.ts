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
