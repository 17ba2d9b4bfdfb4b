/**
 * Prints the end of CI from vitest's JSON reports: what failed, by name, and as the last line the counts, added up.
 * Plain JavaScript: any Node runs it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const counts = { passed: 0, failed: 0, skipped: 0 };
for (const path of process.argv.slice(2)) {
  // A run that left no report could not even begin.
  if (!existsSync(path)) {
    console.log(`failed: no report ${path}`);
    counts.failed += 1;
    continue;
  }
  const report = JSON.parse(readFileSync(path, 'utf8'));
  // A file that could not be loaded has no tests to count, and is a failure all the same.
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  for (const { name } of broken) console.log(`failed: ${relative('.', name)}, which could not be run`);
  for (const { name, assertionResults } of report.testResults) {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    for (const { fullName } of failed) console.log(`failed: ${relative('.', name)}: ${fullName}`);
  }
  counts.passed += report.numPassedTests;
  counts.failed += report.numFailedTests + broken.length;
  counts.skipped += report.numPendingTests + report.numTodoTests;
}
const { passed, failed, skipped } = counts;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
