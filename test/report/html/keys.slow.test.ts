import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { everything } from './everything.ts';
import { pageOf } from './pages.ts';
import { hashIn, openIn, shownIn } from './reading.ts';
import { describeInBrowser, openPage } from '../../support/browser.ts';

const html = pageOf(everything);

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

/** The key of the prompt that has the focus, or the element. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { activeElement: active } = document;
    return active?.querySelector(':scope > .name b')?.textContent ?? active?.id ?? '';
  });
}

describeInBrowser('The key', () => {
  test('/ goes to the search, and types nothing there; Escape leaves it', async () => {
    const { page } = await openPage(html);
    await press(page, '/');
    expect(await focused(page)).toBe('search');
    expect(await page.locator('#search').inputValue()).toBe('');
    await press(page, 'Escape');
    expect(await focused(page)).toBe('');
  });

  test.each([
    ['j goes to the first prompt', ['j'], 'support/greeting'],
    ['k stays at the first one', ['j', 'k', 'k'], 'support/greeting'],
    ['j stays at the last one', [...'jjjjjjjjjjjjj'], 'many/environments'],
    ['j goes through what is shown alone', ['3', 'j', 'j'], 'support/refund'],
  ])('%s', async (_, keys, key) => {
    const { page } = await openPage(html);
    await press(page, ...keys);
    expect(await focused(page)).toBe(key);
  });

  test('Enter opens and closes a prompt', async () => {
    const { page } = await openPage(html);
    await press(page, 'j', 'j', 'Enter');
    expect(await openIn(page)).toEqual(['support/refund']);
    await press(page, 'Enter');
    expect(await openIn(page)).toEqual([]);
  });

  test('e opens all that are shown and no other, c closes them', async () => {
    const { page } = await openPage(html);
    await press(page, 'e');
    expect(await openIn(page)).toEqual(await shownIn(page));
    expect(await page.locator('.prompt[open]').count()).toBe(11);
    await press(page, 'c');
    expect(await openIn(page)).toEqual([]);
  });

  test.each([
    ['1', 'show=all', 13],
    ['3', 'show=changed', 9],
    ['4', 'show=drift', 2],
    ['5', 'show=blocked', 1],
    ['6', 'show=failed', 1],
    ['7', '', 11],
  ])('%s is the filter at that place', async (key, hash, count) => {
    const { page } = await openPage(html);
    await press(page, key);
    await expect.poll(() => hashIn(page)).toBe(hash);
    expect(await shownIn(page)).toHaveLength(count);
  });

  test('v changes between unified and side by side', async () => {
    const { page } = await openPage(html);
    await press(page, 'v');
    await expect.poll(() => hashIn(page)).toBe('view=split');
    await press(page, 'v');
    await expect.poll(() => hashIn(page)).toBe('');
  });

  test('? opens the help, in which no letter is a command; Escape closes it', async () => {
    const { page } = await openPage(html);
    await press(page, '?');
    expect(await page.getByRole('dialog', { name: 'Keys' }).isVisible()).toBe(true);
    await press(page, 'e', 'Escape');
    expect(await page.getByRole('dialog').isVisible()).toBe(false);
    expect(await openIn(page)).toEqual([]);
  });

  test.each(['j', 'e', '3', 'v', '?'])('%s is a letter in the search', async (key) => {
    const { page } = await openPage(html);
    await press(page, '/', key);
    expect(await page.locator('#search').inputValue()).toBe(key);
    expect(await page.getByRole('dialog').isVisible()).toBe(false);
  });

  test.each(['Control+e', 'Alt+e', 'Meta+e'])('%s is not the page’s', async (key) => {
    const { page } = await openPage(html);
    await press(page, key);
    expect(await openIn(page)).toEqual([]);
  });

  test('does nothing once single letters are switched off, and again what it did once they are on', async () => {
    const { page } = await openPage(html);
    await press(page, '?');
    await page.getByLabel('Single letters are commands').uncheck();
    await press(page, 'Escape', 'e', '4', '?');
    expect(await openIn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Keys' }).click();
    await page.getByLabel('Single letters are commands').check();
    await press(page, 'Escape', '4');
    await expect.poll(() => hashIn(page)).toBe('show=drift');
  });
});

describeInBrowser('Tab', () => {
  test('goes through search, filters, view, buttons and prompts, and each shows that it has the focus', async () => {
    const { page } = await openPage(html);
    const stops: string[] = [];
    for (let stop = 0; stop < 8; stop += 1) {
      await press(page, 'Tab');
      stops.push(await page.evaluate(stopName));
      expect(`${stops.at(-1)}: ${await page.evaluate(outlineOf)}`).toBe(`${stops.at(-1)}: solid`);
    }
    const buttons = ['Expand', 'Collapse', 'Keys'];
    expect(stops).toEqual(['search', 'review', 'unified', ...buttons, 'support/greeting', 'support/refund']);
  });
});

function stopName(): string {
  const { activeElement: active } = document;
  if (active instanceof HTMLInputElement) return active.id || active.value;
  return active?.querySelector(':scope > .name b')?.textContent ?? active?.textContent ?? '';
}

/** A button of a choice shows its focus on its label. */
function outlineOf(): string {
  const { activeElement: active } = document;
  const shown = active instanceof HTMLInputElement && active.type === 'radio' ? active.nextElementSibling : active;
  return shown === null ? '' : getComputedStyle(shown).outlineStyle;
}
