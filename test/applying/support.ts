import { applyPlan } from '../../src/applying/apply-plan.ts';
import { observeRequests } from '../../src/commands/preparing/observe-files.ts';
import type { PromptOutcome } from '../../src/domain/outcome.ts';
import type { Plan, Provenance } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { PromptService } from '../../src/domain/prompt-service.ts';
import type { LedgerEntry } from '../../src/domain/version.ts';
import { contentDigest } from '../../src/domain/digest.ts';
import { observePrompt } from '../../src/observing/observe-prompt.ts';
import { observe } from '../../src/observing/observe.ts';
import { refuse, refuseAfresh, type Guards } from '../../src/planning/refuse.ts';
import { makePlan, planPrompt } from '../../src/planning/make-plan.ts';
import { promptWithProvenance, withProvenance } from '../../src/planning/with-provenance.ts';
import { stampToWire } from '../../src/service/stamp.ts';
import type { Backend } from '../doubles/backends.ts';
import { recorded, type Hooks, type RecordedService } from '../doubles/recorded.ts';
import { rules, version, type RulesParts } from '../planning/support.ts';

export type SyncParts = RulesParts & {
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
  const { hooks = {}, provenance = new Map(), stop = new AbortController().signal, concurrency = 1, ...more } = parts;
  const {
    onApplied = () => {},
    guards: someGuards,
    inGit = {},
    onWait = () => {},
    onObserve = () => {},
    ...ruleParts
  } = more;
  const given = rules(ruleParts);
  const guards = { ...NO_GUARDS, ...someGuards };
  const { trackingEnvironment } = given;
  const observing = { trackingEnvironment, concurrency: 4, stop: new AbortController().signal };
  const requests = observeRequests(files, given);
  const observation = await observe(service, requests, observing);
  const plan = refuse(withProvenance(makePlan(files, observation, given), provenance), guards);
  const spy = recorded(service, hooks);
  const outcomes = await applyPlan(plan, {
    service: spy,
    trackingEnvironment,
    concurrency,
    newOperation: () => `op_${++operations}`,
    observe: async (_stoppable, { file: { id } }) => {
      await onObserve();
      return observePrompt(
        service,
        requests.find(({ promptId }) => promptId === id)!,
        trackingEnvironment,
      );
    },
    replan: async (planned, observed) =>
      refuseAfresh(promptWithProvenance(planPrompt(planned.file, observed, given), provenance), planned, guards),
    digestAt: async (commit, path) => {
      const text = inGit[`${commit}:${path}`];
      return text === undefined ? null : contentDigest(text);
    },
    sleep: async (milliseconds) => {
      await onWait(milliseconds);
      if (stop.aborted) throw stop.reason;
    },
    stop,
    onApplied,
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
