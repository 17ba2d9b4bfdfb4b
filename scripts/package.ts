/**
 * Packs the npm package into a folder: the first argument, or a temporary folder. Checks the package with publint and
 * are-the-types-wrong. Also checks the size of the package and of the action's bundle.
 */
import { execFileSync, type StdioOptions } from 'node:child_process';
import { mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import package_ from '../package.json' with { type: 'json' };

/**
 * The maximum sizes in bytes. undici accounts for 60 kB of the package and 0.3 MB of the bundle. It is bundled as a
 * whole, because its parts have no public paths.
 */
const SIZE_LIMITS = { package: 835_000, bundle: 2_060_000 };

/** Makes the package and returns its path. Throws if a tool finds a problem, or if a file is too large. */
export function makePackage(folder: string): string {
  mkdirSync(folder, { recursive: true });
  run('npm', ['pack', '--silent', '--pack-destination', folder], ['ignore', 'ignore', 'inherit']);
  const file = join(resolve(folder), `promptsync-${package_.version}.tgz`);
  run('publint', ['run', file, '--strict']);
  // The package exports only ES modules. The versions of Node that it supports can `require` them, but attw does not know
  // that.
  run('attw', [file, '--profile', 'esm-only', '--no-definitely-typed', '--format', 'ascii']);
  const sizes = { package: statSync(file).size, bundle: statSync('dist/action/index.cjs').size };
  for (const name of ['package', 'bundle'] as const) {
    console.log(`${name}: ${sizes[name]} bytes (limit: ${SIZE_LIMITS[name]})`);
    if (sizes[name] > SIZE_LIMITS[name]) {
      throw new Error(`The ${name} is too large. See SIZE_LIMITS in scripts/package.ts.`);
    }
  }
  return file;
}

function run(command: string, args: readonly string[], stdio: StdioOptions = 'inherit'): void {
  const path = [resolve('node_modules/.bin'), process.env['PATH']].join(delimiter);
  execFileSync(command, args, { stdio, env: { ...process.env, PATH: path } });
}

if (import.meta.main) makePackage(process.argv[2] ?? mkdtempSync(join(tmpdir(), 'promptsync-package-')));
