import { applyPlan } from '../../src/applying/apply-plan.ts';
import { observeRequests } from '../../src/commands/preparing/observe-files.ts';
import type { PromptOutcome } from '../../src/domain/outcome.ts';
import type { Plan } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { observePrompt } from '../../src/observing/observe-prompt.ts';
import { observe } from '../../src/observing/observe.ts';
import { makePlan, planPrompt, type PlanRules } from '../../src/planning/make-plan.ts';
import { refuse, refuseAfresh, type Guards } from '../../src/planning/refuse.ts';
import { promptWithProvenance, withProvenance } from '../../src/planning/with-provenance.ts';
import { TRACKING, type SyncWith } from './commands.ts';
import { baseOf, commitAgo, contentAtPath, contentsAtTags, head, provenanceOf } from './history.ts';
import { must } from './law.ts';
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

let operations = 0;

/** Observes, plans and applies, as the command `sync` does with the files of the last commit. */
export async function runTool(world: World, options: ToolOptions): Promise<ToolRun> {
  const { concurrency, only, dryRun, onDrift = 'overwrite', expectedPlan = null } = options;
  const commit = head(world.history);
  const files = [...commit.files.values()].map(({ file }) => file).slice(0, only);
  const rules = rulesOf(world, files, options);
  const guards: Guards = { onDrift, expectedPlan, maxChanges: null, uncommitted: new Set() };
  const troubles = makeTroubles(world, options.troubles);
  const port = openPort(world, files, troubles);
  const { stop } = troubles;
  const requests = observeRequests(files, rules);
  const observation = await observe(port.service, requests, { trackingEnvironment: TRACKING, concurrency, stop });
  const provenance = provenanceOf(commit);
  const plan = refuse(withProvenance(makePlan(files, observation, rules), provenance), guards);
  troubles.beginApplying();
  const outcomes = dryRun
    ? null
    : await applyPlan(plan, {
        service: port.service,
        trackingEnvironment: TRACKING,
        concurrency,
        newOperation: () => `op_${++operations}`,
        observe: (service, { file }) =>
          observePrompt(
            service,
            requests.find(({ promptId }) => promptId === file.id)!,
            TRACKING,
          ),
        replan: async (planned, observed) =>
          refuseAfresh(promptWithProvenance(planPrompt(planned.file, observed, rules), provenance), planned, guards),
        digestAt: async (at, path) => contentAtPath(world.history, at, path)?.digest ?? null,
        sleep: async () => {
          port.tick();
          if (stop.aborted) throw stop.reason;
        },
        stop,
      });
  port.settle();
  const broken = port.broken();
  if (broken !== null) throw broken;
  must(port.begunAfterStop() === 0, () => 'a call is begun after the run was told to stop');
  return { files, plan, outcomes: troubles.isKilled() ? null : outcomes, port, troubles };
}

function rulesOf({ setup, history }: World, files: readonly PromptFile[], { base: ago }: ToolOptions): PlanRules {
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
    trackingEnvironment: TRACKING,
    environmentOrder,
    latestForbidden,
    contentsAtRefs,
    base,
    promotedFrom: new Map(),
    formerPins: new Map(),
  };
}
