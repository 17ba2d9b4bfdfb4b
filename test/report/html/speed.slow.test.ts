import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { pageOf, type PagePrompt } from './pages.ts';
import { shownIn, toldIn } from './reading.ts';
import { describeInBrowser, openPage } from '../../support/browser.ts';

const MANY = 2000;
const LETTERS = ['p', 'pr', 'pro', 'prom', 'prompt-19', 'prompt-1', '', 'r', 're', 'refund', ''];
const WORDS = 'You are a support agent who answers in a friendly tone with short sentences about refunds'.split(' ');

/** Some 4 kB of which every tenth line is another one afterwards. */
function textsOf(index: number): readonly [string, string] {
  const line = (number: number) => WORDS.map((_, at) => WORDS[(at * number + index) % WORDS.length]).join(' ');
  const lines = Array.from({ length: 48 }, (_, number) => line(number));
  return [lines.join('\n'), lines.map((text, number) => (number % 10 === 4 ? line(number + 7) : text)).join('\n')];
}

function pageWith(isChanged: (index: number) => boolean): string {
  const prompts = Array.from({ length: MANY }, (_, index): [string, PagePrompt] => {
    const serves = { dev: index, staging: index, production: index };
    const changes = { dev: [index, 'new'], staging: [index, 'new'], production: index } as const;
    const prompt = isChanged(index) ? { serves: changes, text: textsOf(index) } : { serves };
    return [`team-${index % 40}/prompt-${index}`, prompt];
  });
  return pageOf(Object.fromEntries(prompts));
}

/** Milliseconds: until something is seen, until the page is read, and, in the middle, from a letter to the next frame. */
async function timesOf(page: Page) {
  const read = await page.evaluate(async () => {
    const [loaded] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    const painted = () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime;
    while (painted() === undefined) await new Promise(requestAnimationFrame);
    return { seen: painted() ?? 0, read: loaded?.domContentLoadedEventEnd ?? 0 };
  });
  const letters: number[] = [];
  for (const text of LETTERS) letters.push(await page.evaluate(timeOfLetter, text));
  const [middle = 0] = letters.toSorted((a, b) => a - b).slice(letters.length / 2);
  return { ...read, letter: middle };
}

async function timeOfLetter(text: string): Promise<number> {
  const search = document.querySelector<HTMLInputElement>('#search')!;
  const start = performance.now();
  search.value = text;
  search.dispatchEvent(new Event('input', { bubbles: true }));
  // A task that a frame begins comes after its painting.
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - start;
}

async function measure(name: string, html: string) {
  const { page } = await openPage(html);
  const { seen, read, letter } = await timesOf(page);
  const text = await page.evaluate(() => document.body.textContent.length);
  const ratio = html.length / text;
  console.log(
    `${name}: seen after ${Math.round(seen)} ms, read after ${Math.round(read)} ms, a letter takes ` +
      `${Math.round(letter)} ms, ${(html.length / 1e6).toFixed(1)} MB, ${ratio.toFixed(2)} times its text`,
  );
  return { page, ratio };
}

describeInBrowser('Of two thousand prompts in three environments', () => {
  test('all change: each is found, and the page is hardly larger than the texts', async () => {
    const { page, ratio } = await measure(
      '2,000 prompts that change',
      pageWith(() => true),
    );
    expect(await toldIn(page)).toBe('2000 of 2000 shown');
    expect(ratio).toBeLessThan(1.5);
    await page.locator('#search').fill('prompt-1999');
    expect(await shownIn(page)).toEqual(['team-39/prompt-1999']);
  });

  test('all change: a link to one far down stops where it is', async () => {
    const { page } = await openPage(
      pageWith(() => true),
      { hash: 'prompt:team-20/prompt-1500' },
    );
    const top = () => page.locator(':target').evaluate((row) => Math.round(row.getBoundingClientRect().top));
    await expect.poll(top).toBe(48);
  });

  test('twenty change: they are what is shown', async () => {
    const { page } = await measure(
      '2,000 prompts of which 20 change',
      pageWith((index) => index % 100 === 7),
    );
    expect(await toldIn(page)).toBe('20 of 2000 shown');
    expect(await shownIn(page)).toHaveLength(20);
    await page.keyboard.press('1');
    expect(await toldIn(page)).toBe('2000 of 2000 shown');
  });
});
