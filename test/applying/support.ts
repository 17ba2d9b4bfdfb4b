import { applyPlan } from '../../src/applying/apply-plan.ts';
import { digested } from '../../src/domain/digest.ts';
import type { Plan, PromptOutcome, Provenance } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { PromptService } from '../../src/service/prompt-service.ts';
import type { Provider } from '../../src/domain/provider.ts';
import { ledgerProvider } from '../../src/ledger/provider.ts';
import { stampToWire, type LedgerEntry } from '../../src/ledger/stamp.ts';
import { observe, wantedOf } from '../../src/observing/observe.ts';
import { guard, guardAfresh, type Guards } from '../../src/planning/guard.ts';
import { inMemoryBackend, type Backend } from '../doubles/backends.ts';
import { recorded, untilStopped, type Hooks, type RecordedService } from '../doubles/recorded.ts';
import { file, makePlan, planPrompt, rules, TRACKING, version, type RulesParts } from '../planning/support.ts';

export type SyncParts = Omit<RulesParts, 'provenance'> & {
  /** Around the calls that apply the plan; observing, before it and once more, is left alone. */
  readonly hooks?: Hooks;
  readonly provenance?: ReadonlyMap<string, Provenance>;
  readonly guards?: Partial<Guards>;
  /** What git has, by `commit:path`. */
  readonly inGit?: Readonly<Record<string, string>>;
  /** Called with each wait, which takes no time. */
  readonly onWait?: (milliseconds: number) => void | Promise<void>;
  /** Called before a prompt is observed once more, right before its first write. */
  readonly onObserve?: () => void | Promise<void>;
  readonly stop?: AbortSignal;
  readonly concurrency?: number;
  readonly onApplied?: (outcome: PromptOutcome, done: number) => void;
};

export type Synced = {
  readonly plan: Plan;
  readonly outcomes: readonly PromptOutcome[];
  /** The calls that applied the plan. */
  readonly lines: readonly string[];
  readonly created: RecordedService['created'];
};

let operations = 0;

const NO_GUARDS: Guards = { onDrift: 'overwrite', maxChanges: null, expectedPlan: null, uncommitted: new Set() };

/** Observes, plans and applies, as the command `sync` does. */
export async function sync(
  service: PromptService,
  files: readonly PromptFile[],
  parts: SyncParts = {},
): Promise<Synced> {
  const { hooks = {}, stop = new AbortController().signal, concurrency = 1, ...more } = parts;
  const { onApplied = () => {}, guards: someGuards, inGit = {}, onWait, onObserve = () => {}, ...ruleParts } = more;
  const given = rules(ruleParts);
  const guards = { ...NO_GUARDS, ...someGuards };
  const wantedFor = (file: PromptFile) => wantedOf(file, given);
  const world = {
    trackingEnvironment: TRACKING,
    newOperation: () => `op_${++operations}`,
    textAt: async (commit: string, path: string) => {
      const text = inGit[`${commit}:${path}`];
      return text === undefined ? null : digested(text);
    },
    sleep: async (milliseconds: number) => {
      await onWait?.(milliseconds);
      if (stop.aborted) throw stop.reason;
    },
  };
  const quiet = ledgerProvider({ ...world, service });
  const observation = await observe(quiet, files.map(wantedFor), { concurrency: 4 });
  const plan = guard(makePlan(files, observation, given), guards);
  const spy = recorded(service, hooks);
  const stoppable = untilStopped(spy, stop);
  const provider: Provider = {
    observe: quiet.observe,
    list: null,
    begin: (wanted) => {
      let observing = false;
      const readPrompt: PromptService['readPrompt'] = (...sent) =>
        (observing ? service : stoppable).readPrompt(...sent);
      const writer = ledgerProvider({ ...world, service: { ...stoppable, readPrompt } }).begin(wanted);
      const observeQuietly = async () => {
        await onObserve();
        observing = true;
        return writer.observe().finally(() => (observing = false));
      };
      return { ...writer, observe: observeQuietly };
    },
  };
  const outcomes = await applyPlan(plan, provider, {
    ...{ concurrency, stop, onApplied, isReviewed: guards.expectedPlan !== null },
    wantedFor: ({ file }) => wantedFor(file),
    planAgain: async (planned, seen) => guardAfresh(planPrompt(planned.file, seen, given), planned, guards),
  });
  return { plan, outcomes, lines: spy.lines, created: spy.created };
}

/** Status, the status of each change, and the codes of the problems. */
export function outcomeLine({ status, changes, problems }: PromptOutcome): string {
  const codes = problems.map(({ code }) => code);
  return [`${status}:`, ...changes.map((change) => change.status), ...codes].join(' ');
}

/** Adds a version of p1 as the tool would have made it, its stamp speaking of its own text. */
export function addOwn(service: Backend, text: string, ledger: readonly LedgerEntry[] = []): string {
  const stamp = { ...version(1, text).stamp!, ledger };
  return service.addVersion('p1', { text, metadata: { promptsync: stampToWire(stamp) } });
}

/** A service in which the text One was synced to staging. */
export async function begun(start: () => Promise<Backend> | Backend = inMemoryBackend): Promise<Backend> {
  const service = await start();
  await sync(service, [file({ text: 'One', pins: { staging: 'latest' } })]);
  return service;
}

/**
 * Calls for p1 in short: `look ver_1` sets the look environment and reads it, `track ver_1` the tracking environment,
 * `staging ver_1` another one. What is not read right after it was set stays as it is.
 */
export function brief(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line, at) => {
    const [, environment = '', id] = /^set p1 (\S+) (\S+)$/.exec(line) ?? [];
    if (lines[at + 1] === `read p1 ${environment}`) {
      return [`${{ [TRACKING]: 'track', [`${TRACKING}-look`]: 'look' }[environment] ?? environment} ${id}`];
    }
    const [, before] = /^set p1 (\S+)/.exec(lines[at - 1] ?? '') ?? [];
    return line === `read p1 ${before}` ? [] : [line.replace('create p1 ', 'create ')];
  });
}
