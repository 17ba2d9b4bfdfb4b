/** A room: a folder of `src/`, or a single file that has its own row in the table. */
export type Room = {
  readonly purpose: string;
  /** The rooms and single files of `src/` that the room may import in addition to `SHARED_ROOMS`. */
  readonly rooms: readonly string[];
  /** The packages that the room may import. `node:` stands for all modules of Node. */
  readonly packages: readonly string[];
};

/** The rooms that every other room may import. Their own rows in `ROOMS` list the few rooms that they import. */
export const SHARED_ROOMS = ['text.ts', 'words.ts', 'problem.ts', 'domain'] as const;

/**
 * The design of the code: the purpose and the allowed imports of each room. `test/architecture.test.ts` enforces this
 * table, and `npm run generate` copies it to docs/ARCHITECTURE.md. To allow another import, change this table first.
 */
export const ROOMS: Readonly<Record<string, Room>> = {
  'text.ts': { purpose: 'pure functions on strings', rooms: [], packages: [] },
  'words.ts': {
    purpose: 'the words that messages use for a service and for its environments',
    rooms: [],
    packages: [],
  },
  problems: { purpose: 'the wording of every problem, by subject', rooms: ['text.ts', 'words.ts'], packages: [] },
  'problem.ts': {
    purpose: 'the catalog of everything that can go wrong for a user, as one closed union of codes',
    rooms: ['problems', 'langfuse/problems.ts', 'words.ts'],
    packages: [],
  },
  'langfuse/problems.ts': {
    // This file is in the folder of its provider, but `problem.ts` imports it: `ProblemCode` is one union of all codes.
    purpose: 'the wording of the problems that only Langfuse has',
    rooms: ['problems/catalog-entry.ts'],
    packages: [],
  },
  domain: {
    purpose: 'the types that rooms share, and small pure functions for them',
    rooms: ['text.ts', 'words.ts', 'problem.ts'],
    packages: ['node:crypto', 'node:net', 'node:process', 'fastest-levenshtein'],
  },
  files: {
    purpose: 'parses, edits, and writes Markdown and YAML files; holds the lock of the workspace',
    rooms: ['providers/list.ts'],
    packages: ['node:', 'gray-matter', 'proper-lockfile', 'yaml', 'zod'],
  },
  git: { purpose: 'reads and edits the git repository', rooms: [], packages: ['node:', 'simple-git', 'p-limit'] },
  config: {
    purpose: 'reads and checks `promptsync.yaml`',
    // This room uses git only to ask whether git accepts the repository.
    rooms: ['files', 'providers/descriptor.ts', 'providers/list.ts', 'git/accepts-repository.ts', 'git/open-git.ts'],
    packages: ['node:', 'zod'],
  },
  service: {
    purpose: 'sends HTTP requests with retries, and has the client of the four calls',
    rooms: [],
    packages: ['node:', 'p-limit', 'undici', 'zod'],
  },
  'providers/descriptor.ts': {
    purpose: 'what the rest of promptsync knows about a provider',
    // The descriptor imports only a type from this file.
    rooms: ['service/connection.ts'],
    packages: [],
  },
  ledger: {
    purpose: 'the provider for four-call services: version records, the tracking environment, and probes',
    // Only the descriptor imports the client, and only when it opens the service.
    rooms: [
      'providers/descriptor.ts',
      'service/client.ts',
      'service/check-conformance.ts',
      'service/conformance-target.ts',
      'service/prompt-service.ts',
      'service/retry.ts',
      'service/write-outcome.ts',
    ],
    packages: ['zod'],
  },
  langfuse: {
    purpose: 'the provider for Langfuse',
    rooms: [
      'langfuse/problems.ts',
      'providers/descriptor.ts',
      'service/check-conformance.ts',
      'service/conformance-target.ts',
      'service/connection.ts',
      'service/error-message.ts',
      'service/prompt-service.ts',
      'service/retry.ts',
      'service/service-call.ts',
      'service/write-outcome.ts',
    ],
    packages: ['zod'],
  },
  'providers/list.ts': {
    purpose: 'the one list of providers',
    rooms: ['providers/descriptor.ts', 'ledger/descriptor.ts', 'langfuse/descriptor.ts'],
    packages: [],
  },
  'providers/conformance-checks.ts': {
    purpose: 'the conformance check of each provider',
    rooms: [
      'providers/descriptor.ts',
      'providers/list.ts',
      'ledger/check-conformance.ts',
      'langfuse/check-conformance.ts',
    ],
    packages: [],
  },
  'history/line.ts': {
    purpose: 'the line of a prompt: the states of its file, newest first; pure',
    rooms: [],
    packages: [],
  },
  'history/prompt-history.ts': {
    purpose: 'what the planner needs from git about one prompt',
    rooms: ['history/line.ts'],
    packages: [],
  },
  history: {
    purpose: 'reads the line of a prompt from git; every question about the past asks the line',
    rooms: ['history/line.ts', 'history/prompt-history.ts', 'files', 'config', 'git'],
    packages: ['node:'],
  },
  desired: {
    purpose: 'makes the desired state from the files, the configuration and git',
    rooms: ['files', 'config', 'git', 'history', 'history/line.ts', 'history/prompt-history.ts', 'planning'],
    packages: ['node:'],
  },
  observing: { purpose: 'reads the current state from a provider', rooms: [], packages: ['p-limit'] },
  planning: { purpose: 'makes the plan; pure', rooms: ['history/line.ts', 'history/prompt-history.ts'], packages: [] },
  applying: { purpose: 'writes the changes of a plan to a provider', rooms: [], packages: ['p-limit'] },
  review: { purpose: 'decides which review covers which change; pure', rooms: [], packages: [] },
  report: {
    purpose: 'the shape of the report, and its output formats',
    // Reports name the same commands as the hints of problems.
    rooms: ['problems/catalog-entry.ts'],
    packages: ['diff', 'fast-string-width', 'fast-wrap-ansi', 'picocolors', 'zod'],
  },
  bundle: { purpose: 'renders bundles for applications in all formats; pure', rooms: [], packages: ['zod'] },
  doctor: {
    purpose: 'the output formats of `promptsync doctor`; pure',
    // The text output has the style of a report.
    rooms: ['report/escape.ts', 'report/style.ts'],
    packages: ['zod'],
  },
  embedded: { purpose: 'the embedded service, on SQLite', rooms: ['service/wire.ts'], packages: ['node:', 'zod'] },
  commands: {
    purpose: 'one file for each command, and the code that makes the report',
    rooms: [
      'desired',
      'history',
      'history/line.ts',
      'history/prompt-history.ts',
      'observing',
      'planning',
      'applying',
      'bundle',
      'report',
      'files',
      'config',
      'git',
      'providers/descriptor.ts',
      'providers/list.ts',
      'providers/conformance-checks.ts',
      'service/connection.ts',
      // `doctor` sends a few requests to the API of GitHub or GitLab.
      'service/http.ts',
      'service/interpret-exchange.ts',
      'embedded',
      // The next steps of a rollback quote names for a shell, as the hints of problems do.
      'problems/catalog-entry.ts',
    ],
    packages: ['node:'],
  },
  gitlab: {
    purpose: 'publishes a report as a note on a merge request',
    rooms: [
      'commands/read-report.ts',
      'commands/make-sticky-section.ts',
      'commands/upsert-sticky-text.ts',
      'report',
      // These files are the transport and its errors. `gitlab` uses none of the prompt services.
      'service/http.ts',
      'service/interpret-exchange.ts',
      'service/prompt-service.ts',
      'service/retry.ts',
    ],
    packages: ['node:', 'zod'],
  },
  cli: {
    purpose: 'the table of commands; arguments, output, and questions in the terminal',
    rooms: [
      'commands',
      'gitlab',
      'bundle',
      'doctor',
      'report',
      'files',
      'providers/list.ts',
      'desired/open-workspace.ts',
      // The demo makes a repository, and edits prompts in its embedded service as a person would.
      'git/open-git.ts',
      'embedded/store.ts',
      '../package.json',
      '../schemas',
    ],
    packages: ['node:', 'commander', '@clack/prompts', 'supports-hyperlinks'],
  },
  github: {
    purpose: 'runs the command for an event; writes the result to the check, the comment, annotations, and outputs',
    rooms: [
      'review',
      'commands',
      'report',
      'providers/list.ts',
      // Every command runs with this host, which redacts secrets and handles signals.
      'cli/host.ts',
      'cli/make-world.ts',
      // The action reads the configuration before git starts, because git must not inherit the variables of API keys.
      'config/config.ts',
      'config/load-config.ts',
      'config/make-git-settings.ts',
      'desired/open-workspace.ts',
      // The action needs the root of the checkout, its missing history, the tip of its branch, and a branch for
      // proposals.
      'files/paths.ts',
      'git/open-git.ts',
      'git/open-proposal.ts',
      'git/open-remote.ts',
      'git/open-repository.ts',
    ],
    packages: ['node:', 'undici', 'zod', '@octokit'],
  },
  'compile-cache.ts': { purpose: 'a private folder for compiled code', rooms: [], packages: ['node:'] },
  'cli.ts': { purpose: 'entry point of the command line', rooms: ['cli', 'compile-cache.ts'], packages: ['node:'] },
  'action.ts': {
    purpose: 'entry point of the GitHub Action',
    rooms: ['github', 'cli/process-host.ts'],
    packages: ['@actions/core'],
  },
  'index.ts': { purpose: 'the library', rooms: ['*'], packages: [] },
};
