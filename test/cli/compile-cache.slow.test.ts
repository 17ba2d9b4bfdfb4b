import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { childEnvironment, CLI, startNode } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { makeOpenFolder, OTHER_USER, reasonForOneUser, runAsOther } from '../support/users.ts';

type Variables = Readonly<Record<string, string | undefined>>;

describe('the compile cache', () => {
  test('root does not run code from a compile cache that another user planted in a temporary folder, in XDG_CACHE_HOME or in HOME', async ({
    skip,
  }) => {
    const reason = reasonForOneUser();
    skip(reason !== null, reason ?? '');
    const attack = makeAttack();
    // Node itself runs the code where a user asks for it. Otherwise this test would show nothing.
    const asked = join(plant(attack, makeSharedFolder(), 'asked'), 'asked');
    expect(await runAsRoot(attack, { NODE_COMPILE_CACHE: asked })).toEqual({ stdout: '', hasRun: true });
    const places: readonly Variables[] = [
      { HOME: makeOpenFolder(), TMPDIR: plant(attack, makeSharedFolder(), 'node-compile-cache') },
      { HOME: makeOpenFolder(), XDG_CACHE_HOME: plant(attack, makeSharedFolder(), 'promptsync') },
      { HOME: plant(attack, makeOpenFolder(OTHER_USER), '.cache/promptsync') },
    ];
    for (const variables of places) {
      expect(await runAsRoot(attack, variables)).toEqual({ stdout: `${packageJson.version}\n`, hasRun: false });
    }
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
