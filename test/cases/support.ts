import { expect } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { StoredVersion } from '../../src/embedded/prompt-store.ts';
import type { ReportChange, ReportPrompt } from '../../src/report/schema/report-schema.ts';
import { commitEdits, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { handOn, startFront, type Front, type FrontAnswer, type FrontRequest } from '../support/front.ts';
import { CONFIG, promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { runJson, type Reported } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const PROMPT = 'prm_greeting';
export const PATH = 'prompts/greeting.md';
const COUNTING = 'an environment that only the tests use to count versions';

/** The story of one prompt: commits, changes that somebody makes in the service, and runs of promptsync in between. */
export type Story = Awaited<ReturnType<typeof makeStory>>;

type StoryOptions = {
  readonly config?: string;
};

/** Makes a repository whose first commit contains the prompt file, and a service before the first sync. */
export function startStory(first: PromptParts, options: StoryOptions = {}): Promise<Story> {
  const folder = makeRepository(workspaceFiles({ greeting: first }, options.config ?? CONFIG));
  return makeStory(folder, () => void commitEdits(folder, 'Edit'), first);
}

/** Makes the same in a folder that is not a repository. This is twice as fast, for stories that do not depend on git. */
export function startStoryOutsideGit(first: PromptParts, options: StoryOptions = {}): Promise<Story> {
  const folder = makeWorkspace(workspaceFiles({ greeting: first }, options.config ?? CONFIG));
  return makeStory(folder, () => {}, first);
}

async function makeStory(folder: string, commit: () => void, first: PromptParts) {
  const service = await startTestService(['greeting']);
  const { store } = service;
  let parts = first;
  let baseUrl = service.baseUrl;

  const sleep = async (_: number, stop: AbortSignal): Promise<void> => stop.throwIfAborted();
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
    /** Changes these parts of the prompt file, and commits the file if there is a repository. */
    edit: (changed: PromptParts) => {
      parts = { ...parts, ...changed };
      writeFiles(folder, { [PATH]: promptText('greeting', parts) });
      commit();
    },
    /** Runs `sync --yes` with further arguments. */
    sync: (...words: readonly string[]) => runWith('sync', '--yes', ...words),
    plan: (...words: readonly string[]) => runWith('plan', ...words),
    /** Adds a version to the service without promptsync. Returns its id. */
    draft: (content: string, metadata?: JsonObject) => store.createVersion(PROMPT, { content, metadata })!.id,
    /** Returns the active version of an environment, such as `v2 B`, or `nothing`. */
    serves: (environment: string) => describeVersion(active(environment)),
    /** Returns the number of versions, including foreign ones. */
    versions: (): number => {
      const latest = store.readPrompt(PROMPT)!.latest_version_id;
      if (latest === null) return 0;
      activate(COUNTING, latest);
      return active(COUNTING)!.version_number;
    },
    /** Sends all further requests through a front with this fault. */
    through: async (fault: Fault): Promise<Front> => {
      const { baseUrl: target } = service;
      const forward: Forward = (request) => handOn(request, target);
      const front = await startFront({ target, answer: (request) => fault(request, forward) });
      baseUrl = front.baseUrl;
      return front;
    },
    /** Sends all further requests directly to the service. */
    directly: () => {
      baseUrl = service.baseUrl;
    },
  };
}

function describeVersion(version: StoredVersion | null): string {
  return version === null ? 'nothing' : `v${version.version_number} ${version.content}`;
}

/** Formats a run in one line: exit code, status of the prompt, status of each change, and all problem codes. */
export function summarizeRun({ exitCode, report }: Reported): string {
  const prompts = report.prompts.map(summarizePrompt);
  const codes = report.problems.map(({ code }) => code);
  return [`exit ${exitCode}`, ...prompts, ...codes].join(', ');
}

function summarizePrompt({ status, changes, problems }: ReportPrompt): string {
  return [status, ...changes.map(summarizeChange), ...problems.map(({ code }) => code)].join(', ');
}

/** A change without a status was only planned. */
function summarizeChange(change: ReportChange): string {
  const kinds = { 'create-version': 'create', 'update-prompt': 'update' } as const;
  const what = change.kind === 'set-active' ? change.environment : kinds[change.kind];
  return change.status === undefined ? what : `${what} ${change.status}`;
}

/** Expects that the next dry run has an empty plan. */
export async function expectInSync({ plan }: Story): Promise<void> {
  expect(summarizeRun(await plan('--exit-code'))).toBe('exit 0, unchanged');
}

/** Expects that the next sync writes nothing, not even to the probe environment. */
export async function expectNoWrites({ sync, service }: Story): Promise<void> {
  service.takeWrites();
  expect(summarizeRun(await sync())).toBe('exit 0, unchanged');
  expect(service.takeWrites()).toEqual([]);
}

/** Forwards a request to the service and returns its answer. */
type Forward = (request: FrontRequest) => Promise<FrontAnswer>;

/** Answers a request in place of the service. `null` forwards the request unchanged; an exception cuts the connection. */
export type Fault = (request: FrontRequest, forward: Forward) => Promise<FrontAnswer | null>;

export type RequestFilter = (request: FrontRequest) => boolean;

export const isCreate: RequestFilter = ({ method, path }) => method === 'POST' && path.endsWith('/versions');

export function isReadOf(environment: string): RequestFilter {
  return ({ method, path }) => method === 'GET' && path.endsWith(`?environment=${encodeURIComponent(environment)}`);
}

export function isActivationOf(environment: string): RequestFilter {
  return ({ path, body }) => path.endsWith('/set-active') && bodyOf(body)['environment'] === environment;
}

/** Limits a fault to the requests that match, and with `numbers` to those matches only (counted from 1). */
export function faultOn(matches: RequestFilter, fault: Fault, ...numbers: readonly number[]): Fault {
  let met = 0;
  return async (request, forward) => {
    if (!matches(request)) return null;
    met += 1;
    return numbers.length === 0 || numbers.includes(met) ? fault(request, forward) : null;
  };
}

/** Cuts the connection after the service has handled the request. */
export const cutAfter: Fault = async (request, forward) => {
  await forward(request);
  throw new Error('cut');
};

/** Changes the body of each answer, to imitate a service that answers differently from the embedded one. */
export function changeAnswers(change: (body: string) => string): Fault {
  return async (request, forward) => {
    const answer = await forward(request);
    return { ...answer, body: change(answer.body) };
  };
}

/** Renumbers versions to 100, 110, 120, …, because the interface does not define how versions are numbered. */
export function renumberVersions(body: string): string {
  return body.replaceAll(/"version_number":(\d+)/g, (_, number) => `"version_number":${90 + 10 * Number(number)}`);
}

/** The body of a create-version call. */
export type Sent = { readonly content: string; readonly metadata_?: unknown };

function bodyOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? { ...body } : {};
}
