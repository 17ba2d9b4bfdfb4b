import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { makeCacheFolder } from '../../src/compile-cache.ts';
import { childEnvironment, CLI, startNode } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { makeOpenFolder, OTHER_USER, reasonForOneUser, runAsOther } from '../support/users.ts';

const USER = process.getuid?.() ?? 0;

type Variables = Readonly<Record<string, string | undefined>>;

describe('makeCacheFolder', () => {
  test.each<[string, (folder: string) => Variables, string]>([
    [
      'makeCacheFolder creates a private folder under XDG_CACHE_HOME',
      (folder) => ({ XDG_CACHE_HOME: join(folder, 'a'), HOME: '/' }),
      'a/promptsync',
    ],
    [
      'makeCacheFolder creates a private folder under HOME if XDG_CACHE_HOME is not set',
      (folder) => ({ HOME: folder }),
      '.cache/promptsync',
    ],
    [
      'makeCacheFolder creates a private folder under HOME if XDG_CACHE_HOME is empty',
      (folder) => ({ XDG_CACHE_HOME: '', HOME: folder }),
      '.cache/promptsync',
    ],
    [
      'makeCacheFolder creates a private folder under HOME if XDG_CACHE_HOME is relative',
      (folder) => ({ XDG_CACHE_HOME: 'a', HOME: folder }),
      '.cache/promptsync',
    ],
  ])('%s', (_, variablesOf, path) => {
    const folder = makeFolder();
    expect(makeCacheFolder(variablesOf(folder), USER)).toBe(join(folder, path));
    expect(statSync(join(folder, path)).mode & 0o777).toBe(0o700);
    expect(makeCacheFolder(variablesOf(folder), USER)).toBe(join(folder, path));
  });

  test.each<[string, (home: string) => void]>([
    [
      'makeCacheFolder returns null if the cache folder is readable by everyone',
      (home) => chmodSync(join(home, '.cache/promptsync'), 0o744),
    ],
    [
      'makeCacheFolder returns null if the parent of the cache folder is group-writable',
      (home) => chmodSync(join(home, '.cache'), 0o770),
    ],
    ['makeCacheFolder returns null if the home folder is world-writable', (home) => chmodSync(home, 0o777)],
    [
      'makeCacheFolder returns null if the cache folder is a symbolic link',
      (home) => replaceByLink(join(home, '.cache/promptsync')),
    ],
    [
      'makeCacheFolder returns null if the parent of the cache folder is a symbolic link',
      (home) => replaceByLink(join(home, '.cache')),
    ],
    [
      'makeCacheFolder returns null if a file exists in place of the cache folder',
      (home) => replaceByFile(join(home, '.cache/promptsync')),
    ],
    [
      'makeCacheFolder returns null if a file exists in place of the parent of the cache folder',
      (home) => replaceByFile(join(home, '.cache')),
    ],
  ])('%s', (_, change) => {
    const home = makeFolder();
    expect(makeCacheFolder({ HOME: home }, USER)).not.toBeNull();
    change(home);
    expect(makeCacheFolder({ HOME: home }, USER)).toBeNull();
  });

  test.each<[string, Variables]>([
    ['makeCacheFolder returns null if HOME is not set', {}],
    ['makeCacheFolder returns null if HOME is empty', { HOME: '' }],
    ['makeCacheFolder returns null if HOME is relative', { HOME: '.' }],
    ['makeCacheFolder returns null if HOME is not a folder', { HOME: '/dev/null' }],
  ])('%s', (_, variables) => {
    expect(makeCacheFolder(variables, USER)).toBeNull();
  });

  test.each<[string, (folder: string) => Variables]>([
    [
      'makeCacheFolder does not create the HOME folder if it is missing',
      (folder) => ({ HOME: join(folder, 'missing') }),
    ],
    [
      'makeCacheFolder does not create a missing parent folder of XDG_CACHE_HOME',
      (folder) => ({ XDG_CACHE_HOME: join(folder, 'missing/.cache'), HOME: folder }),
    ],
  ])('%s', (_, variablesOf) => {
    const folder = makeFolder();
    expect(makeCacheFolder(variablesOf(folder), USER)).toBeNull();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('makeCacheFolder returns null and creates nothing if another user owns the home folder', () => {
    const home = makeFolder();
    if (USER === 0) chownSync(home, OTHER_USER, OTHER_USER);
    expect(makeCacheFolder({ HOME: home }, USER === 0 ? 0 : USER + 1)).toBeNull();
    expect(readdirSync(home)).toEqual([]);
  });
});

function replaceByLink(folder: string): void {
  cpSync(folder, `${folder}-moved`, { recursive: true });
  rmSync(folder, { recursive: true });
  symlinkSync(`${folder}-moved`, folder);
}

function replaceByFile(folder: string): void {
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
}

describe('the compile cache', () => {
  test.for<[string, (attack: Attack) => Variables]>([
    [
      'root does not run code from a compile cache that another user planted in the temporary folder',
      (attack) => ({ HOME: makeOpenFolder(), TMPDIR: plant(attack, makeSharedFolder(), 'node-compile-cache') }),
    ],
    [
      'root does not run code from a compile cache that another user planted in a shared XDG_CACHE_HOME',
      (attack) => ({ HOME: makeOpenFolder(), XDG_CACHE_HOME: plant(attack, makeSharedFolder(), 'promptsync') }),
    ],
    [
      'root does not run code from a compile cache in HOME if HOME is the home folder of another user',
      (attack) => ({ HOME: plant(attack, makeOpenFolder(OTHER_USER), '.cache/promptsync') }),
    ],
  ])('%s', async ([, prepare], { skip }) => {
    const reason = reasonForOneUser();
    skip(reason !== null, reason ?? '');
    const attack = makeAttack();
    // Node itself runs the code where a user asks for it. Otherwise this test would show nothing.
    const asked = join(plant(attack, makeSharedFolder(), 'asked'), 'asked');
    expect(await runAsRoot(attack, { NODE_COMPILE_CACHE: asked })).toEqual({ stdout: '', hasRun: true });
    const variables = prepare(attack);
    expect(await runAsRoot(attack, variables)).toEqual({ stdout: `${packageJson.version}\n`, hasRun: false });
  });

  test('promptsync stores compiled code in a private cache folder', async () => {
    const home = makeFolder();
    const environment = childEnvironment({ HOME: home, XDG_CACHE_HOME: undefined });
    const run = () => startNode(CLI, ['--version'], { cwd: home, environment }).ended;
    expect(await run()).toMatchObject({ exitCode: 0, stderr: '' });
    expect(readdirSync(join(home, '.cache/promptsync'))).toHaveLength(1);
    expect(await run()).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

/** Code of another user, in the form in which Node would run it for root in the place of a part of promptsync. */
type Attack = {
  /** The bundle that root starts. */
  readonly cli: string;
  /** A compile cache with the code. The other user owns it. */
  readonly cache: string;
  /** The code makes this file. */
  readonly trace: string;
};

/**
 * Compiles code as the other user, and puts it into the cache entry of a part of the bundle. V8 compares only the
 * lengths of the sources; Node compares the checksum in the entry's header, which is copied from a genuine entry.
 */
function makeAttack(): Attack {
  const [ours, theirs] = [makeOpenFolder(), makeOpenFolder(OTHER_USER)];
  const [bundle, fake] = [join(ours, 'bundle'), join(theirs, 'fake')];
  for (const folder of [bundle, fake]) cpSync(dirname(CLI), folder, { recursive: true });
  const part = readdirSync(join(bundle, 'chunks')).find((name) => name.startsWith('start-')) ?? '';
  const genuine = readFileSync(join(bundle, 'chunks', part), 'utf8');
  const trace = join(theirs, 'trace');
  const code = `require('node:fs').writeFileSync(${JSON.stringify(trace)}, ''); require('node:module').flushCompileCache();`;
  const forged = `${code} process.exit(0);`.padEnd(genuine.length);
  writeFileSync(join(fake, 'chunks', part), forged);
  const genuineEntry = compile(join(bundle, 'cli.cjs'), genuine, join(theirs, 'genuine-cache'));
  const forgedEntry = compile(join(fake, 'cli.cjs'), forged, join(theirs, 'forged-cache'));
  rmSync(trace);
  // The header holds the length of the source at byte 4 and its checksum at byte 12.
  for (const at of [4, 12]) genuineEntry.bytes.copy(forgedEntry.bytes, at, at, at + 4);
  const cache = join(theirs, 'cache');
  // The name of the folder ends with the id of the user.
  const folder = join(cache, genuineEntry.version.replace(/\d+$/, '0'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, genuineEntry.name), forgedEntry.bytes);
  return { cli: join(bundle, 'cli.cjs'), cache, trace };
}

type CacheEntry = { readonly version: string; readonly name: string; readonly bytes: Buffer };

/** Runs a bundle as the other user, and returns the cache entry of the source. */
function compile(cli: string, source: string, cache: string): CacheEntry {
  runAsOther(dirname(cache), [process.execPath, cli, '--version'], { NODE_COMPILE_CACHE: cache });
  const [version = ''] = readdirSync(cache);
  const entries = readdirSync(join(cache, version)).map((name) => ({
    version,
    name,
    bytes: readFileSync(join(cache, version, name)),
  }));
  const entry = entries.find(({ bytes }) => bytes.readUInt32LE(12) === crc32(source));
  if (entry === undefined) throw new Error(`Node has kept no compiled code of ${cli} in ${cache}.`);
  return entry;
}

/** Copies the compile cache to a path below a folder, as the other user, and returns the folder. */
function plant({ cache }: Attack, folder: string, path: string): string {
  const target = join(folder, path);
  runAsOther(folder, ['mkdir', '-p', dirname(target)]);
  runAsOther(folder, ['cp', '-r', cache, target]);
  return folder;
}

/** Makes a folder like /tmp, in which everybody may make files. */
function makeSharedFolder(): string {
  const folder = makeOpenFolder();
  chmodSync(folder, 0o1777);
  return folder;
}

async function runAsRoot({ cli, trace }: Attack, variables: Variables) {
  const environment = childEnvironment({ XDG_CACHE_HOME: undefined, ...variables });
  const { stdout } = await startNode(cli, ['--version'], { cwd: dirname(cli), environment }).ended;
  const hasRun = existsSync(trace);
  rmSync(trace, { force: true });
  return { stdout, hasRun };
}
