import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { edited, everything } from './everything.ts';
import { pageOf, type PagePrompt } from './pages.ts';
import { clickControl, readOpenKeys, readVisibleKeys, readCount } from './reading.ts';
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
  test('Each filter shows exactly the matching prompts', async () => {
    const { page } = await openPage(html);
    expect(await readCount(page)).toBe('11 of 13 shown');
    for (const [name, keys] of Object.entries(FILTERS)) {
      const label = page.locator(`label:has([value=${name}])`);
      await label.click();
      expect(await label.locator('b').textContent()).toBe(String(keys.length));
      expect(await readVisibleKeys(page)).toEqual(keys);
      expect(await readCount(page)).toBe(`${keys.length} of 13 shown`);
    }
  });

  test('The search finds words in keys, paths, texts, folded lines and problems within the selected filter', async () => {
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

/** Sets the URL hash like a click on a link, and waits until the page has handled it. */
function follow(page: Page, hash: string): Promise<void> {
  return page.evaluate(async (hash) => {
    const changed = new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
    location.hash = hash;
    await changed;
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
  }, hash);
}

describeInBrowser('links to prompts', () => {
  test('A link to a prompt opens that prompt, whatever characters its key contains', async () => {
    const rows = [...AWKWARD, ...Array.from({ length: 40 }, (_, index) => `other ${index}`)];
    const { page } = await openPage(pageOf(Object.fromEntries(rows.map((name) => [name, changed]))));
    expect(await readOpenKeys(page)).toEqual([]);
    const links = await page.locator('.link a').evaluateAll((all) => all.map((link) => link.getAttribute('href')!));
    for (const [index, key] of AWKWARD.entries()) {
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      await follow(page, links[index]!.slice(1));
      expect(await readOpenKeys(page)).toEqual([key]);
      const box = await page.locator('.prompt > summary').nth(index).boundingBox();
      expect(box!.y).toBeGreaterThanOrEqual(0);
      expect(box!.y + box!.height).toBeLessThanOrEqual(900);
      await clickControl(page, 'collapse');
    }
  });

  test('A page that is opened with a link to an environment opens the prompt and jumps to that environment', async () => {
    const prompts = { quiet, changed, ...Object.fromEntries(AWKWARD.map((key) => [key, changed])) };
    for (const environment of ['a b', 'ä@%']) {
      const { page } = await openPage(pageOf(prompts), { hash: `prompt:changed@${encodeURIComponent(environment)}` });
      await expect.poll(() => readOpenKeys(page)).toEqual(['changed']);
      expect(await page.evaluate(() => document.querySelector(':target')?.textContent)).toBe(environment);
    }
  });

  test('Two prompts with the same key have different links', async () => {
    const same: PagePrompt = { ...quiet, more: { key: 'one' } };
    const { page } = await openPage(pageOf({ one: changed, same, other: quiet }));
    const links = await page.locator('.link a').evaluateAll((all) => all.map((link) => link.getAttribute('href')!));
    expect(new Set(links).size).toBe(3);
    await follow(page, links[1]!.slice(1));
    expect(await page.locator('.prompt').nth(1).getAttribute('open')).toBe('');
  });

  test('A link reveals its prompt even if the selected filter or the current search hides it', async () => {
    for (const search of ['', 'japanese']) {
      const { page } = await openPage(html);
      await page.locator('#search').fill(search);
      await follow(page, 'prompt:quiet/one');
      expect(await readOpenKeys(page)).toContain('quiet/one');
      expect(await page.locator('[name=show]:checked').getAttribute('value')).toBe('all');
      expect(await page.locator('#search').inputValue()).toBe('');
    }
  });

  test('An HTML report keeps showing its initial prompts if the URL hash matches no prompt', async () => {
    const { page } = await openPage(html, { hash: 'prompt:nobody' });
    expect(await readVisibleKeys(page)).toHaveLength(11);
    for (const hash of ['search', '%', 'a=b']) {
      await follow(page, hash);
      expect(await readVisibleKeys(page)).toHaveLength(11);
      expect(await readOpenKeys(page)).toEqual([]);
    }
  });
});

describeInBrowser('keyboard navigation', () => {
  test('The Tab key moves a visible focus through the controls and prompts, and the arrow keys switch between filters', async () => {
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

/** Renders a page with prompts of which every `step`-th changes. */
function largePage(count: number, step: number): string {
  const text = edited({ 4: '4. Be brief.', 14: '14. Be kind.' });
  const prompts = Array.from({ length: count }, (_, index) => {
    const isChanged = index % step === 0;
    const serves = { dev: index, staging: isChanged ? ([index, 'new'] as const) : index, production: index };
    return [`team-${index % 40}/prompt-${index}`, isChanged ? { serves, text } : { serves }] as const;
  });
  return pageOf(Object.fromEntries(prompts));
}

describeInBrowser('a large HTML page', () => {
  test('An HTML report of 200 changed prompts is less than twice as large as its text', async () => {
    const html = largePage(200, 1);
    const { page } = await openPage(html);
    expect(html.length / (await page.evaluate(() => document.body.textContent.length))).toBeLessThan(2);
  });

  test('An HTML report of 2,000 prompts is searchable and initially shows only the twenty prompts that change', async () => {
    const { page } = await openPage(largePage(2000, 100));
    expect(await readCount(page)).toBe('20 of 2000 shown');
    expect(await readVisibleKeys(page)).toHaveLength(20);
    await clickControl(page, 'all');
    expect(await readCount(page)).toBe('2000 of 2000 shown');
    await page.locator('#search').fill('prompt-1999');
    expect(await readVisibleKeys(page)).toEqual(['team-39/prompt-1999']);
  });
});
