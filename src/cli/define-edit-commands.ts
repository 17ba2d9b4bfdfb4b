import { addKeysToOnly, type CommandDefinition, defineReportCommand } from './define-command.ts';
import {
  EDIT_FLAGS,
  makeBooleanFlag,
  makeListArgument,
  makeRequiredEnvironmentFlag,
  makeTextFlag,
  makeVersionNumberFlag,
  type PositionalArgument,
} from './flags.ts';

export const KEYS_ARGUMENT: PositionalArgument<readonly string[]> = makeListArgument(
  '[keys...]',
  'keys, paths, folders, or patterns that select prompts (default: all)',
);
const REQUIRED_KEYS_ARGUMENT: PositionalArgument<readonly string[]> = makeListArgument(
  '[keys...]',
  'keys, paths, folders, or patterns that select prompts',
);

export const PROMOTE_COMMAND: CommandDefinition = defineReportCommand({
  name: 'promote',
  group: 'Every day',
  help: 'pin an environment to the version that another environment serves',
  argument: REQUIRED_KEYS_ARGUMENT,
  flags: {
    to: makeRequiredEnvironmentFlag('--to <env>', 'the environment to pin'),
    from: makeTextFlag(
      '--from <env>',
      'the environment whose version to promote (default: the promote_from setting of the --to environment)',
    ),
    all: makeBooleanFlag('--all', 'promote all prompts'),
    allowOlder: makeBooleanFlag(
      '--allow-older',
      'promote the version even if it is older than the one that the --to environment serves or is pinned to',
    ),
    ...EDIT_FLAGS,
  },
  command: async (options, keys, system) =>
    (await import('../commands/promote.ts')).promotePrompts(addKeysToOnly(keys, options), system),
});

export const ROLLBACK_COMMAND: CommandDefinition = defineReportCommand({
  name: 'rollback',
  group: 'Every day',
  help: 'pin an environment to the version before the active one',
  argument: REQUIRED_KEYS_ARGUMENT,
  flags: {
    environment: makeRequiredEnvironmentFlag('-e, --environment <env>', 'the environment to pin'),
    to: makeVersionNumberFlag('--to <n>', 'the version number to pin (default: the version before the active one)'),
    now: makeBooleanFlag(
      '--now',
      'for incidents: also commit the pins to a new branch, and make the versions live immediately',
    ).conflicts('commit'),
    yes: makeBooleanFlag('-y, --yes', 'with --now: do not ask for confirmation'),
    ...EDIT_FLAGS,
  },
  after: `
With --now, the command shows what would change in the environment and asks for
confirmation. It then edits the pin, commits it to a new branch, and makes the
version live. It does not change other environments or fields such as the name.

The branch is named rollback-ENVIRONMENT-KEY, unless you use --branch. It starts
at HEAD, even if HEAD is not merged. Push and merge this branch. Until you do,
any sync of the live branch undoes the rollback.`,
  command: async (options, keys, system, host) => {
    const { makePlanRenderer } = await import('./run-command.ts');
    const { rollBackPrompts } = await import('../commands/rollback/rollback.ts');
    const renderPlan = makePlanRenderer(options, host);
    return rollBackPrompts({ ...addKeysToOnly(keys, options), renderPlan }, system);
  },
});

export const PULL_COMMAND: CommandDefinition = defineReportCommand({
  name: 'pull',
  group: 'Every day',
  help: 'copy changes from the service into the prompt files',
  argument: KEYS_ARGUMENT,
  flags: {
    environment: makeTextFlag(
      '-e, --environment <env>',
      'the environment to pull from (default: all pinned environments)',
    ),
    ours: makeBooleanFlag('--ours', 'resolve conflicts in favor of the file').conflicts('theirs'),
    theirs: makeBooleanFlag(
      '--theirs',
      'resolve conflicts in favor of the service, even where the file has uncommitted edits',
    ),
    ...EDIT_FLAGS,
  },
  command: async ({ ours, theirs, ...options }, keys, system) => {
    const side = ours ? 'ours' : theirs ? 'theirs' : null;
    return (await import('../commands/pull/pull.ts')).pullEdits({ ...addKeysToOnly(keys, options), side }, system);
  },
});
