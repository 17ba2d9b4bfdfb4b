import { expect, test } from 'vitest';
import { pageOf, type PagePrompt } from './pages.ts';
import { clickControl, readVisibleKeys, readCount } from './reading.ts';
import { describeInBrowser, openPage } from '../../../support/browser.ts';

const MANY = 2000;
const WORDS = 'You are a support agent who answers in a friendly tone with short sentences about refunds'.split(' ');

/** Returns about 4 kB of text before and after a change of every tenth line. */
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

describeInBrowser('an HTML page with 2,000 prompts', () => {
  test('An HTML report of 2,000 changed prompts is searchable and less than 1.5 times as large as its text', async () => {
    const html = pageWith(() => true);
    const { page } = await openPage(html);
    const ratio = html.length / (await page.evaluate(() => document.body.textContent.length));
    expect(await readCount(page)).toBe('2000 of 2000 shown');
    expect(ratio).toBeLessThan(1.5);
    await page.locator('#search').fill('prompt-1999');
    expect(await readVisibleKeys(page)).toEqual(['team-39/prompt-1999']);
  });

  test('An HTML report of 2,000 prompts initially shows only the twenty prompts that change', async () => {
    const { page } = await openPage(pageWith((index) => index % 100 === 7));
    expect(await readCount(page)).toBe('20 of 2000 shown');
    expect(await readVisibleKeys(page)).toHaveLength(20);
    await clickControl(page, 'all');
    expect(await readCount(page)).toBe('2000 of 2000 shown');
  });
});
