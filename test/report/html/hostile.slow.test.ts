import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { showHidden } from '../../../src/domain/text.ts';
import { escapeForRunner } from '../../../src/report/escape.ts';
import { commandsIn } from '../corpus.ts';
import { NASTY_HTML, pageOfTexts, pagesOf } from './hostile.ts';
import { pageOf } from './pages.ts';
import { choose } from './reading.ts';
import { anyMarkdown } from '../nasty-markdown.ts';
import { testTexts } from '../support.ts';
import { describeInBrowser, type OpenOptions, openPage } from '../../support/browser.ts';

const nasty = Object.entries(NASTY_HTML).filter(([, text]) => text !== '');
const all = pageOfTexts(nasty.map(([, text]) => text));
const anyName = anyMarkdown.filter((text) => text !== '');

/** What pages are made of: elements in each other, with the names of their attributes and their classes. */
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

/** Those that make other pages than a harmless text does. */
async function wrongPages(page: Page, texts: readonly string[]): Promise<readonly string[]> {
  const harmless = await skeletonsIn(page, pagesOf('harmless'));
  const found = await skeletonsIn(page, texts.flatMap(pagesOf));
  return texts.filter((_, index) => harmless.some((one, at) => found[index * harmless.length + at] !== one));
}

/** Looks at many texts together, which is as quick as at one. */
function testBatches(wrongIn: (page: Page, texts: readonly string[]) => Promise<readonly string[]>): void {
  test('each text of the corpus', async () => {
    const { page } = await openPage('<!doctype html>');
    const texts = nasty.map(([, text]) => text);
    expect(await wrongIn(page, texts)).toEqual([]);
  });

  test('any text', async () => {
    const { page } = await openPage('<!doctype html>');
    await fc.assert(
      fc.asyncProperty(fc.array(anyName, { minLength: 8, maxLength: 8 }), async (texts) => {
        expect(await wrongIn(page, texts)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
}

describeInBrowser('A page is made of the same elements, whatever its fields hold:', () => testBatches(wrongPages));

/** The texts of each diff before and after, and the elements that it is made of. */
function diffsIn(page: Page, html: string) {
  return page.evaluate((html) => {
    const parsed = new DOMParser().parseFromString(html, 'text/html');
    const textOf = (text: Element, selector: string) =>
      [...text.querySelectorAll(selector)].map(({ textContent }) => textContent).join('');
    return [...parsed.querySelectorAll('.text')].map((text) => ({
      before: textOf(text, 'del, span'),
      after: textOf(text, 'ins, span'),
      elements: [...new Set([...text.querySelectorAll('*')].map(({ localName }) => localName))],
    }));
  }, html.toWellFormed());
}

/** Those of which a diff holds something else than the two texts, or other elements than a diff is made of. */
async function wrongDiffs(page: Page, texts: readonly string[]): Promise<readonly string[]> {
  const diffs = await diffsIn(page, pageOfTexts(texts));
  return texts.filter((text, index) => {
    const shown = showHidden(text).toWellFormed();
    const { before = '', after = '', elements = [] } = diffs[index] ?? {};
    const whole = before.endsWith(`\n${shown}\nold\nlast\n`) && after.endsWith(`\n${shown}\nnew ${shown}\nlast\n`);
    return !whole || elements.some((name) => !DIFF_ELEMENTS.includes(name));
  });
}

const DIFF_ELEMENTS = ['del', 'details', 'ins', 'mark', 'span', 'summary'];

describeInBrowser('A diff holds both texts to the letter, and nothing else, whatever they are:', () =>
  testBatches(wrongDiffs),
);

/** Opens a page that tells what ran in it and what its policy had to refuse. */
async function openWatched(options: OpenOptions = {}) {
  const opened = await openPage(all, options);
  for (const value of ['all', 'expand', 'split']) await choose(opened.page, value);
  await opened.page.locator('#search').fill('<script>');
  for (const text of await opened.page.locator('.fold > summary').all()) await text.dispatchEvent('click');
  return { ...opened, ran: await opened.page.evaluate(() => Reflect.get(globalThis, 'ran')) };
}

describeInBrowser('No script of a text runs, and nothing is asked for:', () => {
  test('the whole corpus in a page from disk', async () => {
    const { ran, requests, page } = await openWatched();
    // What the policy refuses is written to the console, and `openPage` wants nothing there.
    expect({ ran, requests: requests.length }).toEqual({ ran: undefined, requests: 1 });
    expect(await page.locator('.prompt').count()).toBe(nasty.length);
  });

  test('the same page from a server', async () => {
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      response.setHeader('content-type', 'text/html').end(all);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { ran } = await openWatched({ url: `http://127.0.0.1:${port}/` });
    expect({ ran, asked }).toEqual({ ran: undefined, asked: ['/'] });
  });

  test.each(['prompt:"]<svg onload=globalThis.ran=1>', 'search', 'javascript:globalThis.ran=1'])(
    'the address #%s',
    async (hash) => {
      const { ran, requests } = await openWatched({ hash });
      expect({ ran, requests: requests.length }).toEqual({ ran: undefined, requests: 1 });
    },
  );

  test('the policy forbids what a page could be made to do', async () => {
    const html = pageOf({}).replace('<main>', '<main><script>globalThis.ran=1</script>');
    expect(html).toContain('ran=1');
    const { page } = await openPage(html, { mayComplain: true });
    expect(await page.evaluate(() => Reflect.get(globalThis, 'ran'))).toBeUndefined();
  });
});

describe('No line of a page is a command of a GitHub runner:', () => {
  const look = (text: string) => ({ found: [...pagesOf(text), pageOfTexts([text])].flatMap(commandsIn), wanted: [] });
  testTexts(Object.fromEntries(nasty), anyName, look);

  test('so a page is the same there: a script or style that was rewritten would not be the one of the policy', () => {
    expect(escapeForRunner(all)).toBe(all);
  });
});
