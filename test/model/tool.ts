import { isDeepStrictEqual } from 'node:util';
import { applyPlan } from '../../src/applying/apply-plan.ts';
import type { Plan, PromptOutcome } from '../../src/domain/plan.ts';
import type { DesiredState } from '../../src/domain/desired-state.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { PlanningHistory } from '../../src/history/prompt-history.ts';
import { observePrompts, makeReadRequest } from '../../src/observing/observe-prompts.ts';
import { makePlan, planPrompt } from '../../src/planning/make-plan.ts';
import { guardPlan, guardFreshPlan, type GuardSettings } from '../../src/planning/guard-plan.ts';
import { ENVIRONMENTS, MOVING_REF, type SyncWith } from './commands.ts';
import { commitAgo, findCommitted } from './history.ts';
import { must } from './laws.ts';
import { type ComparedCommits, makeContentsAtRefs, makePromptHistory } from './make-prompt-history.ts';
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

export type ToolOptions = SyncWith & {
  readonly dryRun: boolean;
  readonly expectedPlan?: string;
  /** How many commits ago the planned files were committed. Default: 0. */
  readonly ago?: number | undefined;
};

/** Returns the commits of a run. The default base is the planned commit. */
export function findComparedCommits({ history }: World, { ago = 0, base = 0 }: Partial<ToolOptions>): ComparedCommits {
  const planned = commitAgo(history, ago);
  return { planned, base: commitAgo(history, base, planned) };
}

/** Observes, plans and applies the files of a commit in the same way as the command `sync`. */
export async function runTool(world: World, options: ToolOptions): Promise<ToolRun> {
  const { concurrency, only, dryRun, onDrift = 'overwrite', expectedPlan = null } = options;
  const commits = findComparedCommits(world, options);
  const files = [...commits.planned.files.values()].map(({ file }) => file).slice(0, only);
  const desired = makeDesiredState(world, files, commits, options);
  const history: PlanningHistory = new Map(
    files.map((file) => [file.id, makePromptHistory(world.history, file, commits)]),
  );
  const guards: GuardSettings = { onDrift, expectedPlan, maxChanges: null, uncommitted: new Set() };
  const troubles = makeTroubles(world, options.troubles);
  const port = openPort(world, files, troubles);
  const { stop } = troubles;
  const { provider } = port;
  const getReadRequest = (file: PromptFile) => makeReadRequest(file, desired);
  const observation = await observePrompts(provider, files.map(getReadRequest), { concurrency });
  const unguarded = makePlan(desired, observation, history);
  must(isDeepStrictEqual(unguarded, makePlan(desired, observation, history)), () => 'two plans of one state differ');
  const plan = guardPlan(unguarded, guards);
  troubles.beginApplying();
  const outcomes = dryRun
    ? null
    : await applyPlan(plan, provider, {
        ...{ concurrency, stop, isReviewed: guards.expectedPlan !== null, pause: async () => {} },
        getReadRequest: ({ file }) => getReadRequest(file),
        planAgain: async (planned, observed) => {
          const fresh = planPrompt(planned.file, observed, desired, history.get(planned.file.id));
          return guardFreshPlan(fresh, planned, guards);
        },
      });
  await port.settle();
  world.service.checkRun();
  const broken = port.broken();
  if (broken !== null) throw broken;
  return { files, plan, outcomes: troubles.isKilled() ? null : outcomes, port, troubles };
}

function makeDesiredState(
  { setup, history }: World,
  files: readonly PromptFile[],
  { base }: ComparedCommits,
  { base: givenBase, environments }: ToolOptions,
): DesiredState {
  const { environmentOrder, latestForbidden: environmentsWithoutLatest } = setup;
  const baseFiles = files.flatMap((file) => findCommitted(base, file)?.file ?? []);
  const contentsAtRefs = new Map(
    files.map((file) => {
      const atBase = baseFiles.find(({ id }) => id === file.id) ?? file;
      return [
        file.id,
        new Map([...makeContentsAtRefs(history, atBase), ...makeContentsAtRefs(history, file)]),
      ] as const;
    }),
  );
  return {
    files,
    environmentOrder,
    environmentsWithoutLatest,
    movingRefs: new Set([MOVING_REF]),
    contentsAtRefs,
    base: { files: new Map(baseFiles.map((file) => [file.id, file])), isDefault: givenBase === undefined },
    promotionSources: new Map(Object.entries(setup.promotionSources)),
    otherPromotionSources: new Map(),
    environmentSelection: environments === undefined ? null : { selected: environments, known: ENVIRONMENTS },
  };
}
