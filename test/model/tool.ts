import { applyPlan } from '../../src/applying/apply-plan.ts';
import type { Plan, PromptOutcome } from '../../src/domain/plan.ts';
import { NO_HISTORY, type Desired, type History } from '../../src/domain/desired.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { observe, wantedOf } from '../../src/observing/observe.ts';
import { makePlan, planPrompt } from '../../src/planning/make-plan.ts';
import { guard, guardAfresh, type Guards } from '../../src/planning/guard.ts';
import type { SyncWith } from './commands.ts';
import { baseOf, commitAgo, contentsAtTags, head, provenanceOf } from './history.ts';
import { openPort, type Port } from './port.ts';
import { makeTroubles, type Troubles } from './troubles.ts';
import type { World } from './world.ts';

/** One run of the tool. */
export type ToolRun = {
  readonly files: readonly PromptFile[];
  /** The plan at first; outcomes have the one that was carried out. */
  readonly plan: Plan;
  /** Null for a dry run, and where the run was killed: nobody reads what it would have said. */
  readonly outcomes: readonly PromptOutcome[] | null;
  readonly port: Port;
  readonly troubles: Troubles;
};

export type ToolOptions = SyncWith & { readonly dryRun: boolean; readonly expectedPlan?: string };

/** Observes, plans and applies, as the command `sync` does with the files of the last commit. */
export async function runTool(world: World, options: ToolOptions): Promise<ToolRun> {
  const { concurrency, only, dryRun, onDrift = 'overwrite', expectedPlan = null } = options;
  const commit = head(world.history);
  const files = [...commit.files.values()].map(({ file }) => file).slice(0, only);
  const { desired, history } = desiredOf(world, files, options);
  const guards: Guards = { onDrift, expectedPlan, maxChanges: null, uncommitted: new Set() };
  const troubles = makeTroubles(world, options.troubles);
  const port = openPort(world, files, troubles);
  const { stop } = troubles;
  const { provider } = port;
  const wantedFor = (file: PromptFile) => wantedOf(file, desired);
  const observation = await observe(provider, files.map(wantedFor), { concurrency });
  const plan = guard(makePlan(desired, observation, history), guards);
  troubles.beginApplying();
  const outcomes = dryRun
    ? null
    : await applyPlan(plan, provider, {
        ...{ concurrency, stop, isReviewed: guards.expectedPlan !== null },
        wantedFor: ({ file }) => wantedFor(file),
        planAgain: async (planned, observed) =>
          guardAfresh(planPrompt(planned.file, observed, desired, history), planned, guards),
      });
  await port.settle();
  world.service.checkRun();
  const broken = port.broken();
  if (broken !== null) throw broken;
  return { files, plan, outcomes: troubles.isKilled() ? null : outcomes, port, troubles };
}

function desiredOf(
  { setup, history }: World,
  files: readonly PromptFile[],
  { base: ago }: ToolOptions,
): { readonly desired: Desired; readonly history: History } {
  const { environmentOrder, latestForbidden } = setup;
  const base = ago === undefined ? null : baseOf(history, commitAgo(history, ago), files);
  const contentsAtRefs = new Map(
    files.map((file) => {
      const then = base?.files.get(file.id);
      const now = contentsAtTags(history, file);
      return [file.id, then === undefined ? now : new Map([...contentsAtTags(history, then), ...now])] as const;
    }),
  );
  return {
    desired: { files, environmentOrder, latestForbidden, contentsAtRefs, base, promotedFrom: new Map() },
    history: {
      ...NO_HISTORY,
      provenance: provenanceOf(head(history)),
      formerWants: base?.formerWants ?? NO_HISTORY.formerWants,
    },
  };
}
