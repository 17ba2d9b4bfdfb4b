import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../core/bench.ts';
import type { Sample } from '../core/measure.ts';
import { runNode } from '../core/measure.ts';
import { textOf } from '../core/prompts.ts';
import { installPeer } from './install.ts';

const REDIRECT = join(import.meta.dirname, 'redirect-fetch.mjs');

export type RdmeRuns = { readonly upload: () => Promise<Sample>; readonly dryRun: () => Promise<Sample> };

/**
 * Prepares `rdme docs upload`, unchanged, with the prompts as pages. rdme has no setting for the address of its
 * service. The variable `RDME_LOCALHOST` selects a host name for ReadMe's own developers, and a preload redirects its
 * requests to the stand-in. rdme does not remember its uploads, so each run reads and writes every page. An unmeasured
 * first run creates all pages. Returns null if rdme cannot be installed.
 */
export async function prepareRdmeUpload(count: number, bench: Bench): Promise<RdmeRuns | null> {
  const entry = installPeer('rdme');
  if (entry === null) return null;
  const folder = bench.folder();
  writePages(folder, count);
  const { baseUrl, delay } = await bench.standIn('readme');
  const environment = {
    HOME: folder,
    CI: 'true',
    RDME_LOCALHOST: '1',
    RDME_SKIP_NEW_VERSION_CHECK: 'true',
    RDME_API_KEY: 'rdme_bench',
    BENCH_REDIRECT_TO: baseUrl,
  };
  const run = (...flags: readonly string[]) =>
    runNode(['--import', REDIRECT, entry, 'docs', 'upload', 'pages', ...flags], { cwd: folder, environment });
  await delay(0);
  await run();
  const { stdout } = await run();
  if (!stdout.includes(`Successfully updated ${count} page(s)`))
    throw new Error(`rdme did not update all pages: ${stdout.slice(-500)}`);
  return { upload: run, dryRun: () => run('--dry-run') };
}

function writePages(folder: string, count: number): void {
  mkdirSync(join(folder, 'pages'));
  for (let index = 0; index < count; index++) {
    const head = `title: Prompt ${index}\ncategory:\n  uri: Bench\n`;
    writeFileSync(join(folder, 'pages', `prompt-${index}.md`), `---\n${head}---\n${textOf(index, 1)}\n`);
  }
}
