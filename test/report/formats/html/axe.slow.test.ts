import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { PAGES } from './everything.ts';
import { clickControl } from './reading.ts';
import { AXE, describeInBrowser, type Look, openPage, setLook } from '../../../support/browser.ts';

/** Opens a page with the axe library. The debugger injects it, so the page's policy does not block it. */
async function openWithAxe(html: string): Promise<Page> {
  const { page } = await openPage(html);
  await page.evaluate(readFileSync(AXE, 'utf8'));
  return page;
}

/** In no format does the table of one environment's history have a heading above the names of its rows. */
const EMPTY_HEADING = '<th scope="col"></th>';

/** Returns the violations of all axe rules except for that heading. */
async function violationsIn(page: Page): Promise<readonly string[]> {
  const { violations, passes } = await page.evaluate<AxeResults>('axe.run(document)');
  expect(passes.length).toBeGreaterThan(10);
  return violations.flatMap(({ id, nodes }) =>
    nodes.filter(({ html }) => html !== EMPTY_HEADING).map((node) => `${id}: ${node.html} ${node.failureSummary}`),
  );
}

const LOOKS: readonly (Look & { readonly view: string })[] = [
  { view: 'split' },
  { view: 'unified', colorScheme: 'dark' },
  { view: 'unified', colorScheme: 'dark', media: 'print' },
  { view: 'unified', width: 390 },
];

describeInBrowser('the accessibility of HTML pages', () => {
  test('axe detects a missing lang attribute despite the content security policy of an HTML report', async () => {
    const page = await openWithAxe(PAGES['the recorded report nothing']!.replace('<html lang="en">', '<html>'));
    expect(await violationsIn(page)).toEqual([expect.stringContaining('html-has-lang')]);
  });

  test.each(Object.entries(PAGES))(
    'axe finds no accessibility violations in %s, in both views and color schemes, on a phone and on paper',
    async (_, html) => {
      const page = await openWithAxe(html);
      for (const { view, ...look } of LOOKS) {
        await setLook(page, look);
        for (const control of ['all', 'expand', view]) await clickControl(page, control);
        expect({ view, look, found: await violationsIn(page) }).toEqual({ view, look, found: [] });
      }
    },
  );
});
