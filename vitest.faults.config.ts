import { defineConfig } from 'vitest/config';

/** The whole of test/faults, which the default run goes through in part. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    env: { PROMPTSYNC_FAULTS: 'all' },
    // Thousands of cells: those that failed are listed at the end all the same.
    reporters: ['dot'],
    maxWorkers: '100%',
    testTimeout: 60_000,
  },
});
