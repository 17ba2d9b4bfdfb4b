import { expect } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { StoredVersion } from '../../src/embedded/store.ts';
import type { ReportChange, ReportPrompt } from '../../src/report/schema.ts';
import { commitEdits, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { handOn, startFront, type Front, type FrontAnswer, type FrontRequest } from '../support/front.ts';
import { CONFIG, promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { runJson, type Reported } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const PROMPT = 'prm_greeting';
export const PATH = 'prompts/greeting.md';
const COUNTING = 'counting, an environment of the tests';

/** One prompt's story: what people commit, what others do in the service, and what the runs in between bring about. */
export type Story = Awaited<ReturnType<typeof tell>>;

export type StoryOptions = {
  readonly config?: string;
  /** Called when a run begins to wait, with how many times the runs have done so. */
  readonly onWait?: (times: number) => void | Promise<void>;
};

/** A repository with the prompt's file in its first commit, and the service before the first sync. */
export function begin(first: PromptParts, options: StoryOptions = {}): Promise<Story> {
  const folder = makeRepository(workspaceFiles({ greeting: first }, options.config ?? CONFIG));
  return tell(folder, () => void commitEdits(folder, 'Edit'), first, options);
}

/** The same in a folder that is no repository: for stories of the service, which git has no part in. Twice as quick. */
export function beginOutsideGit(first: PromptParts, options: StoryOptions = {}): Promise<Story> {
  const folder = makeWorkspace(workspaceFiles({ greeting: first }, options.config ?? CONFIG));
  return tell(folder, () => {}, first, options);
}

async function tell(folder: string, commit: () => void, first: PromptParts, options: StoryOptions) {
  const service = await startTestService(['greeting']);
  const { store } = service;
  let waits = 0;
  let parts = first;
  let baseUrl = service.baseUrl;

  const sleep = async (_: number, stop: AbortSignal): Promise<void> => {
    waits += 1;
    await options.onWait?.(waits);
    stop.throwIfAborted();
  };
  const runWith = (...words: readonly string[]): Promise<Reported> => {
    const environment = { ...service.environment, PROMPTSYNC_BASE_URL: baseUrl };
    return runJson(folder, words, { environment, sleep });
  };
  const activate = (environment: string, versionId: string): void => {
    expect(store.setActive(PROMPT, { environment, versionId })).toBe(true);
  };
  const active = (environment: string) => store.readPrompt(PROMPT, environment)?.active_version ?? null;
  return {
    folder,
    service,
    activate,
    active,
    /** Changes these parts of the prompt's file, and commits it where there is a repository. */
    edit: (changed: PromptParts) => {
      parts = { ...parts, ...changed };
      writeFiles(folder, { [PATH]: promptText('greeting', parts) });
      commit();
    },
    /** `sync --yes` with further words. */
    sync: (...words: readonly string[]) => runWith('sync', '--yes', ...words),
    plan: (...words: readonly string[]) => runWith('plan', ...words),
    /** Somebody makes a version in the service; its id. */
    draft: (content: string, metadata?: JsonObject) => store.createVersion(PROMPT, { content, metadata })!.id,
    /** Such as `v2 B`; `nothing` where none is active. */
    serves: (environment: string) => describeVersion(active(environment)),
    /** How many versions there are, whoever made them. */
    versions: (): number => {
      const latest = store.readPrompt(PROMPT)!.latest_version_id;
      if (latest === null) return 0;
      activate(COUNTING, latest);
      return active(COUNTING)!.version_number;
    },
    /** From now on every request passes a front with this fault. */
    through: async (fault: Fault): Promise<Front> => {
      const { baseUrl: target } = service;
      const forward: Forward = (request) => handOn(request, target);
      const front = await startFront({ target, answer: (request) => fault(request, forward) });
      baseUrl = front.baseUrl;
      return front;
    },
    /** From now on requests reach the service directly. */
    directly: () => {
      baseUrl = service.baseUrl;
    },
  };
}

function describeVersion(version: StoredVersion | null): string {
  return version === null ? 'nothing' : `v${version.version_number} ${version.content}`;
}

/** A run in one line: exit code, the prompt's status, what became of each change, and the codes of all problems. */
export function told({ exitCode, report }: Reported): string {
  const prompts = report.prompts.map(promptLine);
  const codes = report.problems.map(({ code }) => code);
  return [`exit ${exitCode}`, ...prompts, ...codes].join(', ');
}

function promptLine({ status, changes, problems }: ReportPrompt): string {
  return [status, ...changes.map(changeWord), ...problems.map(({ code }) => code)].join(', ');
}

/** Where a change has no status it was only planned. */
function changeWord(change: ReportChange): string {
  const kinds = { 'create-version': 'create', 'update-prompt': 'update' } as const;
  const what = change.kind === 'set-active' ? change.environment : kinds[change.kind];
  return change.status === undefined ? what : `${what} ${change.status}`;
}

/** The next dry run is empty. */
export async function expectSettled({ plan }: Story): Promise<void> {
  expect(told(await plan('--exit-code'))).toBe('exit 0, unchanged');
}

/** The next sync writes nothing: it does not look at anything either. */
export async function expectNoWrites({ sync, service }: Story): Promise<void> {
  service.takeWrites();
  expect(told(await sync())).toBe('exit 0, unchanged');
  expect(service.takeWrites()).toEqual([]);
}

/** Hands a request on to the service, and returns its answer. */
export type Forward = (request: FrontRequest) => Promise<FrontAnswer>;

/** What a front does with a request: null hands it on as it is, and throwing cuts the connection. */
export type Fault = (request: FrontRequest, forward: Forward) => Promise<FrontAnswer | null>;

export type Matches = (request: FrontRequest) => boolean;

export const isCreate: Matches = ({ method, path }) => method === 'POST' && path.endsWith('/versions');

export function reads(environment: string): Matches {
  return ({ method, path }) => method === 'GET' && path.endsWith(`?environment=${encodeURIComponent(environment)}`);
}

export function activates(environment: string): Matches {
  return ({ path, body }) => path.endsWith('/set-active') && bodyOf(body)['environment'] === environment;
}

/** Does it to the requests that match, and with numbers given (from 1) only to those of them. */
export function on(matches: Matches, fault: Fault, ...numbers: readonly number[]): Fault {
  let met = 0;
  return async (request, forward) => {
    if (!matches(request)) return null;
    met += 1;
    return numbers.length === 0 || numbers.includes(met) ? fault(request, forward) : null;
  };
}

/** Cuts the connection; the service has never seen the request. */
export const cutBefore: Fault = () => Promise.reject(new Error('cut'));

/** Cuts the connection after the service has done what was asked. */
export const cutAfter: Fault = async (request, forward) => {
  await forward(request);
  throw new Error('cut');
};

/** The service keeps another version than was sent. */
export function keeps(change: (version: Sent) => Sent): Fault {
  return on(isCreate, async (request, forward) => {
    const { content, ...rest } = bodyOf(request.body);
    return forward({ ...request, body: change({ ...rest, content: String(content) }) });
  });
}

/** The service answers otherwise than the embedded one does. */
export function answers(change: (body: string) => string): Fault {
  return async (request, forward) => {
    const answer = await forward(request);
    return { ...answer, body: change(answer.body) };
  };
}

/** Versions are numbered 100, 110, 120, …: the interface does not say how they are. */
export function numberedOddly(body: string): string {
  return body.replaceAll(/"version_number":(\d+)/g, (_, number) => `"version_number":${90 + 10 * Number(number)}`);
}

/** The body of a create-version call. */
export type Sent = { readonly content: string; readonly metadata_?: unknown };

function bodyOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? { ...body } : {};
}
