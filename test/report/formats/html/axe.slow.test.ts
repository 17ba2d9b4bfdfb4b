import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { clickControl } from './reading.ts';
import { SCENES } from './scenes.ts';
import { AXE, describeInBrowser, type OpenOptions, openPage } from '../../../support/browser.ts';

const source = readFileSync(AXE, 'utf8');

/** Returns the violations of all axe rules. The debugger injects axe, so the page's policy does not block it. */
async function violationsIn(page: Page): Promise<readonly string[]> {
  await page.evaluate(source);
  const { violations, passes } = await page.evaluate<AxeResults>('axe.run(document)');
  expect(passes.length).toBeGreaterThan(10);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

const LOOKS = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  'light at 390 px': { colorScheme: 'light', viewport: { width: 390, height: 844 } },
  'dark at 390 px': { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
} as const satisfies Record<string, OpenOptions>;

const CASES = Object.entries(SCENES).flatMap(([scene, html]) =>
  Object.entries(LOOKS).map(([look, options]) => [scene, look, html, options] as const),
);

describeInBrowser('axe', () => {
  test('axe detects a missing lang attribute despite the content security policy of an HTML report', async () => {
    const { page } = await openPage(SCENES['an apply'].replace('<html lang="en">', '<html>'));
    expect(await violationsIn(page)).toEqual([expect.stringContaining('html-has-lang')]);
  });
});

describeInBrowser('the accessibility of HTML pages', () => {
  test.each(CASES)(
    'axe finds no accessibility violations in %s (%s), also in its side-by-side view',
    async (scene, _look, html, options) => {
      const { page } = await openPage(html, options);
      expect(await violationsIn(page)).toEqual([]);
      if (!['a plan with everything', 'a plan with a chat prompt'].includes(scene)) return;
      await clickControl(page, 'split');
      await clickControl(page, 'expand');
      expect(await violationsIn(page)).toEqual([]);
    },
  );

  test('axe finds no accessibility violations in a printed HTML report', async () => {
    const { page } = await openPage(SCENES['a plan with two environments'], { colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    expect(await violationsIn(page)).toEqual([]);
  });
});
