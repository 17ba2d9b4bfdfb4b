import { Option } from 'commander';
import { PROMPT_TYPES, type PromptType } from '../domain/chat.ts';
import {
  addKeysToOnly,
  COMMAND_GROUPS,
  defineCommand,
  defineReportCommand,
  type CommandDefinition,
} from './define-command.ts';
import { renderCompletionScript, SHELLS } from './completion.ts';
import {
  makeChoiceArgument,
  CONFIG_FLAGS,
  BRANCH_FLAG,
  BUNDLE_FLAGS,
  DIFF_FLAG,
  DOCTOR_FLAGS,
  ENVIRONMENTS_FLAG,
  PLAN_FLAGS,
  makePortFlag,
  PRINT_FLAGS,
  REPORT_FLAGS,
  SHARED_FLAGS,
  SYNC_FLAGS,
  makeTextFlag,
  makeArgument,
  makeListArgument,
  makeBooleanFlag,
  makeRepeatedFlag,
  type Flag,
} from './flags.ts';
import { KEYS_ARGUMENT, PROMOTE_COMMAND, PULL_COMMAND, ROLLBACK_COMMAND } from './define-edit-commands.ts';
import { INIT_COMMAND } from './define-init-command.ts';

const sync = defineCommand({
  name: 'sync',
  group: 'Every day',
  help: 'make the service match the prompt files',
  argument: KEYS_ARGUMENT,
  flags: SYNC_FLAGS,
  run: async (flags, keys, host) => (await import('./run-command.ts')).runSync(addKeysToOnly(keys, flags), host),
});

const plan = defineCommand({
  name: 'plan',
  group: 'Every day',
  help: 'show what a sync would change or block, without changing anything',
  argument: KEYS_ARGUMENT,
  flags: PLAN_FLAGS,
  after: `
plan compares the prompt files with the service, prompt by prompt. It sends only
read requests. sync --dry-run does the same.`,
  run: async (flags, keys, host) => {
    const dryRunFlags = { dryRun: true, yes: false, anyCommit: false };
    return (await import('./run-command.ts')).runSync({ ...addKeysToOnly(keys, flags), ...dryRunFlags }, host);
  },
});

const validate = defineReportCommand({
  name: 'validate',
  group: 'Every day',
  help: 'check the configuration and the prompt files; needs no key',
  argument: KEYS_ARGUMENT,
  flags: SHARED_FLAGS,
  command: async (options, keys, system) =>
    (await import('../commands/validate.ts')).validatePrompts(addKeysToOnly(keys, options), system),
});

const orphans: Flag<string | true | undefined> = new Option(
  '--orphans [pattern]',
  'list the prompts in the service that have no prompt file, or only those whose names match the pattern',
);
const status = defineReportCommand({
  name: 'status',
  group: 'Every day',
  help: 'show which version each environment serves, and which it should serve',
  argument: KEYS_ARGUMENT,
  flags: { ...SHARED_FLAGS, environment: ENVIRONMENTS_FLAG, orphans },
  command: async ({ environment: environments, ...options }, keys, system) =>
    (await import('../commands/status.ts')).showStatus({ ...addKeysToOnly(keys, options), environments }, system),
});

const importPrompts = defineReportCommand({
  name: 'import',
  group: 'Start',
  help: 'write prompt files for prompts in the service',
  argument: makeListArgument(
    '[ids...]',
    'prompt ids as the service shows them, or patterns that match ids; - reads ids from standard input',
  ),
  flags: {
    environment: makeTextFlag(
      '-e, --environment <env>',
      'import the version that this environment serves (default: the first environment that serves one)',
    ),
    from: makeTextFlag(
      '--from <file>',
      'read prompt ids from a file, one per line; lines that begin with # are comments',
    ),
    dir: makeTextFlag('--dir <folder>', 'the folder for the new files, relative to the folder of promptsync.yaml'),
    dryRun: makeBooleanFlag('--dry-run', 'show which files the command would write, without writing them'),
    commit: makeBooleanFlag(
      '--commit',
      'first make one commit for each environment that serves different text, then commit the new files',
    ),
    branch: BRANCH_FLAG,
    ...CONFIG_FLAGS,
    ...REPORT_FLAGS,
  },
  command: async (options, ids, system, { input }) =>
    (await import('../commands/import/import.ts')).importPrompts({ ...options, ids, input }, system),
});

const promptType: Flag<PromptType> = new Option('--type <type>', 'the type of the prompt')
  .choices(PROMPT_TYPES)
  .default('text');
const newPrompt = defineReportCommand({
  name: 'new',
  group: 'Start',
  help: 'write a new prompt file from a template',
  argument: makeArgument('<key>', 'the key of the new prompt, such as support/greeting'),
  flags: {
    id: makeTextFlag(
      '--id <id>',
      'the id of the prompt in the service; optional if a sync can create the prompt (default: the key or an id derived from it)',
    ),
    type: promptType,
    environment: makeRepeatedFlag(
      '-e, --environment <env>',
      'pin this environment to latest (default: the first environment in promptsync.yaml)',
    ),
    dryRun: makeBooleanFlag('--dry-run', 'show the file that the command would write, without writing it'),
    ...CONFIG_FLAGS,
    ...REPORT_FLAGS,
  },
  command: async ({ environment: environments, ...options }, key, system) =>
    (await import('../commands/new.ts')).createPromptFile({ ...options, key, environments }, system),
});

const bundle = defineCommand({
  name: 'bundle',
  group: 'Every day',
  help: "write an environment's prompts to files that applications can use",
  argument: KEYS_ARGUMENT,
  flags: BUNDLE_FLAGS,
  after: `
Applications can use the files as a fallback when they cannot reach the service.
The TypeScript and Python files also declare a type for the variables of each
prompt. The command reads each prompt once. If it cannot read a pinned prompt,
it fails without writing any files.`,
  run: async (flags, keys, host) => (await import('./run-bundle.ts')).runBundle(addKeysToOnly(keys, flags), host),
});

const history = defineReportCommand({
  name: 'history',
  group: 'Every day',
  help: 'show the versions of each prompt, who created them, and where they are active',
  argument: KEYS_ARGUMENT,
  flags: {
    ...SHARED_FLAGS,
    environment: makeTextFlag(
      '-e, --environment <env>',
      'show only the version that this environment serves, where it came from, and who pinned it',
    ),
  },
  after: `
For each version, the command shows the commit from which the version was
created. For each pin, it shows which commit on the checked-out branch
changed the pin. The time shown is the author date of the commit or, for a
version without a commit, the time when the service created the version. All
times are in UTC. To see version ids, use --environment or --format json.`,
  command: async (options, keys, system) =>
    (await import('../commands/history.ts')).showHistory(addKeysToOnly(keys, options), system),
});

const show = defineCommand({
  name: 'show',
  group: 'CI',
  help: 'print a saved JSON report in a format of your choice',
  argument: makeArgument('<file>', 'a JSON report, written with --output plan.json or --format json'),
  flags: { ...PRINT_FLAGS, diff: DIFF_FLAG },
  run: async (flags, file, host) => (await import('./run-command.ts')).runShow(file, flags, host),
});

const comment = defineCommand({
  name: 'comment',
  group: 'CI',
  help: 'publish a JSON report as a note on a GitLab merge request',
  argument: makeArgument('<file>', 'a JSON report, written with --output plan.json or --format json'),
  flags: CONFIG_FLAGS,
  after: `
Run this command in a GitLab CI job for a merge request. GITLAB_TOKEN must
contain a project access token with the api scope and the Reporter role. If
there is no token, or if the command runs outside such a job, it does nothing
and exits with code 0.`,
  run: async (flags, file, host) => (await import('./run-command.ts')).runComment({ ...flags, file }, host),
});

const demo = defineCommand({
  name: 'demo',
  group: 'Start',
  help: 'show how promptsync works, in a temporary repository; needs no key',
  flags: { keep: makeBooleanFlag('--keep', 'keep the repository so that you can explore it') },
  run: async (flags, _, host, main) => (await import('./run-demo.ts')).runDemo(flags, host, main),
});

const doctor = defineCommand({
  name: 'doctor',
  group: 'Start',
  help: 'check the repository, the configuration, the service, and the CI job',
  flags: DOCTOR_FLAGS,
  after: `
Without --write, the command sends only read requests. With --write, it creates
versions of the prompt given by --prompt and activates them, but only in the
promptsync-doctor environment. The versions stay in the service, so choose a
prompt that no application reads. If the service's API can create prompts, omit
--prompt: the command then creates a test prompt and deletes it afterward.`,
  run: async (flags, _, host) => (await import('./run-doctor.ts')).runDoctor(flags, host),
});

const db: Flag<string> = new Option('--db <file>', 'the SQLite file that stores the prompts').default(
  '.promptsync/service.db',
);
const seed: Flag<string | true | undefined> = new Option(
  '--seed [workspace]',
  'on startup, register the prompts of this workspace, given as a folder or a configuration file (without a value: the current folder)',
);
const serve = defineCommand({
  name: 'serve',
  group: 'Service',
  help: 'run the embedded service on this machine, for trials and tests',
  flags: { db, port: makePortFlag('--port <n>', 'the port on 127.0.0.1; 0 chooses a free port', 4010), seed },
  after: `
The service's API cannot create prompts. To register a workspace's prompts,
start the service with --seed. At first, the prompts have no versions. If
base_url in promptsync.yaml points to the service, a sync creates the first
version of each prompt:
  PROMPTSYNC_API_KEY=embedded promptsync sync

The service accepts the API key set in PROMPTSYNC_API_KEY. If that variable is
not set, the API key is "embedded".`,
  run: async (flags, _, host) => (await import('./run-command.ts')).runServe(flags, host),
});

/** The JSON Schemas, by the name that the user types. They stay outside of the bundle, in `schemas/` of the package. */
const SCHEMAS = {
  config: () => import('../../schemas/promptsync.schema.json', { with: { type: 'json' } }),
  'front-matter': () => import('../../schemas/front-matter.schema.json', { with: { type: 'json' } }),
  report: () => import('../../schemas/report.schema.json', { with: { type: 'json' } }),
  bundle: () => import('../../schemas/bundle.schema.json', { with: { type: 'json' } }),
  doctor: () => import('../../schemas/doctor.schema.json', { with: { type: 'json' } }),
} as const satisfies Readonly<Record<string, () => Promise<{ readonly default: object }>>>;
const schema = defineCommand({
  name: 'schema',
  group: 'Start',
  help: 'print a JSON Schema for editors and validators',
  argument: makeChoiceArgument('<name>', 'the schema to print', [
    'config',
    'front-matter',
    'report',
    'bundle',
    'doctor',
  ]),
  flags: {},
  after: `
The first line of promptsync.yaml tells editors where to find its schema. If the
promptsync package is not in node_modules, save the schema to a file and point
the first line to that file:
  promptsync schema config > promptsync.schema.json
  # yaml-language-server: $schema=promptsync.schema.json`,
  run: async (_, name, host) => {
    host.output.write(`${JSON.stringify((await SCHEMAS[name]()).default, null, 2)}\n`);
    return 0;
  },
});

const completion = defineCommand({
  name: 'completion',
  group: 'Start',
  help: 'print the completion script for a shell',
  argument: makeChoiceArgument('<shell>', 'the shell', SHELLS),
  flags: {},
  after: `
The script completes commands, flags, formats, prompt keys, environments,
branches, and tags. It omits names that would need quoting in a shell.

To install the script:
  bash  echo 'source <(promptsync completion bash)' >> ~/.bashrc
  zsh   echo 'source <(promptsync completion zsh)' >> ~/.zshrc    after compinit
  fish  promptsync completion fish > ~/.config/fish/completions/promptsync.fish

After npx promptsync, with or without --no-install, the script completes only
commands and flags, because npx might run a program from the checked-out branch.
In bash and zsh, it does not replace an existing completion for npx. If
promptsync is installed only in node_modules, it might not be on your PATH. In
that case, write the script to a file once, then load that file:
  npx --no-install promptsync completion bash > ~/.promptsync-completion
  echo 'source ~/.promptsync-completion' >> ~/.bashrc`,
  run: async (_, shell, host) => {
    host.output.write(renderCompletionScript(shell, DEFINITIONS));
    return 0;
  },
});

const DEFINITIONS: readonly CommandDefinition[] = [
  demo,
  INIT_COMMAND,
  importPrompts,
  newPrompt,
  doctor,
  schema,
  completion,
  validate,
  plan,
  sync,
  status,
  PROMOTE_COMMAND,
  ROLLBACK_COMMAND,
  PULL_COMMAND,
  history,
  bundle,
  show,
  comment,
  serve,
];

/** All commands, in the order in which the help lists them: by group, and in the order of `DEFINITIONS` within a group. */
export const COMMANDS: readonly CommandDefinition[] = COMMAND_GROUPS.flatMap((group) =>
  DEFINITIONS.filter((definition) => definition.group === group),
);
