import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { everything } from './everything.ts';
import { pageOf, pageOfList, type PagePrompt } from './pages.ts';
import { readOpenKeys, readVisibleKeys, readCount } from './reading.ts';
import { describeInBrowser, openPage } from '../../../support/browser.ts';

const html = pageOf(everything);
const quiet: PagePrompt = { serves: { staging: 1 } };
const changed: PagePrompt = { serves: { 'a b': [1, 'new'], 'ä@%': [2, 'new'] }, text: ['Old.', 'New.'] };
const drifted: PagePrompt = { serves: { staging: 1 }, drift: ['staging'] };
const FILTERS: Readonly<Record<string, readonly string[]>> = {
  all: Object.keys(everything),
  drift: ['support/refund', 'support/unfinished'],
  blocked: ['support/returns'],
  failed: ['support/unreachable'],
};

describeInBrowser('filters and search', () => {
  test.each(Object.entries(FILTERS))('The filter %s shows exactly the matching prompts', async (name, keys) => {
    const { page } = await openPage(html);
    const label = page.locator(`label:has([value=${name}])`);
    await label.click();
    expect(await label.locator('b').textContent()).toBe(String(keys.length));
    expect(await readVisibleKeys(page)).toEqual(keys);
    expect(await readCount(page)).toBe(`${keys.length} of 13 shown`);
  });

  test('The search finds words in keys, paths, texts, folded lines and problems, and shows a message if there are none', async () => {
    const { page } = await openPage(html);
    for (const [words, keys] of [
      ['REFUND customer', ['support/refund']],
      ['prompts/support/refund.md', ['support/refund']],
      ['Old text', ['support/returns']],
      ['12. Answer', ['support/greeting']],
      ['respond within', ['support/unreachable']],
      ['お名前', ['text/japanese']],
      ['{{name}}', ['support/refund']],
      ['zebra', []],
    ] as const) {
      await page.locator('#search').fill(words);
      expect(await readVisibleKeys(page)).toEqual(keys);
      expect(await page.getByText('No prompt matches the filters.').isVisible()).toBe(keys.length === 0);
    }
  });

  test('The search applies within the selected filter, and an empty search shows all prompts of that filter', async () => {
    const { page } = await openPage(html);
    await page.getByLabel('Drift').check();
    await page.locator('#search').fill('first text');
    expect(await readVisibleKeys(page)).toEqual(['support/unfinished']);
    await page.locator('#search').fill('');
    expect(await readCount(page)).toBe('2 of 13 shown');
  });

  test('The Expand and Collapse buttons open and close all visible prompts', async () => {
    const { page } = await openPage(html);
    await page.getByRole('button', { name: 'Expand' }).click();
    expect(await readOpenKeys(page)).toEqual(await readVisibleKeys(page));
    expect(await page.locator('.prompt[open]').count()).toBe(11);
    await page.getByRole('button', { name: 'Collapse' }).click();
    expect(await readOpenKeys(page)).toEqual([]);
  });
});

test.each([
  ['An HTML report initially selects the review filter if prompts need review', { quiet, changed, drifted }],
  ['An HTML report omits filters that match no prompts', { quiet, changed }],
  ['An HTML report does not select the review filter if no prompt needs review', { quiet, other: quiet }],
] as const)('%s', (_, prompts) => {
  const shown = pageOf(prompts);
  expect(shown.includes('value="review" checked')).toBe('changed' in prompts);
  expect(shown.includes('value="drift"')).toBe('drifted' in prompts);
});

const AWKWARD = ['a b', 'ä', '100%', '<x>', 'prompt:x', 'constructor', '__proto__', 'a#b', 'a@b', '\'"', '?show=drift'];

describeInBrowser('links to prompts', () => {
  test.each(AWKWARD)('A link to the prompt with the key %j opens that prompt', async (key) => {
    const rows = [...AWKWARD, ...Array.from({ length: 40 }, (_, index) => `other ${index}`)];
    const html = pageOf(Object.fromEntries(rows.map((name) => [name, changed])));
    const first = await openPage(html);
    const row = first.page.locator('.prompt').nth(rows.indexOf(key));
    expect(await readOpenKeys(first.page)).toEqual([]);
    const href = await row.locator('.link a').getAttribute('href');
    const { page } = await openPage(html, { hash: href!.slice(1) });
    await expect.poll(() => readOpenKeys(page)).toEqual([key]);
    await expect.poll(() => isInView(page, rows.indexOf(key))).toBe(true);
  });

  test.each(['a b', 'ä@%'])(
    'A link to the environment %j of a prompt opens the prompt and jumps to that environment',
    async (environment) => {
      const prompts = { quiet, changed, ...Object.fromEntries(AWKWARD.map((key) => [key, changed])) };
      const { page } = await openPage(pageOf(prompts), { hash: `prompt:changed@${encodeURIComponent(environment)}` });
      await expect.poll(() => readOpenKeys(page)).toEqual(['changed']);
      expect(await page.evaluate(() => document.querySelector(':target')?.textContent)).toBe(environment);
    },
  );

  test('Two prompts with the same key have different links', async () => {
    const two = [['one', changed] as const, ['one', quiet] as const, ['other', quiet] as const];
    const links = await (await openPage(pageOfList(two))).page.locator('.link a').all();
    const hrefs = await Promise.all(links.map((link) => link.getAttribute('href')));
    expect(new Set(hrefs).size).toBe(3);
    const { page } = await openPage(pageOfList(two), { hash: hrefs[1]!.slice(1) });
    await expect.poll(() => page.locator('.prompt').nth(1).getAttribute('open')).toBe('');
  });

  test.each([
    ['A link reveals its prompt even if the selected filter hides it', ''],
    ['A link reveals its prompt even if the current search hides it', 'japanese'],
  ])('%s', async (_, search) => {
    const { page } = await openPage(html);
    await page.locator('#search').fill(search);
    await page.evaluate(() => void (location.hash = '#prompt:quiet/one'));
    await expect.poll(() => readOpenKeys(page)).toContain('quiet/one');
    expect(await page.locator('[name=show]:checked').getAttribute('value')).toBe('all');
    expect(await page.locator('#search').inputValue()).toBe('');
  });

  test.each(['prompt:nobody', 'search', '%', 'a=b'])(
    'An HTML report shows its initial prompts if the URL hash %j matches no prompt',
    async (hash) => {
      const { page } = await openPage(html, { hash });
      expect(await readVisibleKeys(page)).toHaveLength(11);
    },
  );
});

function isInView(page: Page, index: number): Promise<boolean> {
  const summary = page.locator('.prompt > summary').nth(index);
  return summary.evaluate((summary) => {
    const { top, bottom } = summary.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
}

describeInBrowser('keyboard navigation', () => {
  test('The Tab key moves the focus through the controls and prompts, and the focused element has a visible outline', async () => {
    const { page } = await openPage(html);
    const stops: string[] = [];
    for (let stop = 0; stop < 7; stop += 1) {
      await page.keyboard.press('Tab');
      stops.push(await page.evaluate(stopName));
      expect(`${stops.at(-1)}: ${await page.evaluate(outlineOf)}`).toBe(`${stops.at(-1)}: solid`);
    }
    expect(stops).toEqual(['search', 'review', 'unified', 'Expand', 'Collapse', 'support/greeting', 'support/refund']);
    await page.keyboard.press('Enter');
    expect(await readOpenKeys(page)).toEqual(['support/refund']);
  });

  test('The arrow keys switch between filters', async () => {
    const { page } = await openPage(html);
    await page.getByLabel('To review').focus();
    await page.keyboard.press('ArrowRight');
    expect(await readCount(page)).toBe('9 of 13 shown');
  });
});

function stopName(): string {
  const { activeElement: active } = document;
  if (active instanceof HTMLInputElement) return active.id || active.value;
  return active?.querySelector(':scope > .name b')?.textContent ?? active?.textContent ?? '';
}

/** Returns the outline of the focused element. A radio button shows its focus on its label. */
function outlineOf(): string {
  const { activeElement: active } = document;
  const shown = active instanceof HTMLInputElement && active.type === 'radio' ? active.nextElementSibling : active;
  return shown === null ? '' : getComputedStyle(shown).outlineStyle;
}
