import { FIELDS, type PromptOutcome } from '../../src/domain/plan.ts';
import { followsLatest, type PromptFile } from '../../src/domain/prompt-file.ts';
import {
  ENVIRONMENTS,
  typeOf,
  type Command,
  type Edit,
  type PromptIndex,
  type Setup,
  type SyncWith,
} from './commands.ts';
import { checkDrift, checkNoDrift, type DriftPredictions, predictDrift } from './drift-laws.ts';
import { commit, commitAgo, applyEdit, firstDraft, head, type Draft } from './history.ts';
import { checkOutcome, checkReviewed, checkTruth, LawBroken, must, type Prediction, scopeOf } from './laws.ts';
import { mayBeBlocked, mayBeUnrecognised, mayOutgrow, mayRefuseMetadata } from './limits.ts';
import { checkPromotions, readServed } from './promotion-laws.ts';
import { logChanges, logCompletedSync } from './service-log.ts';
import { note, noteRun, type Statistics } from './situations.ts';
import { findComparedCommits, runTool, type ToolRun } from './tool.ts';
import { actOutside } from './troubles.ts';
import { openLangfuse } from './langfuse-service.ts';
import { openLedgerService } from './ledger-service.ts';
import { idsOf, newWorld, promptAt, type World } from './world.ts';

const OPENS = { integration: openLedgerService, langfuse: openLangfuse };

/** Runs one sequence of commands and checks the laws after each. Throws a `LawBroken` with the last calls. */
export async function runSequence(setup: Setup, commands: readonly Command[], statistics: Statistics): Promise<void> {
  const world = newWorld(setup, OPENS, statistics);
  note(statistics, 'sequences');
  for (const command of commands) {
    note(statistics, 'commands');
    note(statistics, `command: ${command.kind}`);
    try {
      await perform(world, command);
    } catch (error) {
      if (!(error instanceof LawBroken)) throw error;
      throw new LawBroken(`${error.message}\n${world.lines.map((line) => `    ${line}`).join('\n')}`);
    }
  }
}

/** Runs a command and checks all laws that it may break. */
export async function perform(world: World, command: Command): Promise<void> {
  world.lines = [];
  switch (command.kind) {
    case 'edit':
      return edit(world, command.prompt, draftAgo(world, command.prompt, 0), command.edits);
    case 'merge':
      // The change was made on an older commit, so that its file replaces the newer one.
      return edit(world, command.prompt, draftAgo(world, command.prompt, command.ago), command.edits);
    case 'revert':
      return edit(world, command.prompt, draftAgo(world, command.prompt, command.ago), []);
    case 'tag':
      return void world.history.tags.set(command.tag, commitAgo(world.history, command.ago));
    case 'dry-run':
      return dryRun(world, command);
    case 'sync':
      return sync(world, command);
    case 'jobs':
      for (const environment of ENVIRONMENTS)
        await sync(world, { ...command, troubles: [], environments: [environment] });
      return;
    default:
      return actOutside(world, command);
  }
}

function edit(world: World, index: PromptIndex, before: Draft | null, edits: readonly Edit[]): void {
  const promptId = promptAt(world, index);
  const ids = idsOf(world, promptId);
  const first = firstDraft(promptId, typeOf(world.setup, promptId));
  const after = edits.reduce<Draft | null>((draft, one) => applyEdit(draft ?? first, one, ids), before);
  commit(world.history, promptId, after);
}

function draftAgo(world: World, index: PromptIndex, ago: number): Draft | null {
  return commitAgo(world.history, ago).files.get(promptAt(world, index))?.draft ?? null;
}

async function dryRun(world: World, options: Command & { readonly kind: 'dry-run' }): Promise<void> {
  const commits = findComparedCommits(world, options);
  const drifts = predictAllDrift(world, options);
  const { plan, port } = await runTool(world, { ...options, ...CALM, only: world.prompts.length, dryRun: true });
  must(port.begun() === 0, () => 'a dry run writes');
  for (const one of plan.prompts) checkDrift(world, one, drifts.get(one.file.id)!, commits, {});
}

const CALM = { concurrency: 3, troubles: [] };

function predictAllDrift(
  world: World,
  options: Parameters<typeof findComparedCommits>[1],
): ReadonlyMap<string, DriftPredictions> {
  const commits = findComparedCommits(world, options);
  const files = [...commits.planned.files.values()].map(({ file }) => file);
  return new Map(files.map((file) => [file.id, predictDrift(world, file, commits, options)]));
}

function predict(world: World, file: PromptFile, options: SyncWith): Prediction {
  const mayForget = mayOutgrow(world, file);
  return {
    ...{ mayBlock: mayBeBlocked(world, file, options), mayForget },
    mayRefuseMetadata: mayRefuseMetadata(world, file, options),
    mayTakeTwo: mayForget || mayBeUnrecognised(world, file),
  };
}

async function sync(world: World, options: SyncWith): Promise<void> {
  const files = [...head(world.history).files.values()].map(({ file }) => file);
  const predictions = new Map(files.map((file) => [file.id, predict(world, file, options)]));
  const drifts = predictAllDrift(world, options);
  const servedBefore = new Map(world.prompts.map((id) => [id, readServed(world, id)]));
  const run = await runTool(world, { ...options, ...(await reviewed(world, options)), dryRun: false });
  noteRun(world, run);
  const isClean = world.prompts.every((id) => !run.troubles.touched(id));
  // The digest covers all prompts, so that a trouble with any prompt can change the reviewed plan.
  const mayBeStale = options.reviewed === true && !isClean;
  for (const outcome of run.outcomes ?? []) {
    const { id } = outcome.plan.file;
    checkTruth(world, outcome, run.port.writes);
    const planned = run.plan.prompts.find(({ file }) => file.id === id)!;
    if (options.reviewed === true) checkReviewed(outcome, planned);
    if (run.troubles.touched(id)) continue;
    const prediction = predictions.get(id)!;
    // promptsync plans a prompt again before it writes, and may have found a pinned version by then.
    const plans = new Set([planned, outcome.plan]);
    for (const plan of plans) checkDrift(world, plan, drifts.get(id)!, findComparedCommits(world, options), options);
    checkPromotions(world, outcome.plan.file, servedBefore.get(id)!, run.port.writes);
    const isRefused = [...plans].some(({ problems }) => problems.some(({ code }) => code === 'guard/drift'));
    checkOutcome(world, outcome, { ...prediction, mayBlock: prediction.mayBlock || mayBeStale || isRefused }, options);
  }
  logRun(world, run, options);
  if (!isClean || run.outcomes === null) return;
  const takesTwo = [...predictions].flatMap(([id, { mayTakeTwo }]) => (mayTakeTwo ? [id] : []));
  await checkSecond(world, options, refusedIn(run.outcomes).union(new Set(takesTwo)));
  for (const id of world.prompts) logChanges(world, id, 'promptsync');
}

/** Logs what a run has changed, and each prompt that matches its file since then. */
function logRun(world: World, { outcomes, troubles, port }: ToolRun, { environments }: SyncWith): void {
  for (const id of world.prompts) logChanges(world, id, 'promptsync');
  for (const outcome of outcomes ?? []) {
    const { id } = outcome.plan.file;
    if (troubles.touched(id) || !['applied', 'unchanged'].includes(outcome.status)) continue;
    const { file, hasFields } = scopeOf(outcome.plan.file, environments);
    const fields = FIELDS.filter((field) => file[field] !== undefined);
    const places = [...file.pins.map(({ environment }) => environment), ...(hasFields ? fields : [])];
    const created = port.writes.flatMap((write) =>
      write.kind === 'create' && write.promptId === id ? [write.id] : [],
    );
    logCompletedSync(world, outcome, places, created);
  }
}

/** Returns the digest of the plan from a dry run right before the sync. */
async function reviewed(world: World, options: SyncWith): Promise<{ readonly expectedPlan?: string }> {
  if (options.reviewed !== true) return {};
  const { plan, port } = await runTool(world, { ...options, troubles: [], dryRun: true });
  must(port.begun() === 0, () => 'a dry run writes');
  return { expectedPlan: plan.digest };
}

/**
 * Expects that a second run right after a clean run has nothing to do and writes nothing, not even for a probe. Prompts
 * that were refused or that may need another run are exempt.
 */
async function checkSecond(
  world: World,
  { reviewed: _, ...options }: SyncWith,
  exempt: ReadonlySet<string>,
): Promise<void> {
  world.lines.push('the second run:');
  const { plan, outcomes, port } = await runTool(world, { ...options, troubles: [], dryRun: false });
  const refused = exempt.union(refusedIn(outcomes ?? []));
  for (const prompt of plan.prompts) {
    const { file, status, changes, pinsToFind } = prompt;
    if (refused.has(file.id) || forgets(world, file)) continue;
    checkNoDrift(prompt);
    const isEmpty = status === 'unchanged' && changes.length === 0 && pinsToFind.length === 0;
    must(
      isEmpty,
      () => `the second plan of ${file.id} is ${status}: ${JSON.stringify({ changes, finds: pinsToFind })}`,
    );
  }
  must(refused.size > 0 || world.setup.service === 'drops' || port.begun() === 0, () => 'the second run writes');
  for (const outcome of outcomes ?? []) checkTruth(world, outcome, port.writes);
}

/** A known limit of services that drop metadata: promptsync cannot find a version again once it is active nowhere. */
function forgets({ setup }: World, file: PromptFile): boolean {
  return setup.service === 'drops' && !followsLatest(file);
}

function refusedIn(outcomes: readonly PromptOutcome[]): ReadonlySet<string> {
  const refused = outcomes.filter(({ status }) => status === 'blocked' || status === 'failed');
  return new Set(refused.map(({ plan }) => plan.file.id));
}
