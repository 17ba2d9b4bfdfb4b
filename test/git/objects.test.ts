import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readAnswers, type GitObject } from '../../src/git/batch-answers.ts';
import { openObjects } from '../../src/git/objects.ts';
import { childEnvironment, startNode } from '../support/cli.ts';
import { git, makeFolder, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { open, startAt } from './support.ts';

const LARGE = Buffer.alloc(3_000_000, 'large\n\0');

describe('one process answers', () => {
  test('many questions at a time, each with its own object, and null where there is none', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `p/${index % 7}/${index}.md`);
    const folder = makeRepository(Object.fromEntries(names.map((name) => [name, `I am ${name}`])));
    const repository = await open(folder);
    const asked = names.flatMap((name) => [name, `${name}.none`]);
    const answers = await Promise.all(asked.map(async (name) => repository.fileAt(repository.head!, name)));
    expect(answers.map((bytes) => bytes?.toString() ?? null)).toEqual(names.flatMap((name) => [`I am ${name}`, null]));
  });

  test('with large contents, and with none', async () => {
    const { fileAt, head } = await open(makeRepository({ 'large.md': LARGE, 'empty.md': '' }));
    const [large, empty, again] = await Promise.all(
      ['large.md', 'empty.md', 'large.md'].map((name) => fileAt(head!, name)),
    );
    expect(large?.equals(LARGE)).toBe(true);
    expect(empty?.length).toBe(0);
    expect(again?.equals(LARGE)).toBe(true);
  });

  test('also what was asked behind words that git ends over', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    const { read } = openObjects(startAt(folder));
    const names = ['HEAD:a.md', 'HEAD@{upstream}', 'HEAD:a.md', 'HEAD@{9999}', 'HEAD@{upstream}', 'HEAD:a.md', 'nope'];
    const answers = await Promise.allSettled(names.map(read));
    expect(answers.map((one) => (one.status === 'rejected' ? 'ended' : (one.value?.bytes.toString() ?? null)))).toEqual(
      [...['a', 'ended', 'a', 'ended', 'ended', 'a', null]],
    );
  });

  test('no question of two lines', async () => {
    const { read } = openObjects(startAt(makeRepository({ 'a.md': 'a' })));
    expect(
      await Promise.all(['HEAD\nHEAD', 'HEAD\n', '\0', 'HEAD:a.md'].map(async (name) => (await read(name))?.kind)),
    ).toEqual([...[undefined, undefined, undefined, 'blob']]);
  });

  test.each([
    ['a content that is gone', 'HEAD:p/a.md', null],
    ['a content that is damaged', 'HEAD:p/a.md', 'not packed'],
    ['a content that is empty', 'HEAD:p/a.md', ''],
    ['a folder that is gone', 'HEAD:p', null],
    ['a folder that is damaged', 'HEAD:p', 'not packed'],
  ])('and %s is a problem', async (_, name, bytes) => {
    const folder = makeRepository({ 'p/a.md': 'a' });
    const id = git(folder, 'rev-parse', name);
    const file = `.git/objects/${id.slice(0, 2)}/${id.slice(2)}`;
    rmSync(join(folder, file));
    if (bytes !== null) writeFiles(folder, { [file]: bytes });
    const { fileAt, head } = await open(folder);
    await expect(fileAt(head!, 'p/a.md')).rejects.toThrow(
      `git could not answer: the object ${id} is missing or damaged.`,
    );
    await expect(fileAt('d'.repeat(40), 'p/a.md')).rejects.toThrow('git could not answer');
  });
});

describe('a process that ends too early', () => {
  afterEach(() => vi.unstubAllEnvs());

  test.each([
    ['with a word', 'echo "fatal: no\nluck" >&2; exit 3', 'git could not answer: fatal: no luck'],
    ['without one', 'exit 3', 'git could not answer: its answers ended (3)'],
    [
      'in the middle of an answer',
      'printf "%040d blob 99\nabc" 0; exit 0',
      'git could not answer: its answers ended (0)',
    ],
    ['by a signal', 'kill -9 $$', 'git could not answer: its answers ended (SIGKILL)'],
  ])('%s fails what was asked, and no more', async (_, does, message) => {
    const folder = makeRepository({ 'a.md': 'a' });
    const programs = makeWorkspace({ git: `#!/bin/sh\n${does}\n` });
    chmodSync(join(programs, 'git'), 0o755);
    const { read } = openObjects(startAt(folder));
    vi.stubEnv('PATH', `${programs}${delimiter}${process.env['PATH']}`);
    const failed = await Promise.allSettled([read('HEAD:a.md'), read('HEAD')]);
    expect(failed.map((one) => one.status === 'rejected' && (one.reason as Error).message)).toEqual([message, message]);
    vi.unstubAllEnvs();
    expect((await read('HEAD:a.md'))?.bytes.toString()).toBe('a');
  });

  test('or cannot be started is a problem', async () => {
    const { read } = openObjects(startAt(makeRepository({ 'a.md': 'a' })));
    vi.stubEnv('PATH', '/nowhere');
    await expect(read('HEAD')).rejects.toThrow('git could not answer: there is no program git in PATH.');
  });
});

test.skipIf(process.platform === 'win32')('a program that cannot be found out about is a problem', async () => {
  const folder = makeRepository({ 'a.md': 'a' });
  const { read } = openObjects(startAt(folder));
  const programs = makeFolder();
  symlinkSync('git', join(programs, 'git'));
  vi.stubEnv('PATH', programs);
  onTestFinished(() => void vi.unstubAllEnvs());
  const message = 'git could not answer: spawn ELOOP';
  await expect(read('HEAD')).rejects.toMatchObject({ message, problem: { code: 'git/failed' } });
  await expect(open(folder)).rejects.toMatchObject({ message, problem: { code: 'git/failed' } });
});

test('an idle process keeps nobody waiting', async () => {
  const folder = makeRepository({ 'a.md': 'a' });
  const module = resolve(import.meta.dirname, '../../src/git/repository.ts');
  const script = [
    `import { openRepository } from ${JSON.stringify(module)};`,
    `const folder = ${JSON.stringify(folder)};`,
    `const repository = await openRepository({ root: folder, keyVariables: [] }, folder);`,
    `const read = () => repository.fileAt(repository.head, 'a.md');`,
    `const first = await read();`,
    `await new Promise((done) => setTimeout(done, 50));`,
    `console.log(String(first) + String(await read()));`,
    // Nobody waits for this one: it is still answered, or not, but does not hang.
    `void repository.resolveRef('main');`,
  ];
  const place = makeFolder();
  writeFiles(place, { 'ask.mjs': script.join('\n') });
  const ended = await startNode(join(place, 'ask.mjs'), [], { cwd: place, environment: childEnvironment() }).ended;
  expect(ended).toEqual({ exitCode: 0, stdout: 'aa\n', stderr: '' });
});

test('answers are read whatever pieces they come in', () => {
  const object = fc.record({
    id: fc.constantFrom('a'.repeat(40), 'b'.repeat(64)),
    kind: fc.constantFrom('blob', 'tree', 'commit'),
    bytes: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  });
  const answers = fc.array(
    fc.oneof(object, fc.constantFrom('x missing', 'abc ambiguous', `${'a'.repeat(40)} missing`)),
  );
  fc.assert(
    fc.property(answers, fc.array(fc.integer({ min: 1, max: 50 })), (given, sizes) => {
      const written = Buffer.concat(given.map(write));
      const told: (GitObject | null)[] = [];
      const read = readAnswers((found) => told.push(found));
      let start = 0;
      for (const size of [...sizes, written.length + 1]) {
        if (start < written.length) read(written.subarray(start, start + size));
        start += size;
      }
      expect(told).toEqual(given.map((one) => (typeof one === 'string' ? null : one)));
    }),
  );
});

function write(answer: GitObject | string): Buffer {
  if (typeof answer === 'string') return Buffer.from(`${answer}\n`);
  const { id, kind, bytes } = answer;
  return Buffer.concat([Buffer.from(`${id} ${kind} ${bytes.length}\n`), bytes, Buffer.from('\n')]);
}
