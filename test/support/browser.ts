import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
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

export type OpenOptions = {
  /** The part of the address after `#`. */
  readonly hash?: string;
  /** Whether the console may contain messages, for example about something that the policy blocked. */
  readonly mayComplain?: boolean;
  readonly javaScriptEnabled?: boolean;
};

export type Look = { readonly width?: number } & NonNullable<Parameters<Page['emulateMedia']>[0]>;

/** The requests and console messages of the open page. */
const makeWatched = () => ({ requests: [] as string[], messages: [] as string[] });
let watched = makeWatched();

/**
 * Opens a page in the only tab, because a new tab takes longer than most tests. At the end of the test, expects no
 * requests except for the page itself, and an empty console.
 */
export async function openPage(
  html: string,
  { hash, mayComplain = false, javaScriptEnabled = true }: OpenOptions = {},
): Promise<Opened> {
  const page = await (tabs[`${javaScriptEnabled}`] ??= openTab(javaScriptEnabled));
  await setLook(page);
  const address = fileOf(html);
  const { requests, messages } = (watched = makeWatched());
  onTestFinished(async () => {
    // Messages of the page arrive before the answer.
    await page.evaluate(() => null);
    expect(mayComplain ? [] : messages).toEqual([]);
    expect(requests.filter((request) => !request.startsWith(address))).toEqual([]);
  });
  await page.goto(hash === undefined ? address : `${address}#${hash}`);
  return { page, requests };
}

/** Sets the width of the window and the media features. The defaults are 1280 px and the light color scheme. */
export async function setLook(page: Page, { width = 1280, ...media }: Look = {}): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ media: 'screen', colorScheme: 'light', forcedColors: 'none', ...media });
}

const tabs: Record<string, Promise<Page>> = {};

async function openTab(javaScriptEnabled: boolean): Promise<Page> {
  const page = await (await startBrowser()).newPage({ javaScriptEnabled });
  page.on('request', (request) => void watched.requests.push(request.url()));
  page.on('console', (message) => void watched.messages.push(message.text()));
  page.on('pageerror', (error) => void watched.messages.push(error.message));
  return page;
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
