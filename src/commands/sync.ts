import { applyPlan } from '../applying/apply-plan.ts';
import type { Plan, PromptOutcome } from '../domain/plan.ts';
import type { MaxChanges, OnDrift } from '../domain/policy.ts';
import type { World } from '../domain/world.ts';
import { guard, guardAfresh, type Guards, type Refuse } from '../planning/guard.ts';
import { textsOf } from '../planning/texts.ts';
import { inPlaceOrder, makeProblem, type Problem } from '../problem.ts';
import { makeReport } from '../report/make-report.ts';
import type { Report } from '../report/schema.ts';
import { mergedAndNewest, type NewestOptions, overtaken } from './merged-and-newest.ts';
import { type CommandResult, refused, resultOf } from './result.ts';
import { planAgain, plannedRun, walk, type Walked, type WalkOptions } from './walk.ts';

export type SyncOptions = WalkOptions &
  NewestOptions & {
    readonly dryRun: boolean;
    /** Apply without a question. */
    readonly yes: boolean;
    /** Pending changes of a dry run are reported by the exit code. */
    readonly exitCode: boolean;
    readonly expectPlan?: string | undefined;
    /** Refuses a prompt that would be planned otherwise right before it is written. */
    readonly onlyThisPlan?: boolean | undefined;
    /** Goes before the configuration's. */
    readonly maxChanges?: MaxChanges | undefined;
    /** Goes before the configuration's. */
    readonly onDrift?: OnDrift | undefined;
    readonly allowDirty: boolean;
    /** What else may forbid to write prompts, once the plan is known. Not for a dry run. */
    readonly refusals?: ((walked: Walked) => Promise<Refuse>) | undefined;
    /** The plan as the question shows it. Needed only where there is somebody to ask. */
    readonly draw?: ((shown: Drawn) => Promise<string>) | undefined;
  };

/** A plan for a person. Paths of the report are relative to the folder. */
export type Drawn = { readonly report: Report; readonly folder: string };

/** Plans, and applies the plan unless it is a dry run. */
export async function sync(options: SyncOptions, world: World): Promise<CommandResult> {
  const mode = options.dryRun ? 'dry-run' : 'apply';
  if (options.asking === 'offline' && !(options.dryRun && options.base !== undefined)) {
    return refused(mode, makeProblem('usage/invalid', { reason: '--offline needs a dry run and --base.' }));
  }
  const isStuck = !options.dryRun && needsQuestion(options, world) && world.confirm === null;
  if (isStuck) return refused(mode, makeProblem('usage/confirmation-needed'));
  return walk(mode, options, world, (walked) => finish(walked, options, world));
}

/** The rest of the walk: the plan is guarded, shown where somebody is asked, applied and reported. */
async function finish(walked: Walked, options: SyncOptions, world: World): Promise<CommandResult> {
  const guards = guardsOf(walked, options);
  const plan = guard(walked.plan, guards);
  // Nobody may rely on a guard that has nothing to go by.
  const blind = guards.onDrift === 'fail' && options.base === undefined;
  const needsBase = blind ? [makeProblem('config/drift-needs-base')] : [];
  const warnings = [...uncommittedWarnings(walked, options), ...needsBase];
  const problems = inPlaceOrder([...walked.problems, ...warnings]);
  const texts = textsOf(plan.prompts, walked, walked.history);
  const planned = { ...plannedRun('dry-run', { ...walked, plan, problems }), texts };
  if (options.dryRun) return resultOf(planned, world, options.exitCode);
  const asks = writes(plan) && needsQuestion(options, world);
  const { folder } = walked.config;
  const asked = asks ? makeReport(planned) : undefined;
  if (asked !== undefined && !(await ask({ report: asked, folder }, options, world))) {
    const declined = [...problems, makeProblem('usage/declined')];
    return { ...resultOf({ ...planned, mode: 'apply', plan: null, problems: declined }, world), asked };
  }
  const applied = await write(plan, guards, walked, options, world);
  const run = { ...planned, mode: 'apply', ...applied, problems: [...problems, ...applied.problems] } as const;
  return { ...resultOf(run, world), asked };
}

/** Applies a plan that is allowed to be written, unless another commit has to go first or by now has to follow. */
async function write(planned: Plan, guards: Guards, walked: Walked, options: SyncOptions, world: World) {
  // The question may have stood there for hours. And where nothing would be written, no remote is asked.
  const refuse = writes(planned) ? await refusalsOf(walked, options) : undefined;
  const plan = guard(walked.plan, { ...guards, ...(refuse && { refuse }) });
  const outcomes = await apply(plan, guards, walked, world);
  const written = outcomes.some(({ changes }) => changes.some(({ status }) => status !== 'not_made'));
  const problems = written && !world.stop.aborted ? await overtaken(walked, options) : [];
  return { plan, outcomes, problems };
}

async function refusalsOf(walked: Walked, options: SyncOptions): Promise<Refuse | undefined> {
  const other = await mergedAndNewest(walked, options);
  return other.length > 0 ? () => other : options.refusals?.(walked);
}

function guardsOf(walked: Walked, options: SyncOptions): Guards {
  const { config, uncommitted, plan, narrowed } = walked;
  return {
    onDrift: options.onDrift ?? config.onDrift,
    maxChanges: options.maxChanges ?? config.maxChanges,
    notLookedAt: narrowed?.left.length ?? 0,
    expectedPlan: options.expectPlan ?? (options.onlyThisPlan === true ? plan.digest : null),
    uncommitted: options.dryRun || options.allowDirty ? new Set() : uncommitted,
  };
}

/** A dry run refuses nothing for this, because people try their edits with it; but it says what is to come. */
function uncommittedWarnings({ plan, uncommitted }: Walked, options: SyncOptions): readonly Problem[] {
  if (!options.dryRun || options.allowDirty) return [];
  return plan.prompts
    .filter(({ status, file }) => status === 'pending' && uncommitted.has(file.path))
    .map(({ file }) => makeProblem('git/uncommitted', {}, { path: file.path }));
}

function writes({ prompts }: Plan): boolean {
  return prompts.some(({ status, finds }) => status === 'pending' || finds.length > 0);
}

function needsQuestion({ yes }: SyncOptions, { environment }: World): boolean {
  return !yes && environment['CI'] !== 'true';
}

async function ask(shown: Drawn, { draw }: SyncOptions, world: World): Promise<boolean> {
  if (draw !== undefined) world.notice(await draw(shown));
  return (await world.confirm?.('Apply these changes?')) ?? false;
}

async function apply(plan: Plan, guards: Guards, walked: Walked, world: World): Promise<readonly PromptOutcome[]> {
  const { provider, wantedFor, config } = walked;
  return applyPlan(plan, provider, {
    wantedFor: ({ file }) => wantedFor(file),
    planAgain: async (planned, observed) => {
      const fresh = await planAgain(planned.file, observed, walked);
      return guardAfresh(fresh.plan, planned, guards);
    },
    isReviewed: guards.expectedPlan !== null,
    concurrency: config.concurrency,
    stop: world.stop,
    onApplied: (_, done) => world.onProgress({ what: 'Applying', done, all: plan.prompts.length }),
  });
}
