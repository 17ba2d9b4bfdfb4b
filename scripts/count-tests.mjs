/**
 * Prints the last part of the CI log from vitest's JSON reports: the names of failed and skipped tests, and on the last
 * line the counts. A test that ran in several reports counts once: as failed if it failed in one of them, as skipped
 * only if it was skipped in all of them. On GitHub, every dependency is installed, so a skipped test counts as failed.
 * This file is plain JavaScript, so that every version of Node can run it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const RANKS = ['skipped', 'passed', 'failed'];
const statuses = new Map();
for (const path of process.argv.slice(2)) {
  // If a run wrote no report, it failed before its first test.
  if (!existsSync(path)) note(`no report ${path}`, 'failed');
  else for (const file of JSON.parse(readFileSync(path, 'utf8')).testResults) noteFile(file);
}

function noteFile({ name, status, assertionResults }) {
  const file = relative('.', name);
  // A file that could not be loaded has no tests, but it counts as a failure.
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
