import { onTestFinished, vi } from 'vitest';
import { connectGitHub, type GitHub } from '../../../src/forges/github/github-client.ts';
import {
  readInputs,
  type AnnotationKind,
  type AnnotationPlace,
  type Inputs,
  type Runner,
} from '../../../src/forges/github/action-runner.ts';
import { ProblemError, toProblem } from '../../../src/problem.ts';
import type { ReportProblem } from '../../../src/report/schema/report-schema.ts';
import type { GitHubDouble, Person } from '../../support/github-api.ts';

/** Makes a runner in memory that records its annotations. */
export function makeRunner(inputs: Readonly<Record<string, string>> = {}) {
  const annotations: { readonly kind: AnnotationKind; readonly text: string; readonly place: AnnotationPlace }[] = [];
  return {
    annotations,
    getInput: (name) => inputs[name] ?? '',
    setOutput: () => {},
    setSecret: () => {},
    annotate: (kind, text, place) => void annotations.push({ kind, text, place }),
    writeSummary: () => Promise.resolve(),
  } satisfies Runner & { readonly annotations: object };
}

export function inputsOf(inputs: Readonly<Record<string, string>> = {}): Inputs {
  return readInputs(makeRunner(inputs), { keep: () => {} });
}

/** The head repository, the author and the base branch of a pull request. */
export type PullOptions = {
  /** Null if the fork was deleted. */
  readonly repository?: string | null;
  readonly by?: string;
  /** The base branch. The default is main. */
  readonly into?: string;
};

/** The `repository` field of event payloads. The payloads contain only the fields that the action reads. */
const HOME = { full_name: 'acme/prompts', default_branch: 'main' };

export function pullEvent(number: number, head: string, base: string, from: PullOptions = {}): object {
  const { repository = HOME.full_name, by = 'ada', into = 'main' } = from;
  return {
    action: 'synchronize',
    number,
    pull_request: {
      number,
      head: { sha: head, ref: 'change', repo: repository === null ? null : { full_name: repository } },
      base: { sha: base, ref: into, repo: { full_name: HOME.full_name } },
      user: { login: by },
    },
    repository: HOME,
    sender: { login: by },
  };
}

export function pushEvent(after: string, before = '0'.repeat(40)): object {
  return { ref: 'refs/heads/main', before, after, repository: HOME, sender: { login: 'ada' } };
}

export function scheduleEvent(): object {
  return { schedule: '0 6 * * *', repository: HOME };
}

export const ADA: Person = { login: 'ada', type: 'User' };
export function connectTo({ apiUrl, token }: Pick<GitHubDouble, 'apiUrl' | 'token'>, now = Date.now): GitHub {
  return connectGitHub(token, { now, environment: { GITHUB_API_URL: apiUrl, GITHUB_REPOSITORY: 'acme/prompts' } });
}

/**
 * Replaces `AbortSignal.timeout` with deadlines that pass only when a test calls `pass`. `now` returns the sum of the
 * deadlines that have passed, and `granted` lists all deadlines in milliseconds.
 */
export function holdDeadlines() {
  const [granted, waiting]: [number[], (() => void)[]] = [[], []];
  let clock = 0;
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
    const controller = new AbortController();
    granted.push(milliseconds);
    waiting.push(() => {
      clock += milliseconds;
      controller.abort();
    });
    return controller.signal;
  });
  onTestFinished(() => void vi.restoreAllMocks());
  return { granted, now: () => clock, pass: () => waiting.at(-1)?.() };
}

/** Returns the result of a call, or the code and message of the problem that it throws. */
export function endOfCall(call: () => string): string {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const { code, message } = toProblem(error);
    return `${code}: ${message}`;
  }
}

export function problemOfKind(severity: ReportProblem['severity'], parts: Partial<ReportProblem> = {}): ReportProblem {
  return { code: 'prompt/any', severity, message: 'What happened.', hint: 'What to do.', ...parts };
}

/** Splits a comment into the sections of the environments. */
export function splitSections(body = ''): { readonly staging: string; readonly production: string } {
  const sections = body.replaceAll(/^<!-- .* -->\n/gm, '').split(/^#### (?=production|staging)/m);
  const find = (name: string) => sections.find((section) => section.startsWith(name)) ?? '';
  return { staging: find('staging'), production: find('production') };
}
