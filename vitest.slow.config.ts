import { defineConfig } from 'vitest/config';
import fast from './vitest.config.ts';

/** What goes through many cases: hostile texts, faults, sizes. `npm test` leaves it out, so that it ends in two minutes. */
export default defineConfig({
  test: {
    ...fast.test,
    include: ['test/**/*.slow.test.ts'],
    exclude: [],
    reporters: ['default', ['json', { outputFile: 'node_modules/.cache/promptsync/slow-test-report.json' }]],
    testTimeout: 300_000,
  },
});
