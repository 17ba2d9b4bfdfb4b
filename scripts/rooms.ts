/** A room: a folder of `src/`, or a single file that has its own row in the table. */
export type Room = {
  readonly purpose: string;
  /** The rooms and single files of `src/` that the room may import in addition to `SHARED_ROOMS`. */
  readonly rooms: readonly string[];
  /** The packages that the room may import. `node:` stands for all modules of Node. */
  readonly packages: readonly string[];
};

/** The rooms that every other room may import. Their own rows in `ROOMS` list the few rooms that they import. */
export const SHARED_ROOMS = ['text.ts', 'service-words.ts', 'problem.ts', 'domain'] as const;

/**
 * The design of the code: the purpose and the allowed imports of each room. `test/architecture.test.ts` enforces this
 * table, and `npm run generate` copies it to docs/ARCHITECTURE.md. To allow another import, change this table first.
 * A file belongs to the room with the longest name that its path begins with.
 */
export const ROOMS: Readonly<Record<string, Room>> = {
  'text.ts': { purpose: 'pure functions on strings', rooms: [], packages: [] },
  'service-words.ts': {
    purpose: 'the words that messages use for a service and for its environments',
    rooms: [],
    packages: [],
  },
  problems: {
    purpose: 'the wording of every problem, by subject',
    rooms: ['text.ts', 'service-words.ts'],
    packages: [],
  },
  'providers/langfuse/langfuse-problems.ts': {
    // This file is in the folder of its provider, but `problem.ts` imports it: `ProblemCode` is one union of all codes.
    purpose: 'the wording of the problems that only Langfuse has',
    rooms: ['problems/catalog-entry.ts'],
    packages: [],
  },
  'problem.ts': {
    purpose: 'the catalog of everything that can go wrong for a user, as one closed union of codes',
    rooms: ['problems', 'providers/langfuse/langfuse-problems.ts', 'service-words.ts'],
    packages: [],
  },
  domain: {
    purpose: 'the types that rooms share, and small pure functions for them',
    rooms: ['text.ts', 'service-words.ts', 'problem.ts'],
    packages: ['node:crypto', 'node:net', 'node:process', 'fastest-levenshtein'],
  },
  git: { purpose: 'reads and edits the git repository', rooms: [], packages: ['node:', 'simple-git', 'p-limit'] },
  http: {
    purpose: 'sends HTTP requests, repeats them, and interprets responses, for any service',
    rooms: [],
    packages: ['node:', 'p-limit', 'undici', 'zod'],
  },
  'providers/provider-interface.ts': {
    purpose: 'the functions that every provider implements',
    rooms: [],
    packages: [],
  },
  'providers/provider-descriptor.ts': {
    purpose: 'what the rest of promptsync knows about a provider',
    // The descriptor imports only a type from `http`.
    rooms: ['http/connection.ts', 'providers/provider-interface.ts'],
    packages: [],
  },
  'providers/write-outcome.ts': {
    purpose: 'the outcomes of writes, and the search for a version whose response was lost, for all providers',
    rooms: ['http/service-error.ts', 'providers/provider-interface.ts'],
    packages: [],
  },
  'providers/four-call': {
    purpose: 'the provider for services with the four calls: version records, the tracking environment, and probes',
    rooms: [
      'http',
      'providers/provider-interface.ts',
      'providers/provider-descriptor.ts',
      'providers/write-outcome.ts',
    ],
    packages: ['zod'],
  },
  'providers/langfuse': {
    purpose: 'the provider for Langfuse',
    rooms: [
      'http',
      'providers/langfuse/langfuse-problems.ts',
      'providers/provider-interface.ts',
      'providers/provider-descriptor.ts',
      'providers/write-outcome.ts',
    ],
    packages: ['zod'],
  },
  'providers/provider-list.ts': {
    purpose: 'the one list of providers',
    rooms: [
      'providers/provider-descriptor.ts',
      'providers/four-call/descriptor.ts',
      'providers/langfuse/descriptor.ts',
    ],
    packages: [],
  },
  conformance: {
    purpose: 'what `doctor --write` checks in a service, for all providers',
    rooms: ['http', 'providers'],
    packages: ['zod'],
  },
  workspace: {
    purpose: 'finds, reads, and checks `promptsync.yaml` and the prompt files; holds the lock of the workspace',
    rooms: [
      'providers/provider-interface.ts',
      'providers/provider-descriptor.ts',
      'providers/provider-list.ts',
      // This room uses git only to ask whether git accepts the repository.
      'git/accepts-repository.ts',
      'git/run-git.ts',
    ],
    packages: ['node:', 'gray-matter', 'proper-lockfile', 'yaml', 'zod'],
  },
  'history/line-of-states.ts': {
    purpose: 'the line of a prompt: the states of its file, newest first; pure',
    rooms: [],
    packages: [],
  },
  'history/prompt-history.ts': {
    purpose: 'what the planner needs from git about one prompt',
    rooms: ['history/line-of-states.ts'],
    packages: [],
  },
  history: {
    purpose: 'reads the line of a prompt from git; every question about the past asks the line',
    rooms: ['git', 'history/line-of-states.ts', 'history/prompt-history.ts', 'workspace'],
    packages: ['node:'],
  },
  observing: {
    purpose: 'reads the current state from a provider',
    rooms: ['providers/provider-interface.ts'],
    packages: ['p-limit'],
  },
  planning: {
    purpose: 'makes the plan; pure',
    rooms: ['history/line-of-states.ts', 'history/prompt-history.ts', 'providers/provider-interface.ts'],
    packages: [],
  },
  applying: {
    purpose: 'writes the changes of a plan to a provider',
    rooms: ['providers/provider-interface.ts'],
    packages: ['p-limit'],
  },
  'desired-state': {
    purpose: 'makes the desired state from the files, the configuration and git',
    rooms: ['git', 'history', 'history/line-of-states.ts', 'history/prompt-history.ts', 'planning', 'workspace'],
    packages: ['node:'],
  },
  'report/schema': { purpose: 'the shape of the JSON report', rooms: [], packages: ['zod'] },
  'run/command-result.ts': {
    purpose: 'what a command returns: everything that it read, planned, and changed',
    rooms: ['history/line-of-states.ts', 'providers/provider-interface.ts', 'report/schema', 'workspace'],
    packages: [],
  },
  report: {
    purpose: 'makes the report of a command, and the sentences that several formats share',
    rooms: [
      'history/line-of-states.ts',
      'planning/choose-pull.ts',
      // Reports name the same commands as the hints of problems.
      'problems/catalog-entry.ts',
      'providers/provider-interface.ts',
      'report/schema',
      'run/command-result.ts',
      'workspace/read-write-files.ts',
    ],
    packages: ['diff', 'fast-string-width', 'fast-wrap-ansi', 'node:path', 'picocolors'],
  },
  'report/formats': {
    purpose: 'renders a report as text, Markdown, HTML, and JUnit; pure',
    rooms: ['report', 'report/schema'],
    packages: [],
  },
  bundle: { purpose: 'renders bundles for applications in all formats; pure', rooms: [], packages: ['zod'] },
  embedded: {
    purpose: 'the embedded service, on SQLite',
    rooms: ['providers/four-call/api-shapes.ts'],
    packages: ['node:', 'zod'],
  },
  run: {
    purpose: 'what commands share: the planned run, the opened service, guards of a run, and exit codes',
    rooms: [
      'desired-state',
      'embedded',
      'git',
      'history',
      'history/prompt-history.ts',
      'http/connection.ts',
      'observing',
      'planning',
      'providers/provider-interface.ts',
      'providers/provider-descriptor.ts',
      'providers/provider-list.ts',
      'run/command-result.ts',
      'workspace',
    ],
    packages: ['node:'],
  },
  editing: {
    purpose: 'changes prompt files: pins, texts, merges, and the commits of these changes',
    rooms: ['git', 'history', 'planning', 'run', 'run/command-result.ts', 'workspace'],
    packages: ['node:', 'yaml'],
  },
  commands: {
    purpose: 'one file or folder for each command',
    rooms: [
      'applying',
      'bundle',
      'conformance',
      'desired-state',
      'editing',
      'embedded',
      'git',
      'history',
      'history/line-of-states.ts',
      'history/prompt-history.ts',
      // `doctor` sends a few requests to the API of GitHub or GitLab.
      'http',
      'observing',
      'planning',
      // The next steps of a rollback quote names for a shell, as the hints of problems do.
      'problems/catalog-entry.ts',
      'providers/provider-interface.ts',
      'providers/provider-list.ts',
      'report',
      'report/schema',
      'run',
      'run/command-result.ts',
      'workspace',
    ],
    // `init` edits the example workflows as YAML.
    packages: ['node:', 'yaml', 'zod'],
  },
  'forges/approval.ts': { purpose: 'decides which review covers which change; pure', rooms: [], packages: [] },
  forges: {
    purpose: 'comments, notes, and issues that promptsync finds again by a marker and updates, for all forges',
    rooms: ['report/escape.ts', 'report/formats', 'workspace/config.ts'],
    packages: ['node:path'],
  },
  'forges/gitlab': {
    purpose: 'publishes a report as a note on a merge request',
    rooms: ['forges', 'http', 'report', 'report/formats', 'report/schema'],
    packages: ['node:', 'zod'],
  },
  cli: {
    purpose: 'the table of commands; arguments, output, and questions in the terminal',
    rooms: [
      'bundle',
      'commands',
      // The demo makes a repository, and edits prompts in its embedded service as a person would.
      'embedded/prompt-store.ts',
      'git/run-git.ts',
      'forges/gitlab',
      'providers/provider-list.ts',
      'report',
      'report/formats',
      'report/schema',
      'run',
      'run/command-result.ts',
      'workspace',
      '../package.json',
      '../schemas',
    ],
    packages: ['node:', 'commander', '@clack/prompts', 'supports-hyperlinks'],
  },
  'forges/github': {
    purpose: 'runs the command for an event; writes the result to the check, the comment, annotations, and outputs',
    rooms: [
      'commands',
      // Every command runs in this process, which redacts secrets and handles signals.
      'cli/make-system.ts',
      'cli/process-interface.ts',
      'desired-state/open-workspace.ts',
      'forges',
      'forges/approval.ts',
      // The action needs the root of the checkout, its missing history, the tip of its branch, and a branch for
      // proposals.
      'git',
      'providers/provider-list.ts',
      'report',
      'report/formats',
      'report/schema',
      'run',
      'run/command-result.ts',
      // The action reads the configuration before git starts, because git must not inherit the variables of API keys.
      'workspace',
    ],
    packages: ['node:', 'undici', 'zod', '@octokit'],
  },
  'compile-cache.ts': { purpose: 'a private folder for compiled code', rooms: [], packages: ['node:'] },
  'cli.ts': { purpose: 'entry point of the command line', rooms: ['cli', 'compile-cache.ts'], packages: ['node:'] },
  'action.ts': {
    purpose: 'entry point of the GitHub Action',
    rooms: ['forges/github', 'cli/node-process.ts'],
    packages: ['@actions/core'],
  },
  'index.ts': { purpose: 'the library', rooms: ['*'], packages: [] },
};
