import { chmodSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inPlaceOrder } from '../../src/problem.ts';
import { type PromptWorkspace, readPrompts } from '../../src/files/read.ts';
import { ledgerRules } from '../../src/ledger/rules.ts';
import { makeWorkspace, type Files } from '../support/folder.ts';

type Given = Pick<PromptWorkspace, 'environments' | 'rules'>;

const ANY: Given = { environments: null, rules: ledgerRules('promptsync') };

const file = (id: string, key: string, further = '') =>
  `---\nid: ${id}\nkey: ${key}\nname: N\n${further}---\n\nHello.\n`;

async function read(root: string, rules = ANY, patterns: readonly string[] = ['prompts/**/*.md']) {
  const { files, problems, count } = await readPrompts({ folder: root, root, patterns, ...rules });
  const told = inPlaceOrder(problems).map(({ code, path, line, column }) => `${code} ${path}:${line}:${column}`);
  return { ids: files.map(({ id }) => id), told, count, problems };
}

const readFiles = (files: Files, rules = ANY) => read(makeWorkspace(files), rules);

describe('reading all prompt files', () => {
  test('gives them in the order of their paths', async () => {
    const files = Object.fromEntries(
      ['b', 'a/z', 'c', 'a'].map((name) => [`prompts/${name}.md`, file(name.replace('/', '-'), name)]),
    );
    expect(await readFiles(files)).toMatchObject({ ids: ['a', 'a-z', 'b', 'c'], told: [], count: 4 });
  });

  test('tells every problem of every file, and gives the valid ones', async () => {
    const { ids, told, count } = await readFiles({
      'prompts/a.md': file('1', '2'),
      'prompts/b.md': 'Hello.',
      'prompts/c.md': Buffer.from([0xff]),
      'prompts/d.md': file('d', 'd', 'pins: {promptsync: latest, x: no}\n'),
      'prompts/e.md': file('e', 'e'),
    });
    expect({ ids, told, count }).toEqual({
      ids: ['e'],
      told: [
        'prompt/invalid-field prompts/a.md:2:5',
        'prompt/invalid-field prompts/a.md:3:6',
        'prompt/no-front-matter prompts/b.md:1:1',
        'prompt/not-utf8 prompts/c.md:1:1',
        'prompt/tool-environment prompts/d.md:5:8',
        'prompt/invalid-pin prompts/d.md:5:31',
      ],
      count: 5,
    });
  });

  test('a warning does not make a file invalid', async () => {
    const { ids, told } = await readFiles({ 'prompts/a.md': file('a', 'a').replace('Hello', 'Hel\u200blo') });
    expect({ ids, told }).toEqual({ ids: ['a'], told: ['prompt/hidden-character prompts/a.md:7:4'] });
  });

  test('no file at all is an error that names the patterns', async () => {
    const { told, problems, count } = await readFiles({ 'README.md': '' });
    expect(told).toEqual(['prompt/none-found undefined:undefined:undefined']);
    expect(problems[0]?.message).toContain('"prompts/**/*.md"');
    expect(count).toBe(0);
  });

  test('a file of more than 16 MiB is not read', async () => {
    const root = makeWorkspace({ 'prompts/a.md': file('a', 'a') });
    truncateSync(join(root, 'prompts/a.md'), 16 * 1024 * 1024 + 1);
    expect((await read(root)).told).toEqual(['prompt/too-large prompts/a.md:1:1']);
  });

  test.skipIf(process.getuid?.() === 0)('a file that may not be read is told of', async () => {
    const root = makeWorkspace({ 'prompts/a.md': file('a', 'a'), 'prompts/b.md': file('b', 'b') });
    chmodSync(join(root, 'prompts/a.md'), 0);
    expect(await read(root)).toMatchObject({ ids: ['b'], told: ['prompt/unreadable prompts/a.md:1:1'] });
  });
});

describe('ids and keys are unique', () => {
  test('each of the files that share one is told of, with the name of another', async () => {
    const { ids, told, problems } = await readFiles({
      'prompts/a.md': file('x', 'k1'),
      'prompts/b.md': file('x', 'k2'),
      'prompts/c.md': file('x', 'k3'),
      'prompts/d.md': file('d', 'k1'),
      'prompts/e.md': file('e', 'k5'),
    });
    expect(ids).toEqual(['e']);
    expect(told).toEqual([
      'prompt/duplicate-id prompts/a.md:2:5',
      'prompt/duplicate-key prompts/a.md:3:6',
      'prompt/duplicate-id prompts/b.md:2:5',
      'prompt/duplicate-id prompts/c.md:2:5',
      'prompt/duplicate-key prompts/d.md:3:6',
    ]);
    expect(problems.map(({ message }) => message)).toContain('The id "x" is also used by prompts/a.md.');
    expect(problems.map(({ message }) => message)).toContain('The key "k1" is also used by prompts/d.md.');
  });

  test.each([
    ['é', 'e\u0301', 4],
    ['가', '\u1100\u1161', 4],
    ['a', 'A', 0],
    ['ﬁ', 'fi', 0],
  ])('compared in normal form C: %s and %s have %i problems', async (one, other, count) => {
    const { told } = await readFiles({ 'prompts/a.md': file(one, one), 'prompts/b.md': file(other, other) });
    expect(told).toHaveLength(count);
  });

  test('an id may be the key of another file', async () => {
    expect((await readFiles({ 'prompts/a.md': file('a', 'b'), 'prompts/b.md': file('b', 'a') })).told).toEqual([]);
  });

  test('files that are invalid otherwise count as well', async () => {
    const { ids, told } = await readFiles({
      'prompts/a.md': file('x', 'a'),
      'prompts/b.md': file('x', 'b', 'metadata: {a: 1, a: 2}\n'),
    });
    expect(ids).toEqual([]);
    expect(told).toContain('prompt/duplicate-id prompts/a.md:2:5');
    expect(told).toContain('prompt/duplicate-id prompts/b.md:2:5');
  });
});

describe('environments of pins', () => {
  const known = { ...ANY, environments: [{ name: 'staging' }, { name: 'Production' }] };
  const withPin = (environment: string) => ({
    'prompts/a.md': file('a', 'a', `pins:\n  staging: 1\n  ${environment}: 2\n`),
  });

  test.each([
    ['stagign', 'Did you mean `staging`?'],
    ['production', 'Did you mean `Production`?'],
    ['eu', 'Environments are: staging, Production.'],
  ])('%s is not known where the configuration lists others', async (environment, hint) => {
    const { ids, told, problems } = await readFiles(withPin(environment), known);
    expect({ ids, told }).toEqual({ ids: [], told: ['prompt/unknown-environment prompts/a.md:7:3'] });
    expect(problems[0]?.hint).toContain(hint);
  });

  test.each(['promptsync', 'promptsync-look'])(
    "%s is the tool's own, with a list of environments and without",
    async (name) => {
      expect((await readFiles(withPin(name), known)).told).toEqual(['prompt/tool-environment prompts/a.md:7:3']);
      expect((await readFiles(withPin(name))).told).toEqual(['prompt/tool-environment prompts/a.md:7:3']);
    },
  );

  test('any name may be pinned where none is listed or reserved', async () => {
    expect((await readFiles(withPin('promptsync'), { ...ANY, rules: ledgerRules('other') })).told).toEqual([]);
    expect((await readFiles(withPin('eu/west'))).told).toEqual([]);
  });

  test('none may be pinned where the list is empty', async () => {
    expect((await readFiles(withPin('eu'), { ...ANY, environments: [] })).told).toHaveLength(2);
  });
});
