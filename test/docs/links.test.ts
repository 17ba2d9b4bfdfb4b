import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nodesIn, parseMarkdown } from '../support/markdown.ts';
import { ALL_PAGES, anchorsIn, PAGES, readPage } from './pages.ts';
import { ROOT } from './worlds.ts';

describe.each(ALL_PAGES)('%s', (page) => {
  test('has links only to files and headings that there are', () => {
    expect(linksIn(readPage(page)).filter((address) => !leadsSomewhere(page, address))).toEqual([]);
  });
});

test('docs/README.md leads to every page of docs/', () => {
  const led = linksIn(readPage('docs/README.md')).map((address) => join('docs', address));
  const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
  expect(pages.filter((page) => !led.includes(page))).toEqual([]);
});

test.each([
  ['a file that is not there', 'docs/nowhere.md'],
  ['a heading that is not there', 'README.md#nowhere'],
  ['a heading of the page itself', '#nowhere'],
  ['a place outside of the repository', '../../etc/passwd'],
])('%s is no place to link to', (_, address) => {
  expect(leadsSomewhere('README.md', address)).toBe(false);
});

/** Those within the repository. */
function linksIn(markdown: string): readonly string[] {
  const addresses = nodesIn(parseMarkdown(markdown)).flatMap((node) => ('url' in node ? [node.url] : []));
  return addresses.filter((address) => !/^(https?|mailto):/.test(address));
}

function leadsSomewhere(page: string, address: string): boolean {
  const [path = '', anchor] = address.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (target.startsWith('..') || !existsSync(join(ROOT, target))) return false;
  if (anchor === undefined) return true;
  return statSync(join(ROOT, target)).isFile() && anchorsOf(target).includes(anchor);
}

const known = new Map<string, readonly string[]>();

/** Large pages are linked to many times. */
function anchorsOf(page: string): readonly string[] {
  const anchors = known.get(page) ?? anchorsIn(readPage(page));
  known.set(page, anchors);
  return anchors;
}
