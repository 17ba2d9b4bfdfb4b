import { refused, type CommandResult } from '../commands/result.ts';
import { sync, type SyncOptions } from '../commands/sync.ts';
import { DEFAULTS } from '../config/config.ts';
import { makeProblem, problemOf, ProblemError } from '../problem.ts';
import { baseOf, openWhole } from './checkout.ts';
import { makeContext, type Context } from './context.ts';
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
    const mode = chooseMode(inputs.mode, context.event, context.configuration.config?.branch ?? null);
    begun = { mode, context };
    if (mode === 'plan' || mode === 'sync' || mode === 'drift') {
      return { ...begun, result: await { plan, sync: apply, drift }[mode](context) };
    }
    return { ...begun, ...(await propose(mode, context, host, (pull) => review(pull, context))) };
  } catch (error) {
    return { ...begun, result: refused('dry-run', problemOf(error)) };
  }
}

/** Reviews a pull request of the run's own as the workflow for pull requests would. */
async function review(pull: PullRequest, { event, ...rest }: Context): Promise<Done> {
  const context = { ...rest, event: { ...event, name: 'pull_request', pull } };
  const result = await plan(context).catch((error) => refused('dry-run', problemOf(error)));
  return { mode: 'plan', context, result };
}

async function plan(context: Context): Promise<CommandResult> {
  const { event, world } = context;
  const target = event.name === 'pull_request_target';
  if (target && hasKey(context)) throw new ProblemError(makeProblem('guard/key-on-pull-request-target'));
  const never = target || (event.pull?.isForeign === true && !hasKey(context));
  const base = await baseOf(event, await openWhole(context));
  const asking = never ? 'never' : 'trusted';
  return sync({ ...optionsOf(context), dryRun: true, yes: false, base, asking }, world);
}

async function apply(context: Context): Promise<CommandResult> {
  const { event, world, inputs } = context;
  const mustBeReviewed = inputs['require-reviewed-plan'];
  const base = await baseOf(event, await openWhole(context));
  const guards: Partial<SyncOptions> = {
    anyCommit: inputs['any-commit'],
    askForge: askGitHub(context),
    ...(mustBeReviewed && { onlyThisPlan: true, refusals: (walked) => reviewGate(context, walked) }),
  };
  return sync({ ...optionsOf(context), dryRun: false, yes: true, base, ...guards }, world);
}

/** What differs is reported; how much may change at once, and what is done about drift, does not matter. */
async function drift(context: Context): Promise<CommandResult> {
  await openWhole(context);
  const unguarded = { onDrift: 'overwrite', maxChanges: { kind: 'percent', percent: 100 } } as const;
  return sync({ ...optionsOf(context), ...unguarded, dryRun: true, yes: false, base: 'HEAD' }, context.world);
}

function optionsOf({ inputs, configuration }: Context): Omit<SyncOptions, 'dryRun' | 'yes'> {
  const { 'on-drift': onDrift, 'max-changes': maxChanges, 'api-key': apiKey } = inputs;
  const always = { only: [], exitCode: false, allowDirty: false };
  return { ...always, configuration, onDrift, maxChanges, apiKey };
}

/** That of the input, or of the usual variable. */
function hasKey({ inputs, world }: Context): boolean {
  return Boolean(inputs['api-key'] ?? world.environment[DEFAULTS.api_key_env]);
}
