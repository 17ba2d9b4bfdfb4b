import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** What goes through many cases: hostile texts, faults, sizes. `npm test` leaves it out. */
const SLOW = 'test/**/*.slow.test.ts';

/** A mutation run repeats these for each mutant: the tests of the mutated rooms and of what they stand on. */
const MUTATION = {
  include: ['test/{planning,applying,providers/four-call,http,git,workspace,editing,observing}/**/*.test.ts'],
  // Half of the time for what is measured elsewhere: how long hostile files keep the parser busy.
  exclude: [SLOW],
  // A mutant that only some seeds find would be found in one run and not in the next.
  env: { TEST_SEED: '1' },
  isolate: true,
};

const projects = [
  { name: 'fast', include: ['test/**/*.test.ts'], exclude: [SLOW] },
  { name: 'slow', include: [SLOW], testTimeout: 300_000 },
];

/** Unless `--project` names others. Vitest takes it from here as well, which its types do not say. */
const BY_DEFAULT = { project: ['fast'] };

export default defineConfig({
  test: {
    globalSetup: ['test/support/before-all.ts'],
    setupFiles: ['test/support/seed.ts'],
    // .ci/run makes its last line from this report.
    reporters: ['default', 'json'],
    outputFile: { json: 'node_modules/.cache/promptsync/test-report.json' },
    // One more than there are cores, because one of them waits for children or for a socket most of the time.
    maxWorkers: availableParallelism() + 1,
    // No test leaves anything behind in a module: loading them once for each worker saves a third of the time.
    isolate: false,
    // Also what ends hostile input that keeps a parser busy: no test looks at the clock itself. Several times what the
    // longest test takes where fifteen others want the same core.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // Stryker takes one project.
    ...(process.env['STRYKER_MUTATOR_WORKER'] === undefined
      ? { ...BY_DEFAULT, projects: projects.map((test) => ({ extends: true, test })) }
      : MUTATION),
  },
});
