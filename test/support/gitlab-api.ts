import { z } from 'zod';
import {
  listenToApi,
  type ApiRequest,
  type Failing,
  type Failure,
  type FailureMatch,
  type Reply,
} from './github-api.ts';

/** The token of the GitLab double. No output may contain it. */
export const TOKEN = 'glpat-5eCre7token0123456789';

/** The ids of the token's user and of another user. */
export const BOT = 4242;
export const ADA = 7;

/** The ids of the project of the merge requests and of a fork. */
export const PROJECT = 42;
export const FORK = 43;

export type GitLabNote = {
  readonly id: number;
  readonly body: string;
  /** The id of the author. */
  readonly author: number;
  /** Whether GitLab hides the note from this token. A hidden note still takes a place on its page. */
  readonly hidden: boolean;
};

export type GitLabMergeRequest = {
  readonly iid: number;
  readonly state: 'opened' | 'closed' | 'merged';
  readonly source_branch?: string;
  /** The default is main. */
  readonly target_branch?: string;
  /** The commits of the merge request, the newest last. */
  readonly commits?: readonly string[];
  readonly merge_commit_sha?: string | null;
  readonly squash_commit_sha?: string | null;
};

type State = Failing & {
  readonly notes: Map<number, GitLabNote & { readonly iid: number }>;
  readonly requests: Map<number, GitLabMergeRequest>;
  /** The quick actions that notes triggered, such as `/merge`. */
  readonly actions: string[];
};

const ROOT = '/api/v4';

/** Starts a double of GitLab's REST API, written from its public documentation. */
export async function startGitLab() {
  const state: State = { notes: new Map(), requests: new Map(), actions: [], failures: [] };
  const requests: ApiRequest[] = [];
  const url = await listenToApi(state, requests, (request, headers) => {
    return headers['private-token'] === TOKEN ? answer(state, request) : UNKNOWN;
  });
  return {
    apiUrl: url + ROOT,
    token: TOKEN,
    /** All requests so far. */
    requests,
    /** Returns the write requests, such as `POST /projects/42/merge_requests/1/notes`. */
    writes: () => {
      return requests.flatMap(({ method, path }) => (method === 'GET' ? [] : [`${method} ${path.replace(ROOT, '')}`]));
    },
    actions: state.actions,
    /** Returns the notes that the token may see, the oldest first. */
    notes: (iid: number) => [...state.notes.values()].filter((note) => note.iid === iid && !note.hidden),
    /** Adds a note, by default as the user of the token. */
    addNote: (iid: number, note: Partial<GitLabNote> & { readonly body: string }) => void addNote(state, iid, note),
    /** Adds a merge request, or replaces the one with the same number. */
    addMergeRequest: (request: GitLabMergeRequest) => void state.requests.set(request.iid, request),
    /** Fails the next `times` matching requests. Earlier planned failures come first. */
    fail: (match: FailureMatch, failure: Failure, times = 1) =>
      void state.failures.push({ match, failure, left: times }),
    /** Returns the variables of a job in a merge request pipeline. */
    mergeRequestVariables: (iid: number, project = PROJECT) => ({
      ...variablesOf(url),
      CI_PIPELINE_SOURCE: 'merge_request_event',
      CI_PROJECT_ID: `${project}`,
      CI_MERGE_REQUEST_IID: `${iid}`,
      CI_MERGE_REQUEST_PROJECT_ID: `${PROJECT}`,
      CI_MERGE_REQUEST_PROJECT_URL: `${url}/acme/prompts`,
    }),
    /** Returns the variables of a job in a branch pipeline. */
    branchVariables: (commit: string, branch = 'main') => ({
      ...variablesOf(url),
      ...{ CI_PIPELINE_SOURCE: 'push', CI_PROJECT_ID: `${PROJECT}`, CI_COMMIT_BRANCH: branch, CI_COMMIT_SHA: commit },
      CI_DEFAULT_BRANCH: 'main',
    }),
  };
}

function variablesOf(url: string) {
  const job = `${url}/acme/prompts/-/jobs/1`;
  return { CI: 'true', GITLAB_CI: 'true', CI_API_V4_URL: url + ROOT, CI_JOB_URL: job, GITLAB_TOKEN: TOKEN };
}

function addNote(state: State, iid: number, { body, author = BOT, hidden = false }: Partial<GitLabNote>): GitLabNote {
  const note = { id: 5_001 + state.notes.size, iid, body: takeActions(state, body ?? ''), author, hidden };
  state.notes.set(note.id, note);
  return note;
}

/** Records and removes quick actions, even inside a code fence, which is stricter than GitLab. Trims the end. */
function takeActions({ actions }: State, body: string): string {
  const left = body.replaceAll('\r', '').replace(/^[^\S\n]*(\/[a-z]\w*).*\n?/gim, (_, action: string) => {
    actions.push(action);
    return '';
  });
  return left.trimEnd();
}

const NOTES = `${ROOT}/projects/${PROJECT}/merge_requests/`;
const UNKNOWN: Reply = { status: 401, body: { message: '401 Unauthorized' } };
const NOT_FOUND: Reply = { status: 404, body: { message: '404 Not found' } };
const FORBIDDEN: Reply = { status: 403, body: { message: '403 Forbidden' } };

function answer(state: State, { method, path, body }: ApiRequest): Reply {
  const url = new URL(path, 'http://gitlab');
  if (method === 'GET' && url.pathname === `${ROOT}/user`) return { status: 200, body: { id: BOT } };
  const commit = /^\/api\/v4\/projects\/42\/repository\/commits\/([0-9a-f]+)\/merge_requests$/.exec(url.pathname)?.[1];
  if (method === 'GET' && commit !== undefined) return listOfCommit(state, commit, url);
  const [iid, rest = '', id] = /^(\d+)\/(notes)(?:\/(\d+))?$/.exec(url.pathname.replace(NOTES, ''))?.slice(1) ?? [];
  if (rest === '' || !state.requests.has(Number(iid))) return NOT_FOUND;
  if (method === 'GET') return listNotes(state, Number(iid), url);
  const sent = z.object({ body: z.string().min(1) }).safeParse(body);
  // GitLab counts code points, so an emoji counts as one character.
  if (!sent.success || [...sent.data.body].length > 1_000_000)
    return { status: 400, body: { message: 'Note is too long' } };
  if (method === 'POST' && id === undefined) {
    return { status: 201, body: noteToWire(addNote(state, Number(iid), sent.data)) };
  }
  return method === 'PUT' ? editNote(state, Number(id), sent.data.body) : NOT_FOUND;
}

function editNote(state: State, id: number, body: string): Reply {
  const note = state.notes.get(id);
  if (note === undefined) return NOT_FOUND;
  if (note.author !== BOT) return FORBIDDEN;
  const edited = { ...note, body: takeActions(state, body) };
  state.notes.set(id, edited);
  return { status: 200, body: noteToWire(edited) };
}

function noteToWire({ id, body, author }: GitLabNote): object {
  return { id, body, author: { id: author } };
}

function listNotes({ notes }: State, iid: number, url: URL): Reply {
  const all = [...notes.values()].filter((note) => note.iid === iid);
  const { body, ...page } = pageOf(url.searchParams.get('sort') === 'asc' ? all : all.toReversed(), url);
  return { ...page, body: body.filter(({ hidden }) => !hidden).map(noteToWire) };
}

function listOfCommit({ requests }: State, commit: string, url: URL): Reply {
  const all = [...requests.values()].toReversed().filter(({ commits = [], ...one }) => {
    return [...commits, one.merge_commit_sha, one.squash_commit_sha].includes(commit);
  });
  const { body, ...page } = pageOf(all, url);
  return { ...page, body: body.map(mergeRequestToWire) };
}

function mergeRequestToWire({ commits = [], ...request }: GitLabMergeRequest): object {
  const { iid, source_branch: source = `change-${iid}`, target_branch: target = 'main' } = request;
  return {
    ...{ merge_commit_sha: null, squash_commit_sha: null, ...request, source_branch: source, target_branch: target },
    ...{ id: 900 + iid, project_id: PROJECT, sha: commits.at(-1) ?? null },
    web_url: `https://gitlab.example/acme/prompts/-/merge_requests/${iid}`,
  };
}

/** Returns one page of a list. A header has the number of the next page and is empty on the last page. */
function pageOf<Item>(items: readonly Item[], url: URL) {
  const numberIn = (name: string, otherwise: number): number => Number(url.searchParams.get(name) ?? otherwise);
  const [size, page] = [Math.min(100, numberIn('per_page', 20)), numberIn('page', 1)];
  const next = page * size < items.length ? `${page + 1}` : '';
  return { status: 200, headers: { 'x-next-page': next }, body: items.slice((page - 1) * size, page * size) };
}
