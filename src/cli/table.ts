import { Argument, Option } from 'commander';
import { completionScript, SHELLS, type Shell } from './completion.ts';
import {
  CONFIG,
  EDIT,
  environmentName,
  maxChanges,
  needed,
  oneOf,
  parsed,
  planDigest,
  port,
  ref,
  REPORT,
  SHARED,
  text,
  versionNumber,
  word,
  words,
  yes,
  type Flag,
  type Flags,
  type ReportFlags,
  type Values,
  type Words,
} from './flags.ts';
import type { Mode, Work } from './run.ts';
import type { HidingHost } from './secrets.ts';

/** One command: what it is called, what may be typed, and what runs then. It resolves to the exit code. */
export type CommandRow<Given extends Flags = Flags, Typed = unknown> = {
  readonly name: string;
  readonly help: string;
  readonly argument?: Words<Typed>;
  readonly flags: Given;
  /** What its help says below the flags. */
  readonly after?: string;
  // A method, so that a row of certain flags is a row of any.
  run(flags: Values<Given>, typed: Typed, host: HidingHost): Promise<number>;
};

function row<Given extends Flags, Typed>(one: CommandRow<Given, Typed>): CommandRow {
  return one;
}

/** The code of a command is loaded when it runs: `--help` needs none of it. */
async function report(mode: Mode, flags: ReportFlags, host: HidingHost, work: Work): Promise<number> {
  return (await import('./run.ts')).runReporting(mode, flags, host, work);
}

const WRITING = {
  ...SHARED,
  yes: yes('-y, --yes', 'apply without a question'),
  exitCode: yes('--exit-code', 'on a dry run: exit with 2 when changes are pending'),
  expectPlan: parsed(
    '--expect-plan <digest>',
    'refuse to apply any other plan than the one with this digest',
    planDigest,
  ),
  maxChanges: parsed(
    '--max-changes <n>',
    'refuse when more prompts would change: a number, or a percentage',
    maxChanges,
  ),
  base: parsed('--base <ref>', 'tell what was changed in the service since this commit: drift', ref),
  changedSince: parsed('--changed-since <ref>', 'look only at prompts whose files differ from this commit', ref),
  onDrift: oneOf('--on-drift <what>', 'what to do about drift from outside', ['overwrite', 'fail']),
  allowDirty: yes('--allow-dirty', 'write from files that differ from the last commit as well'),
};
export type SyncFlags = Values<typeof WRITING> & { readonly dryRun: boolean };

async function runSync(flags: SyncFlags, host: HidingHost): Promise<number> {
  return report(flags.dryRun ? 'dry-run' : 'apply', flags, host, async (world, onCall) => {
    const [{ sync }, { syncOptions }] = await Promise.all([import('../commands/sync.ts'), import('./run.ts')]);
    return sync({ ...syncOptions(flags, host), onCall }, world);
  });
}

const sync = row({
  name: 'sync',
  help: 'make the service match the prompt files',
  flags: { ...WRITING, dryRun: yes('--dry-run', 'show what would change; write nothing') },
  run: (flags, _, host) => runSync(flags, host),
});

const plan = row({
  name: 'plan',
  help: 'the same as sync --dry-run',
  flags: WRITING,
  run: (flags, _, host) => runSync({ ...flags, dryRun: true }, host),
});

const validate = row({
  name: 'validate',
  help: 'check configuration and prompt files; needs no key',
  flags: SHARED,
  run: (flags, _, host) =>
    report('validate', flags, host, async (world) => (await import('../commands/validate.ts')).validate(flags, world)),
});

const status = row({
  name: 'status',
  help: 'show what is active in each environment, and what should be',
  flags: SHARED,
  run: (flags, _, host) =>
    report('status', flags, host, async (world, onCall) =>
      (await import('../commands/status.ts')).status({ ...flags, onCall }, world),
    ),
});

const workflows: Flag<boolean | undefined> = new Option(
  '--workflows',
  'write the workflows for GitHub Actions (the default)',
);
const init = row({
  name: 'init',
  help: 'begin a workspace here; on a terminal it asks for what is not given',
  flags: {
    url: text('--url <url>', 'where the prompt service is'),
    embedded: yes('--embedded', 'use the embedded service instead, for a first try'),
    apiKeyEnv: text(
      '--api-key-env <name>',
      'the name of the variable that holds the key (default: PROMPTSYNC_API_KEY)',
    ),
    dir: text('--dir <folder>', 'where the prompt files are (default: prompts)'),
    environments: text('--environments <names>', 'in promotion order (default: staging,production)'),
    id: text('--id <id>', 'a first prompt to import; checks address and key before anything is written'),
    workflows,
    noWorkflows: new Option('--no-workflows', 'write none'),
    force: yes('--force', 'overwrite files that are there and differ'),
    ...REPORT,
  },
  run: (flags, _, host) =>
    report('init', flags, host, async (world, onCall) =>
      (await import('../commands/init.ts')).init({ ...flags, onCall }, world),
    ),
});

const importPrompts = row({
  name: 'import',
  help: 'make prompt files of prompts that the service has',
  argument: words('<id...>', 'the ids of the prompts, as the service shows them'),
  flags: {
    environment: parsed(
      '-e, --environment <env>',
      'whose text to take (default: the first that serves one)',
      environmentName,
    ),
    dir: text('--dir <folder>', 'where the files go, relative to promptsync.yaml'),
    dryRun: yes('--dry-run', 'show what would be written; write nothing'),
    ...CONFIG,
    ...REPORT,
  },
  run: (flags, ids, host) =>
    report('import', flags, host, async (world, onCall) =>
      (await import('../commands/import.ts')).importPrompts({ ...flags, ids, onCall }, world),
    ),
});

const KEYS = 'keys, paths or patterns of prompts';
const promote = row({
  name: 'promote',
  help: 'pin an environment to the version that another one serves',
  argument: words('[keys...]', KEYS),
  flags: {
    to: needed('--to <env>', 'the environment to pin'),
    from: text('--from <env>', 'the one that serves the version (default: promote_from of the other)'),
    all: yes('--all', 'all prompts'),
    ...EDIT,
  },
  run: (flags, named, host) =>
    report('promote', flags, host, async (world, onCall) =>
      (await import('../commands/promote.ts')).promote({ ...flags, named, onCall }, world),
    ),
});

const rollback = row({
  name: 'rollback',
  help: 'pin an environment to the version that it served before',
  argument: word('<key>', 'key, path or pattern of the prompt'),
  flags: {
    environment: needed('-e, --environment <env>', 'the environment to pin'),
    to: parsed('--to <n>', 'a version number instead of the one before', versionNumber),
    ...EDIT,
  },
  run: (flags, key, host) =>
    report('rollback', flags, host, async (world, onCall) =>
      (await import('../commands/rollback.ts')).rollback({ ...flags, named: [key], onCall }, world),
    ),
});

const pull = row({
  name: 'pull',
  help: 'bring what was changed in the service into the files',
  argument: words('[keys...]', `${KEYS} (default: all)`),
  flags: {
    environment: text('-e, --environment <env>', 'the environment to pull from (default: all that are pinned)'),
    ours: yes('--ours', 'in a conflict keep what the file has'),
    theirs: yes('--theirs', 'in a conflict take what the service has'),
    ...EDIT,
  },
  run: (flags, named, host) =>
    report('pull', flags, host, async (world, onCall) => {
      const [{ pull }, { sideOf }] = await Promise.all([import('../commands/pull.ts'), import('./run.ts')]);
      return pull({ ...flags, named, side: sideOf(flags), onCall }, world);
    }),
});

const history = row({
  name: 'history',
  help: 'show the versions of a prompt: who made them, where they run',
  argument: word('<key>', 'the key or path of a prompt, or a pattern of either'),
  flags: {
    ...CONFIG,
    ...REPORT,
    environment: text(
      '-e, --environment <env>',
      'only what this environment serves: where it comes from, who pinned it',
    ),
  },
  after: `
Dates are those of commits. A version is made from the commit that last changed its
file, and pinned by the commit that changed the pin on the branch checked out here.
Ids of versions are told by --environment and --format json.`,
  run: (flags, key, host) =>
    report('history', flags, host, async (world, onCall) =>
      (await import('../commands/history.ts')).history({ ...flags, key, onCall }, world),
    ),
});

const db: Flag<string> = new Option('--db <file>', 'the SQLite file that holds it').default('.promptsync/service.db');
const freePort: Flag<number> = new Option('--port <n>', 'the port on 127.0.0.1; 0 takes a free one')
  .argParser(port)
  .default(4010);
const seed: Flag<string | true | undefined> = new Option(
  '--seed [workspace]',
  'make the prompt ids of a workspace known first: its folder or configuration',
);
const serve = row({
  name: 'serve',
  help: 'run the embedded service: for trying and testing, on this machine alone',
  flags: { db, port: freePort, seed },
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
const schemaName: Words<keyof typeof SCHEMAS> = new Argument('<name>', 'what it is of').choices(Object.keys(SCHEMAS));
const schema = row({
  name: 'schema',
  help: 'print a JSON Schema, for editors and checks',
  argument: schemaName,
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

const shell: Words<Shell> = new Argument('<shell>', 'the shell').choices(SHELLS);
const completion = row({
  name: 'completion',
  help: 'print the completion script of a shell',
  argument: shell,
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
  ...[sync, plan, validate, status, init, importPrompts, promote, rollback, pull, history],
  ...[serve, schema, completion],
];
