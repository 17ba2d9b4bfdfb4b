import type { CommandResult } from '../commands/result.ts';
import { sync, type SyncOptions } from '../commands/sync.ts';
import { DEFAULTS } from '../config/config.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { Mode } from './choose-mode.ts';
import type { Context } from './context.ts';
import { baseOf, openWhole } from './history.ts';
import { supersededBy } from './superseded.ts';
import { unreviewed } from './unreviewed.ts';

/** One run of the action is one sync: of a pull request a dry run, of a schedule one that only looks for drift. */
export async function runMode(mode: Mode, context: Context): Promise<CommandResult> {
  const run = { plan, sync: apply, drift }[mode];
  return run(context);
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
  const repository = await openWhole(context);
  const mustBeReviewed = inputs['require-reviewed-plan'];
  const base = await baseOf(event, repository);
  return sync(
    {
      ...{ ...optionsOf(context), dryRun: false, yes: true, onlyThisPlan: mustBeReviewed, base },
      refusals: async (prepared) => {
        const superseded = await supersededBy(context, prepared);
        return superseded.length > 0 || !mustBeReviewed ? superseded : unreviewed(context, prepared);
      },
    },
    world,
  );
}

/** What differs is told; how much may change at once, and what is done about drift, does not matter. */
async function drift(context: Context): Promise<CommandResult> {
  await openWhole(context);
  const unguarded = { onDrift: 'overwrite', maxChanges: { kind: 'percent', percent: 100 } } as const;
  return sync({ ...optionsOf(context), ...unguarded, dryRun: true, yes: false, base: 'HEAD' }, context.world);
}

function optionsOf(context: Context): Omit<SyncOptions, 'dryRun' | 'yes'> {
  const { 'on-drift': onDrift, 'max-changes': maxChanges } = context.inputs;
  const { configuration } = context;
  return {
    ...{ configuration, only: [], onDrift, maxChanges, apiKey: context.inputs['api-key'] },
    ...{ exitCode: false, allowDirty: false, withTexts: true },
  };
}

/** That of the input, or of the usual variable. */
function hasKey({ inputs, world }: Context): boolean {
  return Boolean(inputs['api-key'] ?? world.environment[DEFAULTS.api_key_env]);
}
