import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import package_ from '../package.json' with { type: 'json' };
import { copyOfThis } from './docs/worlds.ts';
import { commitAll, git, makeFolder, writeFiles } from './support/folder.ts';

const root = resolve(import.meta.dirname, '..');
const file = `promptsync-${package_.version}.tgz`;

function run(folder: string, words: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const env = { ...process.env, GITHUB_OUTPUT: undefined, GITHUB_REF_NAME: undefined, ...environment };
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8', env });
  return { status, printed: stdout + stderr };
}

function makeCopy(): string {
  const copy = copyOfThis();
  // The pattern of .gitignore matches only folders, and this is a link.
  writeFiles(copy, { '.git/info/exclude': 'node_modules\n' });
  return copy;
}

test('The release script reports two problems: the tag does not match package.json, and the repository has no owner', () => {
  const copy = makeCopy();
  const { status, printed } = run(copy, ['scripts/release.ts'], { GITHUB_REF_NAME: 'v99.0.0' });
  expect({ status, stops: printed.match(/^stop: .*/gm) }).toEqual({
    status: 1,
    stops: [
      `stop: The tag v99.0.0 is not v${package_.version}, the version in package.json.`,
      'stop: The repository has no owner. Run: npm run owner -- NAME',
    ],
  });
  expect(readdirSync(copy)).not.toContain('release');
});

test('A dry run of the release script builds a package that can be run, imported and type-checked in another project', () => {
  const copy = makeCopy();
  takeOver(copy);
  release(copy);
  // The release restores package.json.
  expect(git(copy, 'status', '--porcelain')).toBe('');
  use(join(copy, 'release', file));
});

/** Gives the repository an owner, and checks that no placeholder is left and no generated file is stale. */
function takeOver(copy: string): void {
  expect(run(copy, ['scripts/owner.ts', 'a/b']).status).toBe(1);
  expect(run(copy, ['scripts/owner.ts', 'acme']).status).toBe(0);
  expect(git(copy, 'ls-files', '--modified')).toContain('docs/action.md');
  commitAll(copy, 'Acme owns it');
  const named = ['grep', '--text', '-lw', 'OWNER', '--', '.', ':!scripts', ':!test', ':!*.png'];
  expect(spawnSync('git', named, { cwd: copy, encoding: 'utf8' }).stdout).toBe('');
  expect(run(copy, ['scripts/generate.ts', '--check'])).toEqual({
    status: 0,
    printed: expect.not.stringContaining('stale'),
  });
}

/** Runs a dry release, which makes the package, its checksum and the notes but uploads nothing. */
function release(copy: string): void {
  const { status, printed } = run(copy, ['scripts/release.ts', '--dry-run']);
  expect({ status, printed }).toMatchObject({ status: 0 });
  expect(readdirSync(join(copy, 'release'))).toEqual(['notes.md', file, `${file}.sha256`]);
  expect(spawnSync('sha256sum', ['--check', `${file}.sha256`], { cwd: join(copy, 'release') }).status).toBe(0);
  expect(printed).toContain(`v${package_.version} and v${package_.version.split('.')[0]}: `);
}

/**
 * Uses the package in a folder that has only its dependencies. Checks its manifest, runs the command line and loads the
 * library. The types must compile without those of Node and `skipLibCheck`.
 */
function use(packed: string): void {
  const folder = makeFolder();
  const installed = join(folder, 'node_modules/promptsync');
  mkdirSync(installed, { recursive: true });
  spawnSync('tar', ['-xzf', packed, '-C', installed, '--strip-components=1']);
  const manifest: unknown = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const name of ['scripts', 'devDependencies', 'prettier']) expect(manifest).not.toHaveProperty(name);
  expect(manifest).toMatchObject({ repository: { url: 'git+https://github.com/acme/promptsync.git' } });
  expect(run(folder, [join(installed, 'dist/cli.cjs'), '--version'])).toEqual({
    status: 0,
    printed: `${package_.version}\n`,
  });
  for (const name of Object.keys(package_.dependencies)) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const load = "await import('promptsync'); await import('simple-git');";
  expect(run(folder, ['--input-type=module', '--eval', load])).toEqual({ status: 0, printed: '' });
  const source =
    "import * as all from 'promptsync';\nexport const report: (all: never) => all.Report = all.makeReport;\n";
  writeFiles(folder, { 'package.json': '{ "type": "module" }', 'use.ts': source });
  const strict = ['--noEmit', '--strict', '--skipLibCheck', 'false', 'use.ts'];
  for (const version of ['typescript', '@arethetypeswrong/core/node_modules/typescript']) {
    const tsc = join(root, 'node_modules', version, 'bin/tsc');
    for (const how of ['nodenext', 'esnext --moduleResolution bundler']) {
      const words = [tsc, '--target', 'es2022', '--module', ...how.split(' '), ...strict];
      expect({ version, how, ...run(folder, words) }).toEqual({ version, how, status: 0, printed: '' });
    }
  }
}
