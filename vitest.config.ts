import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // .ci/run makes its last line from this report.
    reporters: ['default', ['json', { outputFile: 'node_modules/.cache/promptsync/test-report.json' }]],
    testTimeout: 20_000,
  },
});
