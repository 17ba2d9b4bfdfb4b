import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PAGES, readPage } from './pages.ts';
import { ROOT } from './worlds.ts';

/** `[test/room/name.test.ts](../test/room/name.test.ts): "title"`, the title in straight quotes or as a code span. */
const NAMED = /\[(test\/[\w./-]+\.test\.ts)\]\([^)]*\)(?::\s+("[^"]+"|`[^`]+`))?/g;

type Named = { readonly file: string; readonly title: string | null };

describe.each(PAGES)('%s', (page) => {
  test('names only tests that there are', () => {
    expect(namedIn(readPage(page)).filter((named) => !isThere(named))).toEqual([]);
  });
});

test('each promise of docs/guarantees.md names a test', () => {
  const promises = promisesIn(readPage('docs/guarantees.md'));
  expect(promises.length).toBeGreaterThan(5);
  expect(promises.filter((promise) => namedIn(promise).every(({ title }) => title === null))).toEqual([]);
});

test('all that docs/SECURITY.md says to be impossible names a test', () => {
  const refusals = refusalsIn(readPage('docs/SECURITY.md'));
  expect(refusals.length).toBeGreaterThan(10);
  expect(refusals.filter((refusal) => namedIn(refusal).every(({ title }) => title === null))).toEqual([]);
});

test.each([
  ['a file that is not there', '[test/none.test.ts](../test/none.test.ts): "a"', false],
  ['a title that is not there', '[test/index.test.ts](../test/index.test.ts): "the public API is a whale"', false],
  ['the end of a title alone', '[test/index.test.ts](../test/index.test.ts): "a whole sync"', false],
  ['a title', '[test/index.test.ts](../test/index.test.ts): "the public API is a whole sync"', true],
  ['a code span', '[test/architecture.test.ts](../test/architecture.test.ts): `the dependency rule`', true],
  ['a title over two lines', '[test/index.test.ts](../test/index.test.ts): "the public API is\n  a whole sync"', true],
  ['a file alone', '[test/index.test.ts](../test/index.test.ts)', true],
])('a page names a test: %s', (_, text, there) => {
  expect(namedIn(text).map(isThere)).toEqual([there]);
});

/** What an adversary cannot do: the items of a list after such words. */
function refusalsIn(markdown: string): readonly string[] {
  const lists = markdown.split(/^(?:It|They) cannot:$/m).slice(1);
  return lists.flatMap(
    (text) =>
      text
        .split(/^(?:It|They) can\b/m)[0]
        ?.split(/^- /m)
        .slice(1) ?? [],
  );
}

/** A promise is what stands below a heading, up to the next one. */
function promisesIn(markdown: string): readonly string[] {
  return markdown.split(/^(?=## )/m).slice(1);
}

function namedIn(markdown: string): readonly Named[] {
  return [...markdown.matchAll(NAMED)].map(([, file = '', title]) => ({
    file,
    title: title === undefined ? null : title.slice(1, -1).replaceAll(/\s+/g, ' '),
  }));
}

/** Titles stand in the sources as strings, in rows of tables as well; the beginning of one is enough. */
function isThere({ file, title }: Named): boolean {
  if (!existsSync(join(ROOT, file))) return false;
  const source = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\\(['"`])/g, '$1');
  return title === null || ['"', "'", '`'].some((quote) => source.includes(quote + title));
}
