import { applyPlan } from '../../src/applying/apply-plan.ts';
import { digestText } from '../../src/domain/content.ts';
import type { Plan, PromptOutcome } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { PromptService } from '../../src/providers/four-call/prompt-service.ts';
import type { Provider } from '../../src/providers/provider-interface.ts';
import { makeFourCallProvider } from '../../src/providers/four-call/provider.ts';
import { renderVersionRecord, type LedgerEntry } from '../../src/providers/four-call/version-record.ts';
import { observePrompts, makeReadRequest } from '../../src/observing/observe-prompts.ts';
import { guardPlan, guardFreshPlan, type GuardSettings } from '../../src/planning/guard-plan.ts';
import { inMemoryBackend, type Backend } from '../doubles/backends.ts';
import { recordCalls, rejectWhenStopped, type Hooks, type RecordedService } from '../doubles/record-calls.ts';
import {
  file,
  makePlan,
  parseVersion,
  planPrompt,
  rules,
  TRACKING,
  version,
  type RulesParts,
} from '../planning/support.ts';

export type SyncParts = RulesParts & {
  /** Hooks around the calls that apply the plan. Calls that observe the service do not trigger them. */
  readonly hooks?: Hooks;
  readonly guards?: Partial<GuardSettings>;
  /** The texts that git has, by `commit:path`. */
  readonly inGit?: Readonly<Record<string, string>>;
  /** Called for each wait. The test does not really wait. */
  readonly onWait?: (milliseconds: number) => void | Promise<void>;
  /** Called before a prompt is observed for the second time, right before its first write. */
  readonly onObserve?: () => void | Promise<void>;
  readonly stop?: AbortSignal;
  readonly concurrency?: number;
  readonly onApplied?: (outcome: PromptOutcome, done: number) => void;
};

export type SyncResult = {
  readonly plan: Plan;
  readonly outcomes: readonly PromptOutcome[];
  /** The calls that applied the plan. */
  readonly lines: readonly string[];
  readonly created: RecordedService['created'];
};

let operations = 0;

const NO_GUARDS: GuardSettings = { onDrift: 'overwrite', maxChanges: null, expectedPlan: null, uncommitted: new Set() };

/** Observes, plans and applies in the same way as the command `sync`. */
export async function sync(
  service: PromptService,
  files: readonly PromptFile[],
  parts: SyncParts = {},
): Promise<SyncResult> {
  const { hooks = {}, stop = new AbortController().signal, concurrency = 1, ...more } = parts;
  const { onApplied = () => {}, guards: someGuards, inGit = {}, onWait, onObserve = () => {}, ...ruleParts } = more;
  const given = rules(ruleParts);
  const guards = { ...NO_GUARDS, ...someGuards };
  const getReadRequest = (file: PromptFile) => makeReadRequest(file, given);
  const system = {
    newOperation: () => `op_${++operations}`,
    textAt: async (commit: string, path: string) => {
      const text = inGit[`${commit}:${path}`];
      return text === undefined ? null : digestText(text);
    },
    sleep: async (milliseconds: number) => {
      await onWait?.(milliseconds);
      if (stop.aborted) throw stop.reason;
    },
  };
  const quiet = makeFourCallProvider({ ...system, service });
  const observation = await observePrompts(quiet, files.map(getReadRequest), { concurrency: 4 });
  const plan = guardPlan(makePlan(files, observation, given), guards);
  const spy = recordCalls(service, hooks);
  const stoppable = rejectWhenStopped(spy, stop);
  const provider: Provider = {
    observe: quiet.observe,
    list: null,
    readServed: async () => null,
    makeWriter: (wanted) => {
      let observing = false;
      const readPrompt: PromptService['readPrompt'] = (...sent) =>
        (observing ? service : stoppable).readPrompt(...sent);
      const writer = makeFourCallProvider({ ...system, service: { ...stoppable, readPrompt } }).makeWriter(wanted);
      const observeQuietly = async () => {
        await onObserve();
        observing = true;
        return writer.observe().finally(() => (observing = false));
      };
      return { ...writer, observe: observeQuietly };
    },
  };
  const outcomes = await applyPlan(plan, provider, {
    ...{ concurrency, stop, onApplied, isReviewed: guards.expectedPlan !== null, pause: async () => {} },
    getReadRequest: ({ file }) => getReadRequest(file),
    planAgain: async (planned, seen) => guardFreshPlan(planPrompt(planned.file, seen, given), planned, guards),
  });
  return { plan, outcomes, lines: spy.lines, created: spy.created };
}

/** Formats an outcome as its status, the status of each change, and the problem codes. */
export function formatOutcome({ status, changes, problems }: PromptOutcome): string {
  const codes = problems.map(({ code }) => code);
  return [`${status}:`, ...changes.map((change) => change.status), ...codes].join(' ');
}

/** Adds a managed version of p1: its version record holds the digest of its own text. */
export function addManagedVersion(service: Backend, text: string, ledger: readonly LedgerEntry[] = []): string {
  const stamp = { ...version(1, text).record!, ledger };
  return service.addVersion('p1', { text, metadata: { promptsync: renderVersionRecord(stamp) } });
}

/**
 * Adds a version as another person or an interrupted run would leave it: `Two(1:One)` is a managed
 * version with a ledger, `~Two` a foreign one, and `qa=Two` is active in qa.
 */
export function leaveVersion(service: Backend, word: string): void {
  const [, environment, foreign, rest] = /^(?:(\w+)=)?(~?)(.*)$/.exec(word)!;
  const { content, record } = parseVersion(`${foreign}9:${rest}`)!;
  const id =
    record === null
      ? service.addVersion('p1', { text: content.text, metadata: content.metadata })
      : addManagedVersion(service, content.text, record.ledger);
  if (environment !== undefined) service.activate('p1', environment, id);
}

/** Starts a service and syncs the text One to staging. */
export async function startWithTextOne(start: () => Promise<Backend> | Backend = inMemoryBackend): Promise<Backend> {
  const service = await start();
  await sync(service, [file({ text: 'One', pins: { staging: 'latest' } })]);
  return service;
}

/**
 * Shortens the calls for p1. `look ver_1` sets the probe environment and reads it back, `track ver_1` does the same with
 * the tracking environment, and `staging ver_1` with staging. A set-active call without a read right after it is kept.
 */
export function shortenCalls(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line, at) => {
    const [, environment = '', id] = /^set p1 (\S+) (\S+)$/.exec(line) ?? [];
    if (lines[at + 1] === `read p1 ${environment}`) {
      return [`${{ [TRACKING]: 'track', [`${TRACKING}-look`]: 'look' }[environment] ?? environment} ${id}`];
    }
    const [, before] = /^set p1 (\S+)/.exec(lines[at - 1] ?? '') ?? [];
    return line === `read p1 ${before}` ? [] : [line.replace('create p1 ', 'create ')];
  });
}
