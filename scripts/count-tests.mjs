/** Prints the last line of CI from vitest's JSON report. Plain JavaScript: any Node runs it. */
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
// A file that could not be loaded has no tests to count, and is a failure all the same.
const broken = report.testResults.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
);
const skipped = report.numPendingTests + report.numTodoTests;
const counts = [`${report.numPassedTests} passed`, `${report.numFailedTests + broken.length} failed`];
console.log([...counts, ...(skipped > 0 ? [`${skipped} skipped`] : [])].join(', '));
