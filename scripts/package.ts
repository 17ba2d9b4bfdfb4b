/**
 * Packs what npm publishes into a folder (the first argument, or a temporary one), has publint and are-the-types-wrong
 * look at it, and holds its size and that of the action's bundle to limits.
 */
import { execFileSync, type StdioOptions } from 'node:child_process';
import { mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import package_ from '../package.json' with { type: 'json' };

/** In bytes. undici is bundled as a whole, because its parts have no public paths: it is 60 kB and 0.3 MB of these. */
const LIMITS = { package: 625_000, bundle: 1_850_000 };

/** The path of the packed file. Throws where a tool objects or something is too large. */
export function makePackage(folder: string): string {
  mkdirSync(folder, { recursive: true });
  run('npm', ['pack', '--silent', '--pack-destination', folder], ['ignore', 'ignore', 'inherit']);
  const file = join(resolve(folder), `promptsync-${package_.version}.tgz`);
  run('publint', ['run', file, '--strict']);
  // It is a package of ES modules: `require` of it works in the Node that it needs, which the tool does not know.
  run('attw', [file, '--profile', 'esm-only', '--no-definitely-typed', '--format', 'ascii']);
  const sizes = { package: statSync(file).size, bundle: statSync('dist/action/index.cjs').size };
  for (const name of ['package', 'bundle'] as const) {
    console.log(`${name}: ${sizes[name]} bytes, at most ${LIMITS[name]}`);
    if (sizes[name] > LIMITS[name]) throw new Error(`the ${name} is too large: see LIMITS in scripts/package.ts`);
  }
  return file;
}

function run(command: string, words: readonly string[], stdio: StdioOptions = 'inherit'): void {
  const path = [resolve('node_modules/.bin'), process.env['PATH']].join(delimiter);
  execFileSync(command, words, { stdio, env: { ...process.env, PATH: path } });
}

if (import.meta.main) makePackage(process.argv[2] ?? mkdtempSync(join(tmpdir(), 'promptsync-package-')));
