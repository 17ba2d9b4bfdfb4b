/**
 * Prints the end of CI from vitest's JSON reports: what failed or was skipped, by name, and as the last line the counts.
 * A test that several runs had counts once: as failed where one of them did, as skipped where all did. On GitHub, where
 * all is installed, skipped is failed. Plain JavaScript: any Node runs it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const RANKS = ['skipped', 'passed', 'failed'];
const statuses = new Map();
for (const path of process.argv.slice(2)) {
  // A run that left no report could not even begin.
  if (!existsSync(path)) note(`no report ${path}`, 'failed');
  else for (const file of JSON.parse(readFileSync(path, 'utf8')).testResults) noteFile(file);
}

function noteFile({ name, status, assertionResults }) {
  const file = relative('.', name);
  // A file that could not be loaded has no tests to count, and is a failure all the same.
  if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) {
    note(`${file}, which could not be run`, 'failed');
  }
  const seen = new Map();
  for (const test of assertionResults) {
    const number = (seen.get(test.fullName) ?? 0) + 1;
    seen.set(test.fullName, number);
    note(`${file}: ${test.fullName}${number > 1 ? ` (${number})` : ''}`, rankOf(test.status));
  }
}

function rankOf(status) {
  if (status === 'passed' || status === 'failed') return status;
  return process.env.GITHUB_ACTIONS === 'true' ? 'failed' : 'skipped';
}

function note(name, status) {
  const before = statuses.get(name) ?? 'skipped';
  statuses.set(name, RANKS.indexOf(status) > RANKS.indexOf(before) ? status : before);
}

const counts = { passed: 0, failed: 0, skipped: 0 };
for (const [name, status] of statuses) {
  counts[status] += 1;
  if (status !== 'passed') console.log(`${status}: ${name}`);
}
const { passed, failed, skipped } = counts;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
