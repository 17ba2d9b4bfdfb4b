import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Bundle } from '../../scripts/bundle.ts';
import { CLI, runCli } from '../support/cli.ts';
import { makeWorkspace } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';

/** The chunks of the bundle that all child processes run. */
const chunks = JSON.parse(readFileSync(join(dirname(CLI), '../chunks.json'), 'utf8')) as readonly Chunk[];
type Chunk = Pick<Bundle['chunks'][number], 'fileName' | 'moduleIds' | 'imports'>;

/** The source files that each command imports first. */
const HELP = ['cli.ts', 'cli/main.ts', 'cli/node-process.ts'];
const VALIDATE = [...HELP, 'cli/run-command.ts', 'commands/validate.ts'];

describe('the code that the bundled command line loads', () => {
  test('promptsync --help loads no package except commander', () => {
    const loaded = loadedFor(HELP);
    expect(loaded.packages).toEqual(['commander']);
    expect(loaded.sources.map(roomOf)).not.toContain('commands');
    expect(loaded.sources).not.toContain('problem.ts');
  });

  test('promptsync --help loads no slow Node.js modules', () => {
    const quick = ['events', 'fs', 'module', 'path', 'process', 'timers/promises', 'util'];
    expect(loadedFor(HELP).builtins).toEqual(quick);
  });

  test('promptsync validate loads no code for services, git or Markdown reports', () => {
    const { packages, sources, builtins } = loadedFor(VALIDATE);
    expect(packages).toEqual(expect.arrayContaining(['commander', 'gray-matter', 'yaml', 'zod']));
    const late = ['undici', 'simple-git', 'js-yaml', '@clack/prompts', 'proper-lockfile'];
    for (const name of [...late, 'fast-wrap-ansi', 'supports-hyperlinks']) {
      expect(packages).not.toContain(name);
    }
    // Validate loads the rules, settings and problem texts of a provider, but not its client.
    const loaded = sources.filter((name) => !/\/(descriptor|problems|rules)\.ts$/.test(name)).map(roomOf);
    for (const room of ['service', 'ledger', 'langfuse', 'git', 'observing', 'applying', 'embedded']) {
      expect(loaded).not.toContain(room);
    }
    expect(sources.filter((name) => /report\/(markdown|history|status|html\/.*)\.ts$/.test(name))).toEqual([]);
    for (const name of ['child_process', 'http', 'sqlite']) expect(builtins).not.toContain(name);
  });
});

test('the bundled CLI supports --help, validate and plan, and rejects an unknown flag', async () => {
  const run = bundledWith('service: { embedded: ":memory:" }\n');
  expect(await run('--help')).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringContaining('Usage:') });
  expect(await run('plan', '--unheard-of')).toMatchObject({ exitCode: 1, stdout: '' });
  expect(await run('validate')).toEqual({ exitCode: 0, stderr: '', stdout: '2 prompts valid.\n' });
  const plan = await run('plan', '--format', 'json');
  expect(plan).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('not in a git repository') });
  expect(JSON.parse(plan.stdout)).toMatchObject({ summary: { prompts: 2, create_version: 2, failed: 0 } });
});

test('the bundled CLI requests a tunnel from the configured HTTPS proxy', async () => {
  const targets: (string | undefined)[] = [];
  const proxy = createServer().on('connect', ({ url }, socket) => {
    targets.push(url);
    socket.end('HTTP/1.1 403 No\r\n\r\n');
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  onTestFinished(() => void proxy.close());
  const address = proxy.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const run = bundledWith('service: { base_url: "https://prompts.invalid" }\n', {
    HTTPS_PROXY: `http://127.0.0.1:${port}`,
    PROMPTSYNC_API_KEY: 'psk_of_a_bundle',
  });
  const { exitCode, stdout } = await run('plan', '--only', 'prompts/a.md', '--format', 'json');
  expect({ exitCode, stdout }).toEqual({
    exitCode: 1,
    stdout: expect.stringContaining('the proxy rejected the tunnel'),
  });
  expect(new Set(targets)).toEqual(new Set(['prompts.invalid:443']));
});

/** Returns a function that runs the bundle in a workspace with two prompts. */
function bundledWith(config: string, variables: Readonly<Record<string, string>> = {}) {
  const folder = makeWorkspace(workspaceFiles({ a: {}, b: {} }, config));
  return (...words: readonly string[]) => runCli(folder, words, { environment: variables });
}

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

function roomOf(source: string): string {
  return source.split('/')[0] ?? source;
}
