import { Option } from 'commander';
import type { CommandResult } from '../commands/result.ts';
import type { World } from '../domain/world.ts';
import { completionScript, SHELLS } from './completion.ts';
import {
  choice,
  CONFIG,
  EDIT,
  environmentName,
  needed,
  PLAN,
  port,
  PRINT,
  REPORT,
  SHARED,
  SYNC,
  text,
  versionNumber,
  word,
  words,
  yes,
  type Flag,
  type Flags,
  type Values,
  type Words,
} from './flags.ts';
import type { Main, SafeHost } from './host.ts';
import type { Mode, OnCall } from './run.ts';

/** What may be typed of a command, and what its help says. */
type Usage<Given extends Flags, Typed> = {
  readonly name: string;
  readonly help: string;
  readonly argument?: Words<Typed>;
  readonly flags: Given;
  /** What its help says below the flags. */
  readonly after?: string;
};

/** One command; it resolves to the exit code. `main` runs others. */
export type CommandRow<Given extends Flags = Flags, Typed = unknown> = Usage<Given, Typed> & {
  // A method, so that a row of certain flags is a row of any.
  run(flags: Values<Given>, typed: Typed, host: SafeHost, main: Main): Promise<number>;
};

function row<Given extends Flags, Typed>(one: CommandRow<Given, Typed>): CommandRow {
  return one;
}

/** A command that ends with a report. Its code is loaded when it runs: `--help` needs none of it. */
function reporting<Given extends Flags & typeof REPORT, Typed>({
  command,
  ...usage
}: Usage<Given, Typed> & {
  readonly name: Mode;
  command(
    options: Values<Given> & { readonly onCall: OnCall },
    typed: Typed,
    world: World,
    host: SafeHost,
  ): Promise<CommandResult>;
}): CommandRow {
  return row({
    ...usage,
    run: async (flags: Values<Given>, typed: Typed, host) => {
      const work = (world: World, onCall: OnCall) => command({ ...flags, onCall }, typed, world, host);
      return (await import('./run.ts')).runReporting(usage.name, flags, host, work);
    },
  });
}

const KEYS = words('[keys...]', 'keys, paths or patterns of prompts (default: all)');
const SOME_KEYS = words('[keys...]', 'keys, paths or patterns of prompts');

/** What is named is asked for as with `--only`, which is the long form. */
function about<Given extends Values<typeof SHARED>>(keys: readonly string[], flags: Given): Given {
  return { ...flags, only: [...flags.only, ...keys] };
}

const sync = row({
  name: 'sync',
  help: 'make the service match the prompt files',
  argument: KEYS,
  flags: SYNC,
  run: async (flags, keys, host) => (await import('./run.ts')).runSync(about(keys, flags), host),
});

const plan = row({
  name: 'plan',
  help: 'the same as sync --dry-run',
  argument: KEYS,
  flags: PLAN,
  run: async (flags, keys, host) => {
    const onlyShown = { dryRun: true, yes: false, anyCommit: false };
    return (await import('./run.ts')).runSync({ ...about(keys, flags), ...onlyShown }, host);
  },
});

const validate = reporting({
  name: 'validate',
  help: 'check configuration and prompt files; needs no key',
  argument: KEYS,
  flags: SHARED,
  command: async (options, keys, world) =>
    (await import('../commands/validate.ts')).validate(about(keys, options), world),
});

const orphans: Flag<string | true | undefined> = new Option(
  '--orphans [pattern]',
  'list the prompts of the service that no file is of, or those whose names match',
);
const status = reporting({
  name: 'status',
  help: 'show what is active in each environment, and what should be',
  argument: KEYS,
  flags: { ...SHARED, orphans },
  command: async (options, keys, world) => (await import('../commands/status.ts')).status(about(keys, options), world),
});

const ci: Flag<string | undefined> = new Option(
  '--ci <which>',
  'whose files of CI to write (default: by the host of the remote "origin", else github)',
).choices(['github', 'gitlab', 'none']);
const provider: Flag<string | undefined> = new Option('--provider <name>', 'the service is Langfuse').choices([
  'langfuse',
]);
const init = reporting({
  name: 'init',
  help: 'begin a workspace here; on a terminal it asks for what is not given',
  flags: {
    provider,
    url: text('--url <url>', 'where the prompt service is (default with --provider: LANGFUSE_HOST, else its cloud)'),
    embedded: yes('--embedded', 'use the embedded service instead, for a first try'),
    apiKeyEnv: text(
      '--api-key-env <name>',
      'the name of the variable that holds the key (default: PROMPTSYNC_API_KEY)',
    ),
    dir: text('--dir <folder>', 'where the prompt files are (default: prompts)'),
    environments: text('--environments <names>', 'in promotion order (default: staging,production)'),
    id: text('--id <id>', 'a first prompt to import; checks address and key before anything is written'),
    ci,
    force: yes('--force', 'overwrite files that are there and differ'),
    ...REPORT,
  },
  command: async (options, _, world) => (await import('../commands/init.ts')).init(options, world),
});

const importPrompts = reporting({
  name: 'import',
  help: 'make prompt files of prompts that the service has',
  argument: words(
    '[ids...]',
    'the ids of the prompts, as the service shows them, or patterns of them; - reads them from standard input',
  ),
  flags: {
    environment: environmentName('-e, --environment <env>', 'whose text to take (default: the first that serves one)'),
    from: text('--from <file>', 'read ids from a file, one in a line; lines that begin with # are none'),
    dir: text('--dir <folder>', 'where the files go, relative to promptsync.yaml'),
    dryRun: yes('--dry-run', 'show what would be written; write nothing'),
    ...CONFIG,
    ...REPORT,
  },
  command: async (options, ids, world, { input }) =>
    (await import('../commands/import.ts')).importPrompts({ ...options, ids, input }, world),
});

const promote = reporting({
  name: 'promote',
  help: 'pin an environment to the version that another one serves',
  argument: SOME_KEYS,
  flags: {
    to: needed('--to <env>', 'the environment to pin'),
    from: text('--from <env>', 'the one that serves the version (default: promote_from of the other)'),
    all: yes('--all', 'all prompts'),
    ...EDIT,
  },
  command: async (options, keys, world) =>
    (await import('../commands/promote.ts')).promote(about(keys, options), world),
});

const rollback = reporting({
  name: 'rollback',
  help: 'pin an environment to the version that it served before',
  argument: SOME_KEYS,
  flags: {
    environment: needed('-e, --environment <env>', 'the environment to pin'),
    to: versionNumber('--to <n>', 'a version number instead of the one before'),
    ...EDIT,
  },
  command: async (options, keys, world) =>
    (await import('../commands/rollback.ts')).rollback(about(keys, options), world),
});

const pull = reporting({
  name: 'pull',
  help: 'bring what was changed in the service into the files',
  argument: KEYS,
  flags: {
    environment: text('-e, --environment <env>', 'the environment to pull from (default: all that are pinned)'),
    ours: yes('--ours', 'in a conflict keep what the file has').conflicts('theirs'),
    theirs: yes('--theirs', 'in a conflict take what the service has'),
    ...EDIT,
  },
  command: async ({ ours, theirs, ...options }, keys, world) => {
    const side = ours ? 'ours' : theirs ? 'theirs' : null;
    return (await import('../commands/pull.ts')).pull({ ...about(keys, options), side }, world);
  },
});

const history = reporting({
  name: 'history',
  help: 'show the versions of a prompt: who made them, where they run',
  argument: KEYS,
  flags: {
    ...SHARED,
    environment: text(
      '-e, --environment <env>',
      'only what this environment serves: where it comes from, who pinned it',
    ),
  },
  after: `
Times are those of commits, in UTC. A version is made from the commit that last changed its
file, and pinned by the commit that changed the pin on the branch checked out here.
Ids of versions are told by --environment and --format json.`,
  command: async (options, keys, world) =>
    (await import('../commands/history.ts')).history(about(keys, options), world),
});

const show = row({
  name: 'show',
  help: 'print a JSON report again, in any format',
  argument: word('<file>', 'what --output plan.json or --format json has written'),
  flags: PRINT,
  run: async (flags, file, host) => (await import('./run.ts')).runShow(file, flags, host),
});

const comment = row({
  name: 'comment',
  help: 'publish a JSON report as the note on the merge request of this job of GitLab CI',
  argument: word('<file>', 'what --output plan.json or --format json has written'),
  flags: CONFIG,
  after: `
GITLAB_TOKEN holds the token: of the project, with the scope api and the role Reporter.
Without it, without a merge request and outside of GitLab CI nothing is done: exit 0.`,
  run: async (flags, file, host) => (await import('./run.ts')).runComment({ ...flags, file }, host),
});

const demo = row({
  name: 'demo',
  help: 'show promptsync at work, in a repository of its own; needs no key',
  flags: { keep: yes('--keep', 'leave that repository there, to play on') },
  run: async (flags, _, host, main) => (await import('./demo.ts')).runDemo(flags, host, main),
});

const db: Flag<string> = new Option('--db <file>', 'the SQLite file that holds it').default('.promptsync/service.db');
const seed: Flag<string | true | undefined> = new Option(
  '--seed [workspace]',
  'make the prompt ids of a workspace known first: its folder or configuration',
);
const serve = row({
  name: 'serve',
  help: 'run the embedded service: for trying and testing, on this machine alone',
  flags: { db, port: port('--port <n>', 'the port on 127.0.0.1; 0 takes a free one', 4010), seed },
  after: `
The API key that it accepts is the value of PROMPTSYNC_API_KEY; without one it is "embedded".`,
  run: async (flags, _, host) => (await import('./run.ts')).runServe(flags, host),
});

/** Bundled as they are: where the command line is run from, a file beside it need not be found. */
const SCHEMAS = {
  config: () => import('../../schemas/promptsync.schema.json', { with: { type: 'json' } }),
  'front-matter': () => import('../../schemas/front-matter.schema.json', { with: { type: 'json' } }),
  report: () => import('../../schemas/report.schema.json', { with: { type: 'json' } }),
} as const satisfies Readonly<Record<string, () => Promise<{ readonly default: object }>>>;
const schema = row({
  name: 'schema',
  help: 'print a JSON Schema, for editors and checks',
  argument: choice('<name>', 'what it is of', ['config', 'front-matter', 'report']),
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

const completion = row({
  name: 'completion',
  help: 'print the completion script of a shell',
  argument: choice('<shell>', 'the shell', SHELLS),
  flags: {},
  after: `
To install it, once:
  bash  echo 'source <(promptsync completion bash)' >> ~/.bashrc
  zsh   echo 'source <(promptsync completion zsh)' >> ~/.zshrc    after compinit
  fish  promptsync completion fish > ~/.config/fish/completions/promptsync.fish`,
  run: async (_, shell, host) => {
    host.output.write(completionScript(shell, COMMANDS));
    return 0;
  },
});

/** All commands, in the order of the help. */
export const COMMANDS: readonly CommandRow[] = [
  ...[sync, plan, validate, status, init, importPrompts, promote, rollback, pull, history, show],
  ...[comment, demo, serve, schema, completion],
];
