import { chmodSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sortByPlace } from '../../src/problem.ts';
import { LENIENT_SETTINGS } from '../../src/workspace/parse-prompt-file.ts';
import { type PromptSources, readPrompts } from '../../src/workspace/read-prompts.ts';
import { fourCallFileRules } from '../../src/providers/four-call/file-rules.ts';
import { makeWorkspace, type Files } from '../support/folder.ts';

type Environments = PromptSources['environments'];

const file = (id: string, key: string, further = '') =>
  `---\nid: ${id}\nkey: ${key}\nname: N\n${further}---\n\nHello.\n`;

async function read(root: string, environments: Environments = null) {
  const where = { folder: root, root, patterns: ['prompts/**/*.md'], rules: fourCallFileRules, environments };
  const { files, problems, count } = await readPrompts({ ...LENIENT_SETTINGS, ...where });
  const problemLines = sortByPlace(problems).map(({ code, path, line, column }) => `${code} ${path}:${line}:${column}`);
  return { ids: files.map(({ id }) => id), problemLines, count, problems };
}

const readFiles = (files: Files, environments: Environments = null) => read(makeWorkspace(files), environments);

describe('readPrompts', () => {
  test('readPrompts returns prompt files sorted by path', async () => {
    const paths = ['b', 'a/z', 'c', 'a'].map((name) => [`prompts/${name}.md`, file(name.replace('/', '-'), name)]);
    const expected = { ids: ['a', 'a-z', 'b', 'c'], problemLines: [], count: 4 };
    expect(await readFiles(Object.fromEntries(paths))).toMatchObject(expected);
  });

  test('readPrompts reports every problem in every file and still returns the valid files', async () => {
    const { ids, problemLines, count } = await readFiles({
      'prompts/a.md': file('1', '2'),
      'prompts/b.md': 'Hello.',
      'prompts/c.md': Buffer.from([0xff]),
      'prompts/d.md': file('d', 'd', 'pins: {promptsync: latest, x: no}\n'),
      'prompts/e.md': file('e', 'e').replace('Hello', 'Hel\u200blo'),
    });
    expect({ ids, problemLines, count }).toEqual({
      ids: ['e'],
      problemLines: [
        'prompt/invalid-field prompts/a.md:2:5',
        'prompt/invalid-field prompts/a.md:3:6',
        'prompt/no-front-matter prompts/b.md:1:1',
        'prompt/not-utf8 prompts/c.md:1:1',
        'prompt/tool-environment prompts/d.md:5:8',
        'prompt/invalid-pin prompts/d.md:5:31',
        'prompt/hidden-character prompts/e.md:7:4',
      ],
      count: 5,
    });
  });

  test('readPrompts rejects a prompt file larger than 16 MiB', async () => {
    const root = makeWorkspace({ 'prompts/a.md': file('a', 'a') });
    truncateSync(join(root, 'prompts/a.md'), 16 * 1024 * 1024 + 1);
    expect((await read(root)).problemLines).toEqual(['prompt/too-large prompts/a.md:1:1']);
  });

  test.skipIf(process.getuid?.() === 0)(
    'readPrompts reports a prompt file without read permission as unreadable',
    async () => {
      const root = makeWorkspace({ 'prompts/a.md': file('a', 'a'), 'prompts/b.md': file('b', 'b') });
      chmodSync(join(root, 'prompts/a.md'), 0);
      expect(await read(root)).toMatchObject({ ids: ['b'], problemLines: ['prompt/unreadable prompts/a.md:1:1'] });
    },
  );
});

describe('readPrompts on duplicate ids and keys', () => {
  test('readPrompts reports each duplicate id or key only once, and lists the other files that use the same value', async () => {
    const { ids, problemLines, problems } = await readFiles({
      'prompts/a.md': file('x', 'k1'),
      'prompts/b.md': file('x', 'k2'),
      'prompts/c.md': file('x', 'k3'),
      'prompts/d.md': file('d', 'k1'),
      'prompts/e.md': file('e', 'k5'),
    });
    expect(ids).toEqual(['e']);
    expect(problemLines).toEqual(['prompt/duplicate-id prompts/b.md:2:5', 'prompt/duplicate-key prompts/d.md:3:6']);
    expect(problems.map(({ message }) => message)).toEqual([
      'The id "x" is also used by `prompts/a.md` and `prompts/c.md`.',
      'The key "k1" is also used by `prompts/a.md`.',
    ]);
  });

  test.each([
    ['é', 'e\u0301', 1],
    ['a', 'A', 0],
  ])(
    'two prompt files whose ids and keys are %s in one file and %s in the other cause %i duplicate errors',
    async (one, other, count) => {
      const { problemLines } = await readFiles({ 'prompts/a.md': file(one, one), 'prompts/b.md': file(other, other) });
      expect(problemLines).toHaveLength(count);
    },
  );

  test('readPrompts reports a duplicate id even if one of the files has other errors', async () => {
    const files = { 'prompts/a.md': file('x', 'a'), 'prompts/b.md': file('x', 'b', 'metadata: {a: 1, a: 2}\n') };
    const { ids, problemLines } = await readFiles(files);
    expect([ids, problemLines]).toEqual([[], expect.arrayContaining(['prompt/duplicate-id prompts/b.md:2:5'])]);
  });
});

describe('readPrompts on the environments of pins', () => {
  const known = [{ name: 'staging' }, { name: 'Production' }];
  const withPin = (environment: string) => ({
    'prompts/a.md': file('a', 'a', `pins:\n  staging: 1\n  ${environment}: 2\n`),
  });

  test.each([
    ['stagign', 'Did you mean `staging`?'],
    ['production', 'Did you mean `Production`?'],
    ['eu', 'Use "staging" or "Production".'],
  ])(
    'a pin for the unknown environment %s is rejected, with the same text in every file, so reports can group it',
    async (environment, hint) => {
      const other = { 'prompts/b.md': file('b', 'b', `pins: {${environment}: 1}\n`) };
      const { ids, problemLines, problems } = await readFiles({ ...withPin(environment), ...other }, known);
      const lines = ['a.md:7:3', 'b.md:5:8'].map((place) => `prompt/unknown-environment prompts/${place}`);
      expect({ ids, problemLines }).toEqual({ ids: [], problemLines: lines });
      expect(problems[0]?.hint).toContain(hint);
      expect(new Set(problems.map(({ message, hint }) => `${message} ${hint}`)).size).toBe(1);
    },
  );

  test.each([
    [
      'an unknown environment with a Unicode space before its colon gets one problem, which names the space',
      'pins:\n  staging\u3000: latest\n',
      '6:10',
    ],
    [
      'an unknown environment with a Unicode space inside quotation marks gets one problem, which names the space',
      'pins: {"staging\u00a0": latest}\n',
      '5:16',
    ],
  ])('%s', async (_, pins, place) => {
    const { problemLines } = await readFiles({ 'prompts/a.md': file('a', 'a', pins) }, known);
    expect(problemLines).toEqual([`yaml/look-alike prompts/a.md:${place}`]);
  });

  test('the name of a known environment may contain a Unicode space', async () => {
    const environments = [{ name: 'new\u00a0staging' }];
    const misspelled = { 'prompts/a.md': file('a', 'a', 'pins: {new\u00a0staging: latest, stagin: 1}\n') };
    expect((await readFiles(misspelled, environments)).problemLines).toEqual([
      'prompt/unknown-environment prompts/a.md:5:29',
    ]);
  });

  test('a pin for a reserved environment is rejected, whether or not the configuration lists environments', async () => {
    const expected = ['prompt/tool-environment prompts/a.md:7:3'];
    expect((await readFiles(withPin('promptsync'), known)).problemLines).toEqual(expected);
    expect((await readFiles(withPin('promptsync-look'))).problemLines).toEqual(expected);
  });

  test('a pin may name any environment without a list of environments, and none with an empty list', async () => {
    expect((await readFiles(withPin('eu/west'))).problemLines).toEqual([]);
    expect((await readFiles(withPin('eu'), [])).problemLines).toHaveLength(2);
  });
});
