/**
 * Makes the pictures of the README and the docs: a pull request with its comment and check, the HTML report of a plan,
 * and an animated recording of `promptsync demo`. Needs Chromium and the command `script`.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { chromium, type Browser } from 'playwright-core';
import { ADDRESS, CLI, makeDemo, type Demo } from './demo.ts';
import { renderPullRequest } from './pull-request.ts';
import { makeRecording } from './recording.ts';

const FOLDER = resolve(import.meta.dirname, '../../docs/pictures');
const COLUMNS = 80;
const THEME = {
  foreground: '#e6edf3',
  background: '#0d1117',
  green: '#7ee787',
  red: '#ff7b72',
  yellow: '#e3b341',
  blue: '#79c0ff',
  magenta: '#d2a8ff',
  cyan: '#76e3ea',
  gray: '#9198a1',
};

const demo = await makeDemo();
const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
mkdirSync(FOLDER, { recursive: true });
try {
  const pullRequest = await makePullRequest(demo);
  for (const scheme of ['light', 'dark'] as const) {
    await shoot(browser, pullRequest, { name: `pull-request-${scheme}`, width: 780, height: null, scheme });
  }
  demo.promote();
  demo.editInService();
  const page = await makePage(demo);
  for (const scheme of ['light', 'dark'] as const) {
    await shoot(browser, page, { name: `page-${scheme}`, width: 1200, height: 900, scheme });
  }
  writeFileSync(join(FOLDER, 'demo.svg'), makeRecording(await recordDemo(demo), COLUMNS, THEME));
  console.log('wrote docs/pictures/demo.svg');
} finally {
  await browser.close();
  await demo.close();
}

type Picture = {
  readonly name: string;
  readonly width: number;
  /** Null: as high as what it shows. */
  readonly height: number | null;
  readonly scheme: 'light' | 'dark';
};

async function shoot(from: Browser, url: string, { name, width, height, scheme }: Picture): Promise<void> {
  const page = await from.newPage({
    viewport: { width, height: height ?? 400 },
    colorScheme: scheme,
    deviceScaleFactor: 1.5,
  });
  await page.goto(url);
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: height === null });
  await page.close();
  console.log(`wrote docs/pictures/${name}.png`);
}

/** Plans the branch of the pull request, and returns the URL of a page that shows the pull request. */
async function makePullRequest(demo: Demo): Promise<string> {
  await plan(demo, '--output', 'plan.json');
  const path = join(demo.folder, 'pull-request.html');
  const html = renderPullRequest(join(demo.folder, 'plan.json'), 'Ask how to help');
  writeFileSync(path, html.replaceAll(demo.baseUrl, ADDRESS));
  return `file://${path}`;
}

/** Makes the HTML report of a plan and returns its URL. */
async function makePage(demo: Demo): Promise<string> {
  await plan(demo, '--format', 'html', '--output', 'plan.html');
  const path = join(demo.folder, 'plan.html');
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(demo.baseUrl, ADDRESS));
  return `file://${path}`;
}

async function plan({ folder, environment }: Demo, ...flags: readonly string[]): Promise<void> {
  const words = [CLI, 'plan', '--base', 'main', ...flags];
  await promisify(execFile)(process.execPath, words, { cwd: folder, env: environment });
}

/** Runs `promptsync demo` in a terminal of 80 columns, and returns its output with color codes. */
async function recordDemo({ folder, environment }: Demo): Promise<string> {
  const command = `stty cols ${COLUMNS} rows 60; '${process.execPath}' '${CLI}' demo`;
  const env = { ...environment, TERM: 'xterm-256color', FORCE_HYPERLINK: '0' };
  const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], { cwd: folder, env });
  return stdout;
}
