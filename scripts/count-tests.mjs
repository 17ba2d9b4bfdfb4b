/** Prints the last line of CI from vitest's JSON reports, added up. Plain JavaScript: any Node runs it. */
import { existsSync, readFileSync } from 'node:fs';

const counts = { passed: 0, failed: 0, skipped: 0 };
for (const path of process.argv.slice(2)) {
  // A run that left no report could not even begin.
  if (!existsSync(path)) {
    counts.failed += 1;
    continue;
  }
  const report = JSON.parse(readFileSync(path, 'utf8'));
  // A file that could not be loaded has no tests to count, and is a failure all the same.
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  counts.passed += report.numPassedTests;
  counts.failed += report.numFailedTests + broken.length;
  counts.skipped += report.numPendingTests + report.numTodoTests;
}
const { passed, failed, skipped } = counts;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
