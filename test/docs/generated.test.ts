import { describe, expect, test } from 'vitest';
import { PAGES, readPage } from './pages.ts';

describe.each(PAGES)('%s', (page) => {
  const parts = [...readPage(page).matchAll(/^<!-- begin (\S+) -->$([\s\S]*?)^<!-- end \1 -->$/gm)];
  const rows = parts.flatMap(([, , part = '']) => part.match(/^\| .*\|$/gm) ?? []);

  test('says of everything in its generated tables what it means', () => {
    expect(rows.filter((row) => /\|\s+\|$/.test(row))).toEqual([]);
  });
});
