import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { makeFolder } from './folder.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The path of the browser, or null if there is none. */
const path = findBrowser();

/** Skips the tests if there is no browser. */
export const describeInBrowser = path === null ? describe.skip : describe;
if (path === null) console.warn(`Tests of pages are skipped: no ${NAMES.join(', ')} on PATH, and no CHROMIUM_PATH.`);

export type Opened = {
  readonly page: Page;
  /** The addresses of all requests so far, including the page itself. */
  readonly requests: readonly string[];
};

export type OpenOptions = BrowserContextOptions & {
  /** The part of the address after `#`. */
  readonly hash?: string;
  /** The address of the page. By default, the page is a file. */
  readonly url?: string;
  /** Whether the console may contain messages, for example about something that the policy blocked. */
  readonly mayComplain?: boolean;
};

/** Opens a page. At the end of the test, expects no requests except for the page itself, and an empty console. */
export async function openPage(
  html: string,
  { hash, url, mayComplain, ...options }: OpenOptions = {},
): Promise<Opened> {
  const context = await (await startBrowser()).newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const [requests, consoleMessages]: [string[], string[]] = [[], []];
  page.on('request', (request) => void requests.push(request.url()));
  page.on('console', (message) => void consoleMessages.push(message.text()));
  page.on('pageerror', (error) => void consoleMessages.push(error.message));
  const address = url ?? fileOf(html);
  onTestFinished(async () => {
    await context.close();
    expect(mayComplain ? [] : consoleMessages).toEqual([]);
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

/** The path of the axe library. Tests inject it with the debugger, which the policy of a page does not restrict. */
export const AXE: string = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

let started: Promise<Browser> | null = null;

/** Starts one browser for each worker. Playwright stops it when the worker ends. */
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
