import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Corpora and matrices: `npm run test:slow`, which CI runs as well.
    exclude: ['test/**/*.slow.test.ts'],
    setupFiles: ['test/support/seed.ts'],
    // .ci/run makes its last line from this report.
    reporters: ['default', ['json', { outputFile: 'node_modules/.cache/promptsync/test-report.json' }]],
    // Children and sockets are waited for most of the time: one worker for each core, the runner's own included.
    maxWorkers: '100%',
    // No test leaves anything behind in a module: loading them once for each worker saves a third of the time.
    isolate: false,
    // Also what ends hostile input that keeps a parser busy: no test looks at the clock itself. Several times what the
    // longest test takes where four others want the same core.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
