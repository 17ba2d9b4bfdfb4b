import type { PromptOutcome } from '../../src/domain/plan.ts';
import { followsLatest, type PromptFile } from '../../src/domain/prompt-file.ts';
import type { Command, Edit, PromptIndex, Setup, SyncWith } from './commands.ts';
import { commit, commitAgo, edited, firstDraft, head, type Draft } from './history.ts';
import { checkDrift, checkOutcome, checkReviewed, checkTruth, driftsOf, LawBroken, must, type Drifts } from './laws.ts';
import { mayBeBlocked, mayBeUnrecognised, mayOutgrow } from './limits.ts';
import { note, noteRun, type Statistics } from './situations.ts';
import { runTool } from './tool.ts';
import { actOutside } from './troubles.ts';
import { openLangfuse } from './langfuse-service.ts';
import { openLedgerService } from './ledger-service.ts';
import { idsOf, newWorld, promptAt, type World } from './world.ts';

const OPENS = { integration: openLedgerService, langfuse: openLangfuse };

/** Carries out one sequence of commands and checks the laws after each. Throws a `LawBroken` with the last calls. */
export async function play(setup: Setup, commands: readonly Command[], statistics: Statistics): Promise<void> {
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

/** Does what a command says, and checks every law that it bears on. */
export async function perform(world: World, command: Command): Promise<void> {
  world.lines = [];
  switch (command.kind) {
    case 'edit':
      return edit(world, command.prompt, headDraft(world, command.prompt), command.edits);
    case 'merge':
      // A change that was begun on an older commit: its file comes as it was there, with the change.
      return edit(world, command.prompt, draftAgo(world, command.prompt, command.ago), command.edits);
    case 'revert':
      return edit(world, command.prompt, draftAgo(world, command.prompt, command.ago), []);
    case 'tag':
      return void world.history.tags.set(command.tag, commitAgo(world.history, command.ago));
    case 'dry-run':
      return dryRun(world);
    case 'sync':
      return sync(world, command);
    default:
      return actOutside(world, command);
  }
}

function edit(world: World, index: PromptIndex, before: Draft | null, edits: readonly Edit[]): void {
  const promptId = promptAt(world, index);
  const ids = idsOf(world, promptId);
  const after = edits.reduce<Draft | null>((draft, one) => edited(draft ?? firstDraft(promptId), one, ids), before);
  commit(world.history, promptId, after);
}

function headDraft(world: World, index: PromptIndex): Draft | null {
  return head(world.history).files.get(promptAt(world, index))?.draft ?? null;
}

function draftAgo(world: World, index: PromptIndex, ago: number): Draft | null {
  return commitAgo(world.history, ago).files.get(promptAt(world, index))?.draft ?? null;
}

async function dryRun(world: World): Promise<void> {
  const { port } = await runTool(world, { concurrency: 3, only: world.prompts.length, troubles: [], dryRun: true });
  must(port.begun() === 0, () => 'a dry run writes');
}

/** What can be told of a prompt's sync before it begins. */
type Foretold = {
  readonly mayBlock: boolean;
  readonly mayForget: boolean;
  readonly mayTakeTwo: boolean;
  readonly drifts: Drifts | null;
};

async function foretell(world: World, file: PromptFile, options: SyncWith): Promise<Foretold> {
  const drifts = await driftsOf(world, file, options);
  const mayRefuse = options.onDrift === 'fail' && [...(drifts?.values() ?? [])].some((one) => one !== 'none');
  const mayBlock = mayRefuse || mayBeBlocked(world, file, options);
  const mayForget = mayOutgrow(world, file);
  return { mayBlock, mayForget, mayTakeTwo: mayForget || mayBeUnrecognised(world, file), drifts };
}

async function sync(world: World, options: SyncWith): Promise<void> {
  const foretold = new Map<string, Foretold>();
  for (const [id, { file }] of head(world.history).files) foretold.set(id, await foretell(world, file, options));
  const run = await runTool(world, { ...options, ...(await reviewed(world, options)), dryRun: false });
  noteRun(world, run);
  if (run.outcomes === null) return;
  const isClean = world.prompts.every((id) => !run.troubles.touched(id));
  // A digest is over all prompts: what came between any of them is another plan than the reviewed one.
  const mayBeStale = options.reviewed === true && !isClean;
  for (const outcome of run.outcomes) {
    const { id } = outcome.plan.file;
    checkTruth(world, outcome, run.port.writes);
    const planned = run.plan.prompts.find(({ file }) => file.id === id)!;
    if (options.reviewed === true) checkReviewed(outcome, planned);
    const { mayBlock, mayForget, drifts } = foretold.get(id)!;
    if (run.troubles.touched(id)) continue;
    checkDrift(
      world,
      run.plan.prompts.find(({ file }) => file.id === id)!,
      drifts,
      options,
    );
    await checkOutcome(world, outcome, { mayBlock: mayBlock || mayBeStale, mayForget });
  }
  const takesTwo = [...foretold].flatMap(([id, { mayTakeTwo }]) => (mayTakeTwo ? [id] : []));
  if (isClean) await checkSecond(world, options, refusedIn(run.outcomes).union(new Set(takesTwo)));
}

/** The digest of the plan that a dry run shows right before: without trouble it is still the plan. */
async function reviewed(world: World, options: SyncWith): Promise<{ readonly expectedPlan?: string }> {
  if (options.reviewed !== true) return {};
  const { plan, port } = await runTool(world, { ...options, troubles: [], dryRun: true });
  must(port.begun() === 0, () => 'a dry run writes');
  return { expectedPlan: plan.digest };
}

/**
 * Right after a clean run there is nothing to do, and a second run writes nothing, not even to look: but for the prompts
 * that were refused or have a reason to take longer.
 */
async function checkSecond(
  world: World,
  { reviewed: _, ...options }: SyncWith,
  exempt: ReadonlySet<string>,
): Promise<void> {
  world.lines.push('the second run:');
  const { plan, outcomes, port } = await runTool(world, { ...options, troubles: [], dryRun: false });
  const refused = exempt.union(refusedIn(outcomes ?? []));
  for (const { file, status, changes, finds } of plan.prompts) {
    if (refused.has(file.id) || forgets(world, file)) continue;
    const isEmpty = status === 'unchanged' && changes.length === 0 && finds.length === 0;
    must(isEmpty, () => `the second plan of ${file.id} is ${status}: ${JSON.stringify({ changes, finds })}`);
  }
  must(refused.size > 0 || world.setup.service === 'drops' || port.begun() === 0, () => 'the second run writes');
  for (const outcome of outcomes ?? []) checkTruth(world, outcome, port.writes);
}

/** A known limit, services that drop metadata_: a version that nothing stands on any more cannot be found again. */
function forgets({ setup }: World, file: PromptFile): boolean {
  return setup.service === 'drops' && !followsLatest(file);
}

function refusedIn(outcomes: readonly PromptOutcome[]): ReadonlySet<string> {
  const refused = outcomes.filter(({ status }) => status === 'blocked' || status === 'failed');
  return new Set(refused.map(({ plan }) => plan.file.id));
}
