import { defineConfig } from 'vitest/config';

/** The tests that a mutation run repeats for each mutant: those of the mutated rooms and of what they stand on. */
export default defineConfig({
  test: {
    include: ['test/{planning,applying,files,observing}/**/*.test.ts'],
    // Half of the time for what is measured elsewhere: how long hostile files keep the parser busy.
    exclude: ['test/**/*.slow.test.ts'],
    // A mutant that only some seeds find would be found in one run and not in the next.
    setupFiles: ['test/support/seed.ts'],
    env: { TEST_SEED: '1' },
    testTimeout: 20_000,
  },
});
