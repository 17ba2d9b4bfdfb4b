import { refused, type CommandResult } from '../commands/result.ts';
import { sync, type SyncOptions } from '../commands/sync.ts';
import { DEFAULTS } from '../config/config.ts';
import { makeProblem, problemOf, ProblemError } from '../problem.ts';
import { baseOf, openWhole } from './checkout.ts';
import { makeContext, type Context } from './context.ts';
import { chooseMode, type Proposing } from './event.ts';
import { askGitHub, reviewGate } from './gates.ts';
import { propose } from './propose.ts';
import { publish, publishReview, type Done } from './publish.ts';
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
    const proposing = mode !== 'plan' && mode !== 'sync' && mode !== 'drift';
    const command = proposing ? proposal(mode, host) : { plan, sync: apply, drift }[mode];
    return { ...begun, result: await command(context) };
  } catch (error) {
    return { ...begun, result: refused('dry-run', problemOf(error)) };
  }
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

/** The workflows of the pull request that is opened may wait for somebody to approve them: this run reviews it. */
function proposal(mode: Proposing, host: SafeActionHost) {
  return (context: Context): Promise<CommandResult> =>
    propose(mode, context, host, async (pull) => {
      const own = { ...context, event: { ...context.event, name: 'pull_request', pull } };
      const result = await plan(own).catch((error) => refused('dry-run', problemOf(error)));
      await publishReview({ mode: 'plan', context: own, result }, host);
    });
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
