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

  test('An HTML report shows a column for each of two environments, but none for thirty', async () => {
    const many = Object.fromEntries(names.map((name) => [name, 1]));
    for (const serves of [{ staging: 1, production: 2 }, many]) {
      const { page } = await openPage(pageOf({ one: { serves } }));
      expect(await page.locator('.head').isVisible()).toBe(serves !== many);
    }
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
  test('An HTML report shows the state of each version in words, without relying on color', async () => {
    const { page } = await openPage(pageOf(everything));
    await clickControl(page, 'all');
    for (const [key, text] of Object.entries({
      'support/greeting': 'v6 → new version',
      'support/refund': 'v2 → v3 drift',
      'support/returns': 'v2 → v4 blocked',
      'support/unfinished': 'none → v2 unfinished',
      'support/unreachable': 'not known',
      'quiet/one': 'v1',
    })) {
      const row = page.locator('.prompt').filter({ has: page.getByText(key, { exact: true }) });
      expect(await row.locator('summary > .cell').allInnerTexts()).toContainEqual(expect.stringContaining(text));
    }
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
