import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPage } from './pages.ts';
import { ROOT } from './worlds.ts';

/** Those that a GitHub runner sets, for the action alone. */
const RUNNERS = /^(GITHUB_(WORKSPACE|REPOSITORY|API_URL|EVENT_\w+)|RUNNER_TEMP)$/;

test('docs/commands.md lists the variables that are read, and no others', () => {
  const rows = /## Environment variables\n([\s\S]*)$/.exec(readPage('docs/commands.md'))?.[1] ?? '';
  const listed = [...rows.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, names = '']) => names.match(/\w+/g) ?? []);
  expect(listed.toSorted()).toEqual(readInSources().toSorted());
});

function readInSources(): readonly string[] {
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).map((path) => readFileSync(join(ROOT, path), 'utf8'));
  const read = /environment\['([A-Z_]+)'\]|_VARIABLE = '([A-Z_]+)'|\{ (CI): value/g;
  const names = sources.flatMap((text) => [...text.matchAll(read)].map(([, ...found]) => found.find(Boolean) ?? ''));
  return [...new Set(names)].filter((name) => !RUNNERS.test(name));
}
