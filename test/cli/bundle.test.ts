import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Bundle } from '../../scripts/bundle.ts';
import { CLI, runCli } from '../support/cli.ts';
import { makeFolder, makeWorkspace } from '../support/folder.ts';
import { listen } from '../support/front.ts';
import { workspaceFiles } from '../support/prompts.ts';

/** The chunks of the bundle that all child processes run. */
const chunks = JSON.parse(readFileSync(join(dirname(CLI), '../chunks.json'), 'utf8')) as readonly Chunk[];
type Chunk = Pick<Bundle['chunks'][number], 'fileName' | 'moduleIds' | 'imports'>;

/** The source files that each command imports first. */
const HELP = ['cli.ts', 'cli/main.ts', 'cli/node-process.ts'];
const VALIDATE = [...HELP, 'cli/run-command.ts', 'commands/validate.ts'];

describe('the code that the bundled command line loads', () => {
  test('promptsync --help loads only commander and quick modules of Node.js', () => {
    const { packages, sources, builtins } = loadedFor(HELP);
    expect(packages).toEqual(['commander']);
    expect(sources.filter((name) => /^commands\/|^problem\.ts$/.test(name))).toEqual([]);
    expect(builtins).toEqual(['events', 'fs', 'module', 'path', 'process', 'timers/promises', 'util']);
  });

  test('promptsync validate loads no code for services, git or Markdown reports', () => {
    const { packages, sources, builtins } = loadedFor(VALIDATE);
    expect(packages).toEqual(expect.arrayContaining(['commander', 'gray-matter', 'yaml', 'zod']));
    const late = /^(undici|simple-git|js-yaml|@clack\/prompts|proper-lockfile|fast-wrap-ansi|supports-hyperlinks)$/;
    expect(packages.filter((name) => late.test(name))).toEqual([]);
    // Validate loads the rules and settings of a provider, but not its client.
    const rooms = /^(git|http|observing|applying|embedded)\/|\/client\.ts$/;
    const formats = /^report\/formats\/(markdown|html|junit|render-history|status)/;
    expect(sources.filter((name) => rooms.test(name) || formats.test(name))).toEqual([]);
    expect(builtins.filter((name) => /^(child_process|http|sqlite)$/.test(name))).toEqual([]);
  });
});

test('the bundled CLI prints its help', async () => {
  const ran = await runCli(makeFolder(), ['--help']);
  expect(ran).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringContaining('Usage:') });
});

test('the bundled CLI requests a tunnel from the configured HTTPS proxy', async () => {
  const targets: (string | undefined)[] = [];
  const proxy = createServer().on('connect', ({ url }, socket) => {
    targets.push(url);
    socket.end('HTTP/1.1 403 No\r\n\r\n');
  });
  const folder = makeWorkspace(workspaceFiles({ a: {} }, 'service: { base_url: "https://prompts.invalid" }\n'));
  const environment = { HTTPS_PROXY: await listen(proxy), PROMPTSYNC_API_KEY: 'psk_of_a_bundle' };
  const { exitCode, stdout } = await runCli(folder, ['plan', '--format', 'json'], { environment });
  expect(exitCode).toBe(1);
  expect(stdout).toContain('the proxy rejected the tunnel');
  expect(new Set(targets)).toEqual(new Set(['prompts.invalid:443']));
});

/** Returns the packages, source files and Node modules in the chunks of these source files and in their imports. */
function loadedFor(entries: readonly string[]) {
  const loaded = new Set<Chunk>();
  const load = (chunk: Chunk | undefined): void => {
    if (chunk === undefined || loaded.has(chunk)) return;
    loaded.add(chunk);
    for (const name of chunk.imports) load(chunks.find(({ fileName }) => fileName === name));
  };
  for (const entry of entries) load(chunks.find(({ moduleIds }) => moduleIds.some((id) => sourceOf(id) === entry)));
  const ids = [...loaded].flatMap(({ moduleIds }) => moduleIds);
  const imports = [...loaded].flatMap((chunk) => chunk.imports.map((name) => name.replace(/^node:/, '')));
  return {
    packages: sorted(ids.map(packageOf)),
    sources: sorted(ids.map(sourceOf)),
    builtins: sorted(imports.filter((name) => builtinModules.includes(name))),
  };
}

function sorted(names: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== undefined))].toSorted();
}

function packageOf(id: string): string | undefined {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1];
}

function sourceOf(id: string): string | undefined {
  return id.includes('node_modules') ? undefined : /\/src\/(.+)$/.exec(id)?.[1];
}
