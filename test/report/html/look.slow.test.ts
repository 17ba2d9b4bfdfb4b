import { expect, test } from 'vitest';
import { everything } from './everything.ts';
import { pageOf, type PagePrompt } from './pages.ts';
import { choose } from './reading.ts';
import { SCENES } from './scenes.ts';
import { describeInBrowser, openPage } from '../../support/browser.ts';

const names = Array.from({ length: 30 }, (_, index) => `environment-${index}`);
const AWKWARD: Readonly<Record<string, PagePrompt>> = {
  [`long/${'key'.repeat(80)}`]: { serves: { staging: [1, 'new'] }, text: ['x'.repeat(900), 'y'.repeat(900)] },
  thirty: { serves: Object.fromEntries(names.map((name) => [name, [1, 2] as const])), text: ['a', 'b'] },
  named: { serves: { ['environment'.repeat(20)]: [1, 'new'] }, text: ['\t\t\ta  b', '\t\t\ta   b'] },
};

const PAGES = { ...SCENES, 'long names and thirty environments': pageOf(AWKWARD) };

describeInBrowser('Nothing is wider than the window:', () => {
  const cases = Object.entries(PAGES).flatMap(([name, html]) =>
    [320, 390, 768, 1280].map((width) => ({ name, html, width })),
  );
  test.each(cases)('$name at $width px', async ({ html, width }) => {
    const { page } = await openPage(html, { viewport: { width, height: 844 } });
    await choose(page, 'all');
    for (const view of ['expand', 'split']) {
      await choose(page, view);
      await page.evaluate(() => new Promise(requestAnimationFrame));
      const wide = await page.evaluate(() => {
        // What is not drawn has no width: every row takes its turn.
        for (const row of document.querySelectorAll('.prompt')) row.scrollIntoView();
        return document.scrollingElement?.scrollWidth;
      });
      expect(wide).toBeLessThanOrEqual(width);
    }
  });

  test('on a telephone, texts side by side are not offered', async () => {
    const { page } = await openPage(pageOf(everything), { viewport: { width: 390, height: 844 } });
    expect(await page.getByText('Side by side', { exact: true }).isVisible()).toBe(false);
  });

  test.each([
    ['a few environments have columns', { staging: 1, production: 2 }, true],
    ['many have none', Object.fromEntries(names.map((name) => [name, 1])), false],
  ])('%s', async (_, serves, columns) => {
    const { page } = await openPage(pageOf({ one: { serves } }));
    expect(await page.locator('.head').isVisible()).toBe(columns);
  });

  test.each([1280, 1920])('at %i px, the controls with all filters take one line', async (width) => {
    const { page } = await openPage(pageOf(everything), { viewport: { width, height: 900 } });
    const tops = await page.locator('.controls button, .controls label span').evaluateAll((buttons) => {
      return [...new Set(buttons.map((button) => Math.round(button.getBoundingClientRect().top)))];
    });
    expect(tops).toHaveLength(1);
  });
});

describeInBrowser('Without colour, a page tells apart', () => {
  test.each([
    ['a change', 'support/greeting', 'v6 → new version'],
    ['drift', 'support/refund', 'v2 → v3 drift'],
    ['what is blocked', 'support/returns', 'v2 → v4 blocked'],
    ['what was left unfinished', 'support/unfinished', 'none → v2 unfinished'],
    ['what is not known', 'support/unreachable', 'not known'],
    ['what stays', 'quiet/one', 'v1'],
  ])('%s', async (_, key, text) => {
    const { page } = await openPage(pageOf(everything));
    await choose(page, 'all');
    const row = page.locator('.prompt').filter({ has: page.getByText(key, { exact: true }) });
    expect(await row.locator('summary > .cell').allInnerTexts()).toContainEqual(expect.stringContaining(text));
  });
});

describeInBrowser('With colours of the system', () => {
  test('what is chosen is another than what is not', async () => {
    const { page } = await openPage(pageOf(everything), { forcedColors: 'active' });
    const grounds = await page.locator('[name=show] + span').evaluateAll((labels) => {
      return labels.map((label) => getComputedStyle(label).backgroundColor);
    });
    expect(new Set(grounds).size).toBe(2);
    expect(grounds[1]).not.toBe(grounds[0]);
  });
});

describeInBrowser('On paper', () => {
  test('it is light, there are no controls, what is to review is open, and the rest is a row', async () => {
    const { page } = await openPage(pageOf(everything), { colorScheme: 'dark' });
    await choose(page, 'all');
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(255, 255, 255)');
    expect(await page.locator('.controls').isVisible()).toBe(false);
    expect(await page.getByText('A first text.').isVisible()).toBe(true);
    expect(await page.getByText('10 unchanged lines').isVisible()).toBe(true);
    expect(await page.locator('.prompt.unchanged:not(.review) .body').first().isVisible()).toBe(false);
  });

  test('only what the filter shows', async () => {
    const { page } = await openPage(pageOf(everything));
    await choose(page, 'drift');
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.prompt:visible').count()).toBe(2);
  });
});

describeInBrowser('Colours are', () => {
  test.each([
    ['light', 'rgb(255, 255, 255)'],
    ['dark', 'rgb(13, 17, 23)'],
  ] as const)('%s where the reader has them so', async (colorScheme, ground) => {
    const { page } = await openPage(pageOf(everything), { colorScheme });
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(ground);
  });
});

describeInBrowser('Without script', () => {
  test('every prompt is there, opens, and shows all of its text; there is nothing that would not work', async () => {
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
