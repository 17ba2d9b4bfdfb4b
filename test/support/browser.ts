import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { makeFolder } from './folder.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Where the browser is; null where there is none. */
const path = findBrowser();

/** Where there is no browser its tests are skipped. */
export const describeInBrowser = path === null ? describe.skip : describe;
if (path === null) console.warn(`Tests of pages are skipped: no ${NAMES.join(', ')} on PATH, and no CHROMIUM_PATH.`);

export type Opened = {
  readonly page: Page;
  /** The addresses of all that was asked for so far, the page itself included. */
  readonly requests: readonly string[];
};

export type OpenOptions = BrowserContextOptions & {
  /** What follows `#` in the address. */
  readonly hash?: string;
  /** Where the page is served; by default it is a file. */
  readonly url?: string;
  /** Whether the browser may say that it has refused something. */
  readonly mayComplain?: boolean;
};

/** Opens a page from disk. When the test is finished it has asked for nothing else, and its script has met no error. */
export async function openPage(
  html: string,
  { hash, url, mayComplain, ...options }: OpenOptions = {},
): Promise<Opened> {
  const context = await (await startBrowser()).newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const [requests, said]: [string[], string[]] = [[], []];
  page.on('request', (request) => void requests.push(request.url()));
  page.on('console', (message) => void said.push(message.text()));
  page.on('pageerror', (error) => void said.push(error.message));
  const address = url ?? fileOf(html);
  onTestFinished(async () => {
    await context.close();
    expect(mayComplain ? [] : said).toEqual([]);
    expect(requests.filter((request) => !request.startsWith(address))).toEqual([]);
  });
  await page.goto(hash === undefined ? address : `${address}#${hash}`);
  return { page, requests };
}

function fileOf(html: string): string {
  const file = join(makeFolder(), 'page.html');
  writeFileSync(file, html);
  return pathToFileURL(file).href;
}

/** The source of a library that is put into a page by the debugger, which no policy of the page forbids. */
export const AXE: string = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

let started: Promise<Browser> | null = null;

/** One for each worker. Playwright ends it with the process that started it. */
function startBrowser(): Promise<Browser> {
  started ??= import('playwright-core').then(({ chromium }) => chromium.launch({ executablePath: path ?? '' }));
  return started;
}

function findBrowser(): string | null {
  const named = process.env['CHROMIUM_PATH'] ?? '';
  if (named !== '') return named;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const candidates = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return candidates.find((file) => existsSync(file)) ?? null;
}
