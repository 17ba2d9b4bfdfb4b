import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { renderMarker } from '../../../../src/domain/chat.ts';
import { showHidden } from '../../../../src/text.ts';
import { escapeForRunner } from '../../../../src/report/escape.ts';
import { commandsIn, HOSTILE_TOGETHER } from '../../corpus.ts';
import { NASTY_TOGETHER, pageOfTexts, pagesOf } from './hostile.ts';
import { pageOf } from './pages.ts';
import { clickControl } from './reading.ts';
import { anyMarkdown } from '../nasty-markdown.ts';
import { testTexts } from '../../support.ts';
import { describeInBrowser, type OpenOptions, openPage } from '../../../support/browser.ts';

const all = pageOfTexts(NASTY_TOGETHER);
const anyName = anyMarkdown.filter((text) => text !== '');

/** Returns the structure of pages: nested elements with their attribute names and classes. */
function skeletonsIn(page: Page, pages: readonly string[]): Promise<string[]> {
  return page.evaluate((pages) => {
    const skeleton = (element: Element): string => {
      const attributes = element.getAttributeNames().join(' ');
      return `<${element.localName} ${attributes} ${element.className}>${[...element.children].map(skeleton).join('')}</>`;
    };
    const ids = (parsed: Document) => [...parsed.querySelectorAll('[id]')].map(({ id }) => id);
    return pages.map((html) => {
      const parsed = new DOMParser().parseFromString(html, 'text/html');
      const twice = ids(parsed).length - new Set(ids(parsed)).size;
      return `${parsed.compatMode} ${twice} ${skeleton(parsed.documentElement)}`;
    });
  }, pages);
}

/** Returns the texts whose pages have a different structure than the pages of a harmless text. */
async function wrongPages(page: Page, texts: readonly string[]): Promise<readonly string[]> {
  const harmless = await skeletonsIn(page, pagesOf('harmless'));
  const found = await skeletonsIn(page, texts.flatMap(pagesOf));
  return texts.filter((_, index) => harmless.some((one, at) => found[index * harmless.length + at] !== one));
}

/** Tests the nasty texts and random ones. `claim` is the start of the title. */
function testTextsInBrowser(
  claim: string,
  wrongIn: (page: Page, texts: readonly string[]) => Promise<readonly string[]>,
): void {
  test(`${claim} for every hostile string and for any string`, async () => {
    const { page } = await openPage('<!doctype html>');
    expect(await wrongIn(page, NASTY_TOGETHER)).toEqual([]);
    await fc.assert(
      fc.asyncProperty(fc.array(anyName, { minLength: 2, maxLength: 2 }), async (texts) => {
        expect(await wrongIn(page, texts)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
}

/**
 * Returns the texts whose diff differs from the two texts, contains elements that a diff never has, or has other
 * headings than the marker lines.
 */
async function wrongDiffs(page: Page, texts: readonly string[]): Promise<readonly string[]> {
  const diffs = await page.evaluate((html) => {
    const parsed = new DOMParser().parseFromString(html, 'text/html');
    const textsOf = (text: Element, selector: string) =>
      [...text.querySelectorAll(selector)].map(({ textContent }) => textContent);
    return [...parsed.querySelectorAll('.text')].map((text) => ({
      before: textsOf(text, 'del, span').join(''),
      after: textsOf(text, 'ins, span').join(''),
      elements: [...text.querySelectorAll('*')].map(({ localName }) => localName),
      headings: textsOf(text, '.marker').join('\n'),
    }));
  }, pageOfTexts(texts).toWellFormed());
  return texts.filter((text, index) => {
    const shown = showHidden(text).toWellFormed();
    const { before = '', after = '', elements = [], headings = '' } = diffs[index] ?? {};
    const whole = before.endsWith(`\n${shown}\nold\nlast\n`) && after.endsWith(`\n${shown}\nnew ${shown}\nlast\n`);
    const markers = [text, `${text}!`].map((name) => showHidden(renderMarker('role', name)).toWellFormed());
    return !whole || headings !== markers.join('\n') || elements.some((name) => !DIFF_ELEMENTS.includes(name));
  });
}

const DIFF_ELEMENTS = ['b', 'del', 'details', 'ins', 'mark', 'span', 'summary'];

describeInBrowser('hostile texts in an HTML page', () => {
  testTextsInBrowser('An HTML page has the same elements', wrongPages);
  testTextsInBrowser('A diff contains exactly the old and the new text', wrongDiffs);
});

/** Opens a page and uses all controls. `ran` counts the scripts that ran. */
async function openWatched(html: string, options: OpenOptions = {}) {
  const opened = await openPage(html, options);
  for (const value of ['all', 'expand', 'split']) await clickControl(opened.page, value);
  await opened.page.locator('#search').fill('<script>');
  await opened.page.evaluate(() => {
    for (const fold of document.querySelectorAll<HTMLElement>('.fold > summary')) fold.click();
  });
  return { ...opened, ran: await opened.page.evaluate(() => Reflect.get(globalThis, 'ran')) };
}

describeInBrowser('scripts in hostile texts', () => {
  test('An HTML report opened from disk runs no hostile scripts and requests no other resources', async () => {
    // `openPage` fails if the page requests or the policy blocks something.
    const { ran, page } = await openWatched(all);
    expect(ran).toBeUndefined();
    expect(await page.locator('.prompt').count()).toBe(NASTY_TOGETHER.length);
  });

  test('An HTML report runs no scripts from the URL hash and requests no other resources', async () => {
    const small = pageOfTexts(['<script>']);
    for (const hash of ['prompt:"]<svg onload=globalThis.ran=1>', 'search', 'javascript:globalThis.ran=1']) {
      expect((await openWatched(small, { hash })).ran).toBeUndefined();
    }
  });

  test('The content security policy of an HTML report blocks an injected script', async () => {
    const html = pageOf({}).replace('<main>', '<main><script>globalThis.ran=1</script>');
    expect(html).toContain('ran=1');
    const { page } = await openPage(html, { mayComplain: true });
    expect(await page.evaluate(() => Reflect.get(globalThis, 'ran'))).toBeUndefined();
  });
});

describe('an HTML page in the log of a GitHub runner', () => {
  const compareCommands = (text: string) => ({
    found: [...pagesOf(text), pageOfTexts([text])].flatMap(commandsIn),
    wanted: [],
  });
  testTexts('No line of an HTML page is a runner command for', HOSTILE_TOGETHER, anyName, compareCommands);

  test('escapeForRunner leaves an HTML report unchanged, so its scripts still match its security policy', () => {
    expect(escapeForRunner(all)).toBe(all);
  });
});
