import { Option } from 'commander';
import type { CommandResult } from '../commands/result.ts';
import type { World } from '../domain/world.ts';
import { NAMED_PROVIDERS, type NamedProviderName, PROVIDER_CHOICES } from '../providers/list.ts';
import { renderCompletionScript, SHELLS } from './completion.ts';
import {
  makeChoiceArgument,
  CONFIG_FLAGS,
  EDIT_FLAGS,
  makeEnvironmentFlag,
  makeRequiredFlag,
  PLAN_FLAGS,
  makePortFlag,
  PRINT_FLAGS,
  REPORT_FLAGS,
  SHARED_FLAGS,
  SYNC_FLAGS,
  makeTextFlag,
  makeVersionNumberFlag,
  makeArgument,
  makeListArgument,
  makeBooleanFlag,
  type Flag,
  type Flags,
  type FlagValues,
  type PositionalArgument,
} from './flags.ts';
import type { Main, SafeHost } from './host.ts';
import type { Mode, OnCall } from './run-command.ts';

/** The arguments and flags of a command, and its help texts. */
type CommandUsage<Given extends Flags, Typed> = {
  readonly name: string;
  readonly help: string;
  readonly argument?: PositionalArgument<Typed>;
  readonly flags: Given;
  /** The text of its help below the flags. */
  readonly after?: string;
};

/** One command. It resolves to the exit code. The demo runs other commands through `main`. */
export type CommandRow<Given extends Flags = Flags, Typed = unknown> = CommandUsage<Given, Typed> & {
  // Declared as a method, because TypeScript then accepts a row with certain flags as a row with any flags.
  run(flags: FlagValues<Given>, typed: Typed, host: SafeHost, main: Main): Promise<number>;
};

function makeCommandRow<Given extends Flags, Typed>(one: CommandRow<Given, Typed>): CommandRow {
  return one;
}

/** Makes the row of a command that ends with a report. It loads the code of the command only when the command runs. */
function makeReportRow<Given extends Flags & typeof REPORT_FLAGS, Typed>({
  command,
  ...usage
}: CommandUsage<Given, Typed> & {
  readonly name: Mode;
  command(
    options: FlagValues<Given> & { readonly onCall: OnCall },
    typed: Typed,
    world: World,
    host: SafeHost,
  ): Promise<CommandResult>;
}): CommandRow {
  return makeCommandRow({
    ...usage,
    run: async (flags: FlagValues<Given>, typed: Typed, host) => {
      const work = (world: World, onCall: OnCall) => command({ ...flags, onCall }, typed, world, host);
      return (await import('./run-command.ts')).runReportCommand(usage.name, flags, host, work);
    },
  });
}

const KEYS_ARGUMENT = makeListArgument('[keys...]', 'keys, paths or patterns of prompts (default: all)');
const REQUIRED_KEYS_ARGUMENT = makeListArgument('[keys...]', 'keys, paths or patterns of prompts');

/** Treats the positional keys like values of `--only`. */
function about<Given extends FlagValues<typeof SHARED_FLAGS>>(keys: readonly string[], flags: Given): Given {
  return { ...flags, only: [...flags.only, ...keys] };
}

const sync = makeCommandRow({
  name: 'sync',
  help: 'make the service match the prompt files',
  argument: KEYS_ARGUMENT,
  flags: SYNC_FLAGS,
  run: async (flags, keys, host) => (await import('./run-command.ts')).runSync(about(keys, flags), host),
});

const plan = makeCommandRow({
  name: 'plan',
  help: 'the same as sync --dry-run',
  argument: KEYS_ARGUMENT,
  flags: PLAN_FLAGS,
  run: async (flags, keys, host) => {
    const onlyShown = { dryRun: true, yes: false, anyCommit: false };
    return (await import('./run-command.ts')).runSync({ ...about(keys, flags), ...onlyShown }, host);
  },
});

const validate = makeReportRow({
  name: 'validate',
  help: 'check configuration and prompt files; needs no key',
  argument: KEYS_ARGUMENT,
  flags: SHARED_FLAGS,
  command: async (options, keys, world) =>
    (await import('../commands/validate.ts')).validatePrompts(about(keys, options), world),
});

const orphans: Flag<string | true | undefined> = new Option(
  '--orphans [pattern]',
  'list the prompts of the service that no file is of, or those whose names match',
);
const status = makeReportRow({
  name: 'status',
  help: 'show what is active in each environment, and what should be',
  argument: KEYS_ARGUMENT,
  flags: { ...SHARED_FLAGS, orphans },
  command: async (options, keys, world) =>
    (await import('../commands/status.ts')).showStatus(about(keys, options), world),
});

const ci: Flag<string | undefined> = new Option(
  '--ci <which>',
  'whose files of CI to write (default: by the host of the remote "origin", else github)',
).choices(['github', 'gitlab', 'none']);
const named = Object.values(NAMED_PROVIDERS);
const provider: Flag<NamedProviderName | undefined> = new Option(
  '--provider <name>',
  `the service is ${named.map(({ title }) => title).join(' or ')}`,
).choices(PROVIDER_CHOICES);
const defaultAddresses = named.map(({ defaultAddress }) => defaultAddress.help).join('; ');
const init = makeReportRow({
  name: 'init',
  help: 'begin a workspace here; on a terminal it asks for what is not given',
  flags: {
    provider,
    url: makeTextFlag('--url <url>', `where the prompt service is (default with --provider: ${defaultAddresses})`),
    embedded: makeBooleanFlag('--embedded', 'use the embedded service instead, for a first try'),
    apiKeyEnv: makeTextFlag(
      '--api-key-env <name>',
      'the name of the variable that holds the key (default: PROMPTSYNC_API_KEY)',
    ),
    dir: makeTextFlag('--dir <folder>', 'where the prompt files are (default: prompts)'),
    environments: makeTextFlag('--environments <names>', 'in promotion order (default: staging,production)'),
    id: makeTextFlag('--id <id>', 'a first prompt to import; checks address and key before anything is written'),
    ci,
    force: makeBooleanFlag('--force', 'overwrite files that are there and differ'),
    ...REPORT_FLAGS,
  },
  command: async (options, _, world) => (await import('../commands/init.ts')).init(options, world),
});

const importPrompts = makeReportRow({
  name: 'import',
  help: 'make prompt files of prompts that the service has',
  argument: makeListArgument(
    '[ids...]',
    'the ids of the prompts, as the service shows them, or patterns of them; - reads them from standard input',
  ),
  flags: {
    environment: makeEnvironmentFlag(
      '-e, --environment <env>',
      'whose text to take (default: the first that serves one)',
    ),
    from: makeTextFlag('--from <file>', 'read ids from a file, one in a line; lines that begin with # are none'),
    dir: makeTextFlag('--dir <folder>', 'where the files go, relative to promptsync.yaml'),
    dryRun: makeBooleanFlag('--dry-run', 'show what would be written; write nothing'),
    ...CONFIG_FLAGS,
    ...REPORT_FLAGS,
  },
  command: async (options, ids, world, { input }) =>
    (await import('../commands/import.ts')).importPrompts({ ...options, ids, input }, world),
});

const promote = makeReportRow({
  name: 'promote',
  help: 'pin an environment to the version that another one serves',
  argument: REQUIRED_KEYS_ARGUMENT,
  flags: {
    to: makeRequiredFlag('--to <env>', 'the environment to pin'),
    from: makeTextFlag('--from <env>', 'the one that serves the version (default: promote_from of the other)'),
    all: makeBooleanFlag('--all', 'all prompts'),
    ...EDIT_FLAGS,
  },
  command: async (options, keys, world) =>
    (await import('../commands/promote.ts')).promotePrompts(about(keys, options), world),
});

const rollback = makeReportRow({
  name: 'rollback',
  help: 'pin an environment to the version that it served before',
  argument: REQUIRED_KEYS_ARGUMENT,
  flags: {
    environment: makeRequiredFlag('-e, --environment <env>', 'the environment to pin'),
    to: makeVersionNumberFlag('--to <n>', 'a version number instead of the one before'),
    ...EDIT_FLAGS,
  },
  command: async (options, keys, world) =>
    (await import('../commands/rollback.ts')).rollBackPrompts(about(keys, options), world),
});

const pull = makeReportRow({
  name: 'pull',
  help: 'bring what was changed in the service into the files',
  argument: KEYS_ARGUMENT,
  flags: {
    environment: makeTextFlag('-e, --environment <env>', 'the environment to pull from (default: all that are pinned)'),
    ours: makeBooleanFlag('--ours', 'in a conflict keep what the file has').conflicts('theirs'),
    theirs: makeBooleanFlag('--theirs', 'in a conflict take what the service has'),
    ...EDIT_FLAGS,
  },
  command: async ({ ours, theirs, ...options }, keys, world) => {
    const side = ours ? 'ours' : theirs ? 'theirs' : null;
    return (await import('../commands/pull.ts')).pullEdits({ ...about(keys, options), side }, world);
  },
});

const history = makeReportRow({
  name: 'history',
  help: 'show the versions of a prompt: who made them, where they run',
  argument: KEYS_ARGUMENT,
  flags: {
    ...SHARED_FLAGS,
    environment: makeTextFlag(
      '-e, --environment <env>',
      'only what this environment serves: where it comes from, who pinned it',
    ),
  },
  after: `
Times are those of commits, in UTC. A version is made from the commit that last changed its
file, and pinned by the commit that changed the pin on the branch checked out here.
Ids of versions are told by --environment and --format json.`,
  command: async (options, keys, world) =>
    (await import('../commands/history.ts')).showHistory(about(keys, options), world),
});

const show = makeCommandRow({
  name: 'show',
  help: 'print a JSON report again, in any format',
  argument: makeArgument('<file>', 'what --output plan.json or --format json has written'),
  flags: PRINT_FLAGS,
  run: async (flags, file, host) => (await import('./run-command.ts')).runShow(file, flags, host),
});

const comment = makeCommandRow({
  name: 'comment',
  help: 'publish a JSON report as the note on the merge request of this job of GitLab CI',
  argument: makeArgument('<file>', 'what --output plan.json or --format json has written'),
  flags: CONFIG_FLAGS,
  after: `
GITLAB_TOKEN holds the token: of the project, with the scope api and the role Reporter.
Without it, without a merge request and outside of GitLab CI nothing is done: exit 0.`,
  run: async (flags, file, host) => (await import('./run-command.ts')).runComment({ ...flags, file }, host),
});

const demo = makeCommandRow({
  name: 'demo',
  help: 'show promptsync at work, in a repository of its own; needs no key',
  flags: { keep: makeBooleanFlag('--keep', 'leave that repository there, to play on') },
  run: async (flags, _, host, main) => (await import('./run-demo.ts')).runDemo(flags, host, main),
});

const db: Flag<string> = new Option('--db <file>', 'the SQLite file that holds it').default('.promptsync/service.db');
const seed: Flag<string | true | undefined> = new Option(
  '--seed [workspace]',
  'make the prompt ids of a workspace known first: its folder or configuration',
);
const serve = makeCommandRow({
  name: 'serve',
  help: 'run the embedded service: for trying and testing, on this machine alone',
  flags: { db, port: makePortFlag('--port <n>', 'the port on 127.0.0.1; 0 takes a free one', 4010), seed },
  after: `
The API key that it accepts is the value of PROMPTSYNC_API_KEY; without one it is "embedded".`,
  run: async (flags, _, host) => (await import('./run-command.ts')).runServe(flags, host),
});

/** The schemas are part of the bundle, because the command line may run without the files of its package. */
const SCHEMAS = {
  config: () => import('../../schemas/promptsync.schema.json', { with: { type: 'json' } }),
  'front-matter': () => import('../../schemas/front-matter.schema.json', { with: { type: 'json' } }),
  report: () => import('../../schemas/report.schema.json', { with: { type: 'json' } }),
} as const satisfies Readonly<Record<string, () => Promise<{ readonly default: object }>>>;
const schema = makeCommandRow({
  name: 'schema',
  help: 'print a JSON Schema, for editors and checks',
  argument: makeChoiceArgument('<name>', 'what it is of', ['config', 'front-matter', 'report']),
  flags: {},
  after: `
The first line of promptsync.yaml tells editors where its schema is. Without the
package in node_modules:
  promptsync schema config > promptsync.schema.json
  # yaml-language-server: $schema=promptsync.schema.json`,
  run: async (_, name, host) => {
    host.output.write(`${JSON.stringify((await SCHEMAS[name]()).default, null, 2)}\n`);
    return 0;
  },
});

const completion = makeCommandRow({
  name: 'completion',
  help: 'print the completion script of a shell',
  argument: makeChoiceArgument('<shell>', 'the shell', SHELLS),
  flags: {},
  after: `
To install it, once:
  bash  echo 'source <(promptsync completion bash)' >> ~/.bashrc
  zsh   echo 'source <(promptsync completion zsh)' >> ~/.zshrc    after compinit
  fish  promptsync completion fish > ~/.config/fish/completions/promptsync.fish`,
  run: async (_, shell, host) => {
    host.output.write(renderCompletionScript(shell, COMMANDS));
    return 0;
  },
});

/** All commands, in the order of the help. */
export const COMMANDS: readonly CommandRow[] = [
  sync,
  plan,
  validate,
  status,
  init,
  importPrompts,
  promote,
  rollback,
  pull,
  history,
  show,
  comment,
  demo,
  serve,
  schema,
  completion,
];
