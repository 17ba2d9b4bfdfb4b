/** Makes the pictures of README and docs: the page and the terminal, of one demonstration. Needs Chromium and `script`. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import Convert from 'ansi-to-html';
import { chromium, type Browser } from 'playwright-core';
import { ADDRESS, CLI, makeDemo, type Demo } from './demo.ts';

const FOLDER = resolve(import.meta.dirname, '../../docs/pictures');
const COLUMNS = 80;
const COLOURS = { 0: '#484f58', 1: '#ff7b72', 2: '#7ee787', 3: '#e3b341', 4: '#79c0ff', 5: '#d2a8ff', 6: '#76e3ea' };

const demo = await makeDemo();
const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
mkdirSync(FOLDER, { recursive: true });
try {
  const page = await makePage(demo);
  await shoot(browser, page, { name: 'page-light', width: 1200, height: 900, scheme: 'light' });
  await shoot(browser, `${page}#view=split&show=changed`, {
    name: 'page-dark',
    width: 1200,
    height: 900,
    scheme: 'dark',
  });
  await shoot(browser, page, { name: 'page-narrow', width: 390, height: 844, scheme: 'light' });
  await shoot(browser, await makeTerminal(demo), { name: 'terminal', width: 720, height: null, scheme: 'dark' });
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
  await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: height === null });
  await page.close();
  console.log(`wrote docs/pictures/${name}.png`);
}

/** The page of a plan, as a file. */
async function makePage({ folder, environment, baseUrl }: Demo): Promise<string> {
  const words = [CLI, 'plan', '--base', 'main', '--format', 'html', '--output', 'plan.html'];
  // Refused changes end it with another code than 0.
  await promisify(execFile)(process.execPath, words, { cwd: folder, env: environment }).catch(() => {});
  const path = join(folder, 'plan.html');
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(baseUrl, ADDRESS));
  return `file://${path}`;
}

/** What a terminal of 80 columns shows, as a file that looks like one. */
async function makeTerminal({ folder, environment, baseUrl }: Demo): Promise<string> {
  const command = `stty cols ${COLUMNS} rows 60; '${process.execPath}' '${CLI}' plan --base main`;
  const env = { ...environment, TERM: 'xterm-256color', FORCE_HYPERLINK: '0' };
  const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], { cwd: folder, env }).catch(
    (error: unknown) => error as { readonly stdout: string },
  );
  const shown = stdout
    .replaceAll('\r', '')
    .replaceAll(/^.*\u001b\[2K/gm, '')
    .replaceAll(baseUrl, ADDRESS)
    .trimEnd();
  const path = join(folder, 'terminal.html');
  writeFileSync(path, terminalPage(`$ promptsync plan --base main\n${shown}`));
  return `file://${path}`;
}

function terminalPage(ansi: string): string {
  const convert = new Convert({ fg: '#e6edf3', bg: '#0d1117', escapeXML: true, colors: COLOURS });
  const style =
    'body{margin:0;padding:16px 20px;background:#0d1117;color:#e6edf3;width:max-content}' +
    `pre{margin:0;width:${COLUMNS}ch;font:14px/1.35 ui-monospace,monospace}`;
  return `<!doctype html><meta charset="utf-8"><style>${style}</style><pre>${convert.toHtml(ansi)}</pre>`;
}
