import { applyPlan } from '../../src/applying/apply-plan.ts';
import type { Plan, PromptOutcome } from '../../src/domain/plan.ts';
import { NO_PLANNING_HISTORY, type DesiredState, type PlanningHistory } from '../../src/domain/desired-state.ts';
import type { Observation } from '../../src/domain/observed-prompt.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { makeSuccess } from '../../src/domain/result.ts';
import { observePrompts, makeReadRequest } from '../../src/observing/observe-prompts.ts';
import { makePlan, planPrompt } from '../../src/planning/make-plan.ts';
import { guardPlan, guardFreshPlan, type GuardSettings } from '../../src/planning/guard-plan.ts';
import { ENVIRONMENTS, type SyncWith } from './commands.ts';
import { baseOf, commitAgo, contentsAtTags, findCommitted, head, provenanceOf, wantedSinceOf } from './history.ts';
import { openPort, type Port } from './port.ts';
import { makeTroubles, type Troubles } from './troubles.ts';
import type { World } from './world.ts';

/** One run of promptsync. */
export type ToolRun = {
  readonly files: readonly PromptFile[];
  /** The first plan. The outcomes contain the applied plan. */
  readonly plan: Plan;
  /** `null` for a dry run and for a killed run. */
  readonly outcomes: readonly PromptOutcome[] | null;
  readonly port: Port;
  readonly troubles: Troubles;
};

export type ToolOptions = SyncWith & { readonly dryRun: boolean; readonly expectedPlan?: string };

/** Observes, plans and applies the files of the last commit in the same way as the command `sync`. */
export async function runTool(world: World, options: ToolOptions): Promise<ToolRun> {
  const { concurrency, only, dryRun, onDrift = 'overwrite', expectedPlan = null } = options;
  const commit = head(world.history);
  const files = [...commit.files.values()].map(({ file }) => file).slice(0, only);
  const { desired, history } = desiredOf(world, files, options);
  const guards: GuardSettings = { onDrift, expectedPlan, maxChanges: null, uncommitted: new Set() };
  const troubles = makeTroubles(world, options.troubles);
  const port = openPort(world, files, troubles);
  const { stop } = troubles;
  const { provider } = port;
  const getReadRequest = (file: PromptFile) => makeReadRequest(file, desired);
  const observation = await observePrompts(provider, files.map(getReadRequest), { concurrency });
  const historyOf = (observed: Observation['observed']): PlanningHistory => ({
    ...history,
    wantedSince: wantedSinceAtBase(world, options, observed),
  });
  const plan = guardPlan(makePlan(desired, observation, historyOf(observation.observed)), guards);
  troubles.beginApplying();
  const outcomes = dryRun
    ? null
    : await applyPlan(plan, provider, {
        ...{ concurrency, stop, isReviewed: guards.expectedPlan !== null, pause: async () => {} },
        getReadRequest: ({ file }) => getReadRequest(file),
        planAgain: async (planned, observed) => {
          const fresh = historyOf(new Map([[planned.file.id, observed]]));
          return guardFreshPlan(planPrompt(planned.file, observed, desired, fresh), planned, guards);
        },
      });
  await port.settle();
  world.service.checkRun();
  const broken = port.broken();
  if (broken !== null) throw broken;
  return { files, plan, outcomes: troubles.isKilled() ? null : outcomes, port, troubles };
}

function wantedSinceAtBase(
  { history }: World,
  { base: ago }: ToolOptions,
  observed: Observation['observed'],
): PlanningHistory['wantedSince'] {
  if (ago === undefined) return new Map();
  const base = commitAgo(history, ago);
  return new Map(
    [...observed].flatMap(([id, prompt]) => {
      const file = findCommitted(base, head(history).files.get(id)!.file)?.file;
      return file === undefined ? [] : [[id, wantedSinceOf(history, file, prompt)] as const];
    }),
  );
}

function desiredOf(
  { setup, history }: World,
  files: readonly PromptFile[],
  { base: ago, environments }: ToolOptions,
): { readonly desired: DesiredState; readonly history: PlanningHistory } {
  const { environmentOrder, latestForbidden: environmentsWithoutLatest } = setup;
  const base = ago === undefined ? null : baseOf(history, commitAgo(history, ago), files);
  const contentsAtRefs = new Map(
    files.map((file) => {
      const then = base?.files.get(file.id);
      const now = contentsAtTags(history, file);
      const all = then === undefined ? now : new Map([...contentsAtTags(history, then), ...now]);
      return [file.id, new Map([...all].map(([ref, at]) => [ref, makeSuccess(at)]))] as const;
    }),
  );
  return {
    desired: {
      files,
      environmentOrder,
      environmentsWithoutLatest,
      movingRefs: new Set(),
      contentsAtRefs,
      base,
      promotionSources: new Map(),
      otherPromotionSources: new Map(),
      environmentSelection: environments === undefined ? null : { selected: environments, known: ENVIRONMENTS },
    },
    history: {
      ...NO_PLANNING_HISTORY,
      provenance: provenanceOf(head(history)),
      formerStates: base?.formerStates ?? NO_PLANNING_HISTORY.formerStates,
    },
  };
}
