import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Bundle } from '../../scripts/bundle.ts';
import { CLI, runCli } from '../support/cli.ts';
import { makeWorkspace } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';

/** Of the bundle that all children run. */
const chunks = JSON.parse(readFileSync(join(dirname(CLI), '../chunks.json'), 'utf8')) as readonly Chunk[];
type Chunk = Pick<Bundle['chunks'][number], 'fileName' | 'moduleIds' | 'imports'>;

/** What each command loads, by the source files that it imports one after the other. */
const HELP = ['cli.ts', 'cli/main.ts', 'process.ts'];
const VALIDATE = [...HELP, 'cli/run.ts', 'commands/validate.ts'];

describe('the bundled command line loads', () => {
  test('nothing but commander for a help', () => {
    const loaded = loadedFor(HELP);
    expect(loaded.packages).toEqual(['commander']);
    expect(loaded.sources.map(roomOf)).not.toContain('commands');
    expect(loaded.sources).not.toContain('problem.ts');
  });

  test('no part of Node for a help that takes time', () => {
    const quick = ['events', 'fs', 'module', 'path', 'process', 'timers/promises', 'util', 'v8'];
    expect(loadedFor(HELP).builtins).toEqual(quick);
  });

  test('what reads files for a validate, and neither service nor git, nor a report in Markdown', () => {
    const { packages, sources, builtins } = loadedFor(VALIDATE);
    expect(packages).toEqual(expect.arrayContaining(['commander', 'gray-matter', 'yaml', 'zod']));
    const late = ['undici', 'simple-git', 'js-yaml', '@clack/prompts', 'proper-lockfile'];
    for (const name of [...late, 'fast-string-width', 'supports-hyperlinks']) {
      expect(packages).not.toContain(name);
    }
    // What each provider takes is known without it.
    const loaded = sources.filter((name) => !name.endsWith('/rules.ts')).map(roomOf);
    for (const room of ['service', 'ledger', 'langfuse', 'git', 'observing', 'applying', 'embedded']) {
      expect(loaded).not.toContain(room);
    }
    expect(sources.filter((name) => /report\/(markdown|history|status|html\/.*)\.ts$/.test(name))).toEqual([]);
    for (const name of ['child_process', 'http', 'sqlite']) expect(builtins).not.toContain(name);
  });

  test('of undici only the agents', () => {
    const undici = chunks.flatMap(({ moduleIds }) => moduleIds.filter((id) => id.includes('/undici/lib/')));
    expect(
      undici.filter((id) => /lib\/(mock|interceptor|cache|web\/(websocket|cache|eventsource))\//.test(id)),
    ).toEqual([]);
  });
});

test('the bundled command line runs: a help, a mistake, a validate, and a plan against a service', async () => {
  const run = bundledWith('service: { embedded: ":memory:" }\n');
  expect(await run('--help')).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringContaining('Usage:') });
  expect(await run('plan', '--unheard-of')).toMatchObject({ exitCode: 1, stdout: '' });
  expect(await run('validate')).toEqual({ exitCode: 0, stderr: '', stdout: '2 prompts valid.\n' });
  const plan = await run('plan', '--format', 'json');
  expect(plan).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(plan.stdout)).toMatchObject({ summary: { prompts: 2, create_version: 2, failed: 0 } });
});

test('the bundled command line asks a proxy for a tunnel', async () => {
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
    stdout: expect.stringContaining('the proxy refused the tunnel'),
  });
  expect(new Set(targets)).toEqual(new Set(['prompts.invalid:443']));
});

/** Runs the bundle in a workspace of two prompts. */
function bundledWith(config: string, variables: Readonly<Record<string, string>> = {}) {
  const folder = makeWorkspace(workspaceFiles({ a: {}, b: {} }, config));
  return (...words: readonly string[]) => runCli(folder, words, { environment: variables });
}

/** The packages, source files and parts of Node in the files that these source files are in, and in what those import. */
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
