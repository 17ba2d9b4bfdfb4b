import { expect, test } from 'vitest';
import { everything } from './everything.ts';
import { pageOf, type PagePrompt } from './pages.ts';
import { clickControl } from './reading.ts';
import { SCENES } from './scenes.ts';
import { describeInBrowser, openPage } from '../../../support/browser.ts';

const names = Array.from({ length: 30 }, (_, index) => `environment-${index}`);
const AWKWARD: Readonly<Record<string, PagePrompt>> = {
  [`long/${'key'.repeat(80)}`]: { serves: { staging: [1, 'new'] }, text: ['x'.repeat(900), 'y'.repeat(900)] },
  thirty: { serves: Object.fromEntries(names.map((name) => [name, [1, 2] as const])), text: ['a', 'b'] },
  named: { serves: { ['environment'.repeat(20)]: [1, 'new'] }, text: ['\t\t\ta  b', '\t\t\ta   b'] },
};

const PAGES = { ...SCENES, 'long names and thirty environments': pageOf(AWKWARD) };

describeInBrowser('the layout of an HTML page', () => {
  const cases = Object.entries(PAGES).flatMap(([name, html]) =>
    [320, 390, 768, 1280].map((width) => ({ name, html, width })),
  );
  test.each(cases)('The HTML report of $name fits into a window that is $width px wide', async ({ html, width }) => {
    const { page } = await openPage(html, { viewport: { width, height: 844 } });
    await clickControl(page, 'all');
    for (const view of ['expand', 'split']) {
      await clickControl(page, view);
      await page.evaluate(() => new Promise(requestAnimationFrame));
      const wide = await page.evaluate(() => {
        // Rows that are not drawn have no width, so scroll to every row.
        for (const row of document.querySelectorAll('.prompt')) row.scrollIntoView();
        return document.scrollingElement?.scrollWidth;
      });
      expect(wide).toBeLessThanOrEqual(width);
    }
  });

  test('On a phone, an HTML report hides the side-by-side option', async () => {
    const { page } = await openPage(pageOf(everything), { viewport: { width: 390, height: 844 } });
    expect(await page.getByText('Side by side', { exact: true }).isVisible()).toBe(false);
  });

  test.each([
    [
      'An HTML report shows a column for each environment if there are only two environments',
      { staging: 1, production: 2 },
      true,
    ],
    [
      'An HTML report shows no environment columns if there are thirty environments',
      Object.fromEntries(names.map((name) => [name, 1])),
      false,
    ],
  ])('%s', async (_, serves, columns) => {
    const { page } = await openPage(pageOf({ one: { serves } }));
    expect(await page.locator('.head').isVisible()).toBe(columns);
  });

  test.each([1280, 1920])('In a window that is %i px wide, all controls and filters fit on one line', async (width) => {
    const { page } = await openPage(pageOf(everything), { viewport: { width, height: 900 } });
    const tops = await page.locator('.controls button, .controls label span').evaluateAll((buttons) => {
      return [...new Set(buttons.map((button) => Math.round(button.getBoundingClientRect().top)))];
    });
    expect(tops).toHaveLength(1);
  });
});

describeInBrowser('an HTML page without color', () => {
  test.each([
    ['An HTML report shows a change without relying on color', 'support/greeting', 'v6 → new version'],
    ['An HTML report shows drift without relying on color', 'support/refund', 'v2 → v3 drift'],
    ['An HTML report shows a blocked change without relying on color', 'support/returns', 'v2 → v4 blocked'],
    [
      'An HTML report shows an unfinished change without relying on color',
      'support/unfinished',
      'none → v2 unfinished',
    ],
    ['An HTML report shows an unknown version without relying on color', 'support/unreachable', 'not known'],
    ['An HTML report shows an unchanged version without relying on color', 'quiet/one', 'v1'],
  ])('%s', async (_, key, text) => {
    const { page } = await openPage(pageOf(everything));
    await clickControl(page, 'all');
    const row = page.locator('.prompt').filter({ has: page.getByText(key, { exact: true }) });
    expect(await row.locator('summary > .cell').allInnerTexts()).toContainEqual(expect.stringContaining(text));
  });
});

describeInBrowser('an HTML page with system colors', () => {
  test('In forced-colors mode, the selected filter looks different from the other filters', async () => {
    const { page } = await openPage(pageOf(everything), { forcedColors: 'active' });
    const grounds = await page.locator('[name=show] + span').evaluateAll((labels) => {
      return labels.map((label) => getComputedStyle(label).backgroundColor);
    });
    expect(new Set(grounds).size).toBe(2);
    expect(grounds[1]).not.toBe(grounds[0]);
  });
});

describeInBrowser('a printed HTML page', () => {
  test('A printed HTML report uses light colors, hides the controls, and expands the prompts that need review', async () => {
    const { page } = await openPage(pageOf(everything), { colorScheme: 'dark' });
    await clickControl(page, 'all');
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(255, 255, 255)');
    expect(await page.locator('.controls').isVisible()).toBe(false);
    expect(await page.getByText('A first text.').isVisible()).toBe(true);
    expect(await page.getByText('10 unchanged lines').isVisible()).toBe(true);
    expect(await page.locator('.prompt.unchanged:not(.review) .body').first().isVisible()).toBe(false);
  });

  test('A printed HTML report contains only the prompts that match the selected filter', async () => {
    const { page } = await openPage(pageOf(everything));
    await clickControl(page, 'drift');
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.prompt:visible').count()).toBe(2);
  });
});

describeInBrowser('the color scheme of an HTML page', () => {
  test.each([
    ['light', 'rgb(255, 255, 255)'],
    ['dark', 'rgb(13, 17, 23)'],
  ] as const)('An HTML report uses the %s color scheme if the browser prefers it', async (colorScheme, ground) => {
    const { page } = await openPage(pageOf(everything), { colorScheme });
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(ground);
  });
});

describeInBrowser('an HTML page without JavaScript', () => {
  test('Without JavaScript, an HTML report shows all prompts and their text but no controls', async () => {
    const { page } = await openPage(pageOf(everything), { javaScriptEnabled: false });
    expect(await page.locator('.prompt:visible').count()).toBe(Object.keys(everything).length);
    expect(await page.locator('.controls').isVisible()).toBe(false);
    const summaries = await page.locator('.prompt > summary').all();
    for (const summary of summaries) await summary.click();
    await page.getByText('10 unchanged lines').click();
    await expect.poll(() => page.getByText('10. Answer').first().isVisible()).toBe(true);
    expect(await page.getByText('A first text.').isVisible()).toBe(true);
  });
});
