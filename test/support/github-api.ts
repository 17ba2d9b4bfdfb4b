import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  addComment,
  addIssue,
  addPull,
  answerCall,
  commentsOf,
  makeState,
  refuse,
  type Call,
  type GitHubComment,
  type GitHubIssue,
  type Identity,
  type NewIssue,
  type Person,
  type Pull,
  type Reply,
  type State,
} from './github-state.ts';

export type { GitHubComment, GitHubIssue, Person } from './github-state.ts';

/** It must never be seen in any output. */
export const TOKEN = 'ghs_5eCre7token0123456789';

/** What a job's own token acts as. */
export const ACTIONS_BOT: Person = { login: 'github-actions[bot]', type: 'Bot' };

const BODY_LIMIT = 4 * 1024 * 1024;

export type GitHubRequest = {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** The JSON value, the text where it is none, undefined where nothing was sent. */
  readonly body: unknown;
  readonly authorization: string | undefined;
};

export type Failure =
  /** Answered so and not carried out. A body that is a string is sent as it stands, any other as JSON. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  /** Carried out, then the connection ends without an answer. */
  | 'lost-answer'
  /** Not carried out: the connection ends without an answer. */
  | 'reset';

export type FailureMatch = { readonly method?: string; readonly path: RegExp };

export type GitHubDouble = {
  /** Without a slash at its end; GraphQL is at `/graphql` of it. */
  readonly apiUrl: string;
  readonly token: string;
  /** Each request so far. */
  readonly requests: GitHubRequest[];
  readonly comments: (issue: number) => readonly GitHubComment[];
  /** In order of creation, without pull requests. */
  readonly issues: () => readonly GitHubIssue[];
  /** By the token's own person unless another is given. The issue may be unknown as yet. */
  readonly addComment: (issue: number, comment: { readonly body: string; readonly user?: Person }) => number;
  /** By the token's own person unless another is given; returns its number. */
  readonly addIssue: (issue: NewIssue) => number;
  /** Called again for the same number, it replaces what was said of it. */
  readonly addPull: (pull: Pull) => void;
  readonly setBranch: (name: string, sha: string) => void;
  /** The next `times` requests that match, one by default, get this instead; what was asked for first comes first. */
  readonly fail: (match: FailureMatch, failure: Failure, times?: number) => void;
};

export type GitHubOptions = {
  readonly repository?: string;
  readonly as?: Person;
  readonly identity?: Identity;
};

type PlannedFailure = { readonly match: FailureMatch; readonly failure: Failure; left: number };
type Session = { readonly state: State; readonly requests: GitHubRequest[]; readonly failures: PlannedFailure[] };

/** Stands in for GitHub's REST API, because what a client does with lost answers and limits is seen on the wire alone. */
export async function startGitHub(options: GitHubOptions = {}): Promise<GitHubDouble> {
  const { repository = 'acme/prompts', as = ACTIONS_BOT, identity = 'graphql' } = options;
  const session: Session = { state: makeState({ repository, as, identity }), requests: [], failures: [] };
  const server = createServer((request, response) => {
    respond(request, response, session).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => close(server));
  const { port } = server.address() as AddressInfo;
  return { apiUrl: `http://127.0.0.1:${port}`, token: TOKEN, requests: session.requests, ...makeControls(session) };
}

function makeControls({ state, failures }: Session): Omit<GitHubDouble, 'apiUrl' | 'token' | 'requests'> {
  return {
    comments: (issue) => commentsOf(state, issue).map(({ id, body, user }) => ({ id, body, user })),
    issues: () => [...state.issues.values()].filter(({ number }) => !state.pulls.has(number)).map(withoutDates),
    addComment: (issue, { body, user }) => addComment(state, issue, body, user).id,
    addIssue: (issue) => addIssue(state, issue).number,
    addPull: (pull) => addPull(state, pull),
    setBranch: (name, sha) => void state.branches.set(name, sha),
    fail: (match, failure, times = 1) => void failures.push({ match, failure, left: times }),
  };
}

function withoutDates({ number, title, body, state, state_reason, user }: GitHubIssue): GitHubIssue {
  return { number, title, body, state, state_reason, user };
}

async function respond(incoming: IncomingMessage, response: ServerResponse, session: Session): Promise<void> {
  const text = await readText(incoming);
  const { method = '', url: path = '' } = incoming;
  const { authorization } = incoming.headers;
  const body = text === null ? undefined : parseJson(text);
  const number = session.requests.push({ method, path, body, authorization });
  const failure = takeFailure(session.failures, method, path);
  if (failure === 'reset') return void incoming.socket.destroy();
  if (typeof failure === 'object') return send(response, number, fromFailure(failure));
  const call = { method, url: new URL(path, `http://${incoming.headers.host}`), body };
  const reply = text === null ? refuse(413, 'Payload Too Large') : answerWithToken(session.state, call, authorization);
  if (failure === 'lost-answer') return void incoming.socket.destroy();
  send(response, number, reply);
}

/** Null where it is beyond the limit; all is received, because a client that is still sending reads no answer. */
async function readText(incoming: IncomingMessage): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size <= BODY_LIMIT) chunks.push(chunk);
  }
  return size > BODY_LIMIT ? null : Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function takeFailure(failures: readonly PlannedFailure[], method: string, path: string): Failure | undefined {
  const planned = failures.find(
    ({ match, left }) =>
      left > 0 && (match.method === undefined || match.method === method) && path.search(match.path) !== -1,
  );
  if (planned === undefined) return undefined;
  planned.left -= 1;
  return planned.failure;
}

function fromFailure({ status, headers = {}, body }: Exclude<Failure, string>): Reply {
  return { status, headers, body: body ?? { message: STATUS_CODES[status] ?? 'Unknown' } };
}

function answerWithToken(state: State, call: Call, authorization = ''): Reply {
  const given = /^(?:token|bearer) +(.+)$/i.exec(authorization)?.[1];
  return given === TOKEN ? answerCall(state, call) : refuse(401, 'Bad credentials');
}

function send(response: ServerResponse, number: number, { status, headers, body }: Reply): void {
  const id = `0400:${number.toString(16).toUpperCase().padStart(4, '0')}`;
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'x-github-request-id': id,
    ...headers,
  });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Connections that are kept alive would hold a plain close for seconds. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
