import { refused } from '../commands/result.ts';
import { sync, type SyncOptions } from '../commands/sync.ts';
import { DEFAULTS } from '../config/config.ts';
import type { Repository } from '../git/repository.ts';
import { makeProblem, type Problem, problemOf, ProblemError } from '../problem.ts';
import { baseOf, openWhole } from './checkout.ts';
import { tipOfBranch } from './client.ts';
import { accessOf, makeContext, type Context } from './context.ts';
import { chooseMode, type PullRequest } from './event.ts';
import { askGitHub, reviewGate } from './gates.ts';
import { propose } from './propose.ts';
import { publish, type Done } from './publish.ts';
import { makeSafeAction, readInputs, type ActionHost, type SafeActionHost } from './runner.ts';

/** Runs the action once and resolves to its exit code. */
export async function runAction(given: ActionHost): Promise<number> {
  const host = makeSafeAction(given);
  return publish(await run(host), host);
}

async function run(host: SafeActionHost): Promise<Done> {
  let begun: Omit<Done, 'result'> = { mode: 'plan', context: null };
  try {
    const inputs = readInputs(host.runner, host.secrets);
    const context = await makeContext(inputs, host);
    begun = { ...begun, context };
    const mode = chooseMode(inputs.mode, context.event, context.branch);
    begun = { mode, context };
    if (mode === 'plan' || mode === 'sync' || mode === 'drift') {
      return { ...begun, ...(await { plan, sync: apply, drift }[mode](context)) };
    }
    return { ...begun, ...(await propose(mode, context, host, (pull) => review(pull, context))) };
  } catch (error) {
    return { ...begun, result: refused('dry-run', problemOf(error)) };
  }
}

type Came = Pick<Done, 'result' | 'merged' | 'pulls'>;

/** Reviews a pull request of the run's own, whose merge is checked out, as the workflow for pull requests would. */
async function review(pull: PullRequest, { event, ...rest }: Context): Promise<Done> {
  const context = { ...rest, event: { ...event, pull } };
  const came = await plan(context, pull.base).catch((error) => ({ result: refused('dry-run', problemOf(error)) }));
  return { mode: 'plan', context, ...came };
}

async function plan(context: Context, known?: string): Promise<Came> {
  const { event, world } = context;
  const target = event.name === 'pull_request_target';
  if (target && hasKey(context)) throw new ProblemError(makeProblem('guard/key-on-pull-request-target'));
  const never = target || (event.pull?.isForeign === true && !hasKey(context));
  const base = known ?? (await baseOf(event, await openWhole(context)));
  const asking = never ? 'keyless' : 'trusted';
  const result = await sync({ ...optionsOf(context), dryRun: true, yes: false, base, asking }, world);
  const { run } = result;
  const problems = [...run.problems, ...(await staleBase(base, context))];
  return { result: { ...result, run: { ...run, problems } } };
}

/** What is merged meanwhile may make another plan of the same files. */
async function staleBase(base: string | undefined, { event: { pull }, github }: Context): Promise<readonly Problem[]> {
  if (pull === null || github === null || base === undefined) return [];
  const tip = await tipOfBranch(github, pull.into).catch(() => base);
  return tip === base ? [] : [makeProblem('action/stale-base', { branch: pull.into, base, tip })];
}

async function apply(context: Context): Promise<Came> {
  const { event, world, inputs } = context;
  const mustBeReviewed = inputs['require-reviewed-plan'];
  const pulls = new Set<number>();
  const repository = await openWhole(context);
  const base = await baseOf(event, repository);
  const guards: Partial<SyncOptions> = {
    anyCommit: inputs['any-commit'],
    askForge: askGitHub(context),
    ...(mustBeReviewed && { onlyThisPlan: true, refusals: (walked) => reviewGate(context, walked, pulls) }),
  };
  const merged = await mergedSince(event.before, repository);
  return {
    result: await sync({ ...optionsOf(context), dryRun: false, yes: true, base, ...guards }, world),
    merged,
    pulls,
  };
}

/** So many merges a queue puts into one push at most. */
const MOST_MERGES = 100;

/** What a push has brought to the branch: of a merge queue several merges. Without one it is the newest commit alone. */
async function mergedSince(before: string | null, { head, mergesBefore }: Repository): Promise<readonly string[]> {
  if (head === null) return [];
  const commits = await mergesBefore(head, MOST_MERGES + 1);
  return commits.slice(0, Math.max(1, commits.indexOf(before ?? head)));
}

/** What differs is reported; how much may change at once, and what is done about drift, does not matter. */
async function drift(context: Context): Promise<Came> {
  await openWhole(context);
  const unguarded = { onDrift: 'overwrite', maxChanges: { kind: 'percent', percent: 100 } } as const;
  const options = { ...optionsOf(context), ...unguarded, dryRun: true, yes: false, base: 'HEAD' };
  return { result: await sync(options, context.world) };
}

function optionsOf(context: Context): Omit<SyncOptions, 'dryRun' | 'yes'> {
  const { 'on-drift': onDrift, 'max-changes': maxChanges } = context.inputs;
  const always = { only: [], exitCode: false, allowDirty: false };
  return { ...always, ...accessOf(context), onDrift, maxChanges };
}

/** That of the input, or of the variable that is read without it. */
function hasKey({ inputs, world, git }: Context): boolean {
  const [variable = DEFAULTS.api_key_env] = git.keyVariables;
  return Boolean(inputs['api-key'] ?? world.environment[variable]);
}
