import { expect, test } from 'vitest';
import { everything, makeServes, PAGES } from './everything.ts';
import { pageOf, type PagePrompt } from './pages.ts';
import { clickControl, readVisibleKeys } from './reading.ts';
import { describeInBrowser, openPage, setLook } from '../../../support/browser.ts';

const AWKWARD: Readonly<Record<string, PagePrompt>> = {
  [`long/${'key'.repeat(80)}`]: { serves: { staging: [1, 'new'] }, text: ['x'.repeat(900), 'y'.repeat(900)] },
  thirty: { serves: makeServes(30), text: ['a', 'b'] },
  named: { serves: { ['environment'.repeat(20)]: [1, 'new'] }, text: ['\t\t\ta  b', '\t\t\ta   b'] },
};
const pageWith = (count: number) => pageOf({ one: { serves: makeServes(count), text: ['a', 'b'] } });
const ALL = {
  ...PAGES,
  'a plan with two environments': pageWith(2),
  'a plan with five environments': pageWith(5),
  'a plan with long names and thirty environments': pageOf(AWKWARD),
};

describeInBrowser('the layout of an HTML page', () => {
  // The layout changes at 704 and at 1024 px.
  test.each(Object.entries(ALL))('The HTML report of %s fits into windows of all widths', async (_, html) => {
    const { page } = await openPage(html);
    for (const control of ['all', 'expand', 'split']) await clickControl(page, control);
    for (const width of [1280, 1024, 705, 390, 320]) {
      await setLook(page, { width });
      for (const view of width > 704 ? ['split', 'unified'] : ['unified']) {
        await clickControl(page, view);
        const scrollWidth = await page.evaluate(() => {
          // Rows that are not drawn have no width, so scroll to every row.
          for (const row of document.querySelectorAll('.prompt')) row.scrollIntoView();
          return document.scrollingElement?.scrollWidth;
        });
        expect(scrollWidth, `${view} at ${width} px`).toBeLessThanOrEqual(width);
      }
    }
  });

  test.each([
    ['two', 704],
    ['five', 1024],
  ] as const)('The report of %s environments has a column for each of them from %i px on', async (count, width) => {
    const { page } = await openPage(ALL[`a plan with ${count} environments`]);
    const head = page.locator('.head');
    expect(await head.isVisible()).toBe(true);
    await setLook(page, { width });
    expect(await head.isVisible()).toBe(true);
    await setLook(page, { width: width - 1 });
    expect(await head.isVisible()).toBe(false);
  });

  test('All controls of an HTML report fit on one line of a wide window, and a phone has no side-by-side view', async () => {
    const { page } = await openPage(pageOf(everything));
    const controls = page.locator('.controls button, .controls label span');
    expect(await page.getByText('Side by side').isVisible()).toBe(true);
    expect(await page.locator('.head').isVisible()).toBe(false);
    for (const width of [1280, 1920]) {
      await setLook(page, { width });
      const tops = await controls.evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)));
      expect(new Set(tops).size).toBe(1);
    }
    await setLook(page, { width: 390 });
    expect(await page.getByText('Side by side').isVisible()).toBe(false);
  });

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

  test('In forced-colors mode, the selected filter looks different from the other filters', async () => {
    const { page } = await openPage(pageOf(everything));
    await setLook(page, { forcedColors: 'active' });
    const grounds = await page.locator('[name=show] + span').evaluateAll((labels) => {
      return labels.map((label) => getComputedStyle(label).backgroundColor);
    });
    expect(new Set(grounds).size).toBe(2);
    expect(grounds[1]).not.toBe(grounds[0]);
  });

  test('A printed HTML report uses light colors, hides the controls, and expands the prompts that need review', async () => {
    const { page } = await openPage(pageOf(everything));
    await clickControl(page, 'all');
    await setLook(page, { colorScheme: 'dark', media: 'print' });
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(255, 255, 255)');
    expect(await page.locator('.controls').isVisible()).toBe(false);
    expect(await page.getByText('A first text.').isVisible()).toBe(true);
    expect(await page.getByText('10 unchanged lines').isVisible()).toBe(true);
    expect(await page.locator('.prompt.unchanged:not(.review) .body').first().isVisible()).toBe(false);
  });

  test('Without JavaScript, an HTML report shows all prompts and their text but no controls', async () => {
    const { page } = await openPage(pageOf(everything), { javaScriptEnabled: false });
    expect(await readVisibleKeys(page)).toEqual(Object.keys(everything));
    expect(await page.locator('.controls').isVisible()).toBe(false);
    await page.locator('summary').evaluateAll((all) => all.forEach((summary) => (summary as HTMLElement).click()));
    await expect.poll(() => page.getByText('10. Answer').first().isVisible()).toBe(true);
    expect(await page.getByText('A first text.').isVisible()).toBe(true);
  });
});
