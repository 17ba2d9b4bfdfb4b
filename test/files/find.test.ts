import { execFileSync } from 'node:child_process';
import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findPromptPaths, promptMatcher } from '../../src/files/find.ts';
import { makeFolder, makeWorkspace } from '../support/folder.ts';

const FILES = {
  'prompts/a.md': '',
  'prompts/b.txt': '',
  'prompts/deep/c.md': '',
  'prompts/deep/er/d.md': '',
  'prompts/.hidden/e.md': '',
  'prompts/.f.md': '',
  'prompts/node_modules/p/g.md': '',
  'prompts/.git/h.md': '',
  'prompts/Node_Modules/p/i.md': '',
  'prompts/[x].md': '',
  'other/j.md': '',
  'README.md': '',
};

async function find(root: string, patterns: readonly string[], folder = root) {
  const { paths, problems } = findPromptPaths({ folder, root, patterns });
  return {
    paths,
    problems: problems.map(({ code, path, line }) => (path === undefined ? code : `${code} ${path}:${line}`)),
  };
}

const words = (text: string) => text.split(' ').filter((word) => word !== '');

describe('the files that patterns match', () => {
  const found: readonly (readonly [sentence: string, patterns: string, paths: string])[] = [
    ['all below a folder', 'prompts/**/*.md', 'prompts/[x].md prompts/a.md prompts/deep/c.md prompts/deep/er/d.md'],
    ['those of one folder', 'prompts/*.md', 'prompts/[x].md prompts/a.md'],
    ['those one folder down', 'prompts/*/*.md', 'prompts/deep/c.md'],
    ['with a ./ before them', './prompts/d*/*.md', 'prompts/deep/c.md'],
    ['in braces', '{prompts/deep,other}/*.md', 'other/j.md prompts/deep/c.md'],
    ['all of the repository', '**/[a-j].md', 'other/j.md prompts/a.md prompts/deep/c.md prompts/deep/er/d.md'],
    ['one file by its name', 'prompts/a.md', 'prompts/a.md'],
    ['one file with brackets in its name', 'prompts/\\[x\\].md', 'prompts/[x].md'],
    ['a file of two patterns once', 'prompts/a.md ./prompts/*.md prompts/a*', 'prompts/[x].md prompts/a.md'],
    ['hidden ones where a pattern names them', 'prompts/.*/*.md prompts/.f.md', 'prompts/.f.md prompts/.hidden/e.md'],
    ['hidden ones below a folder that is named', 'prompts/.hidden/**/*.md', 'prompts/.hidden/e.md'],
    ['without those of a negative pattern', 'prompts/**/*.md !prompts/deep/** !**/[[]*', 'prompts/a.md'],
    ['a negative pattern may come first', '!prompts/[[]* prompts/*.md', 'prompts/a.md'],
    ['a negative pattern alone finds none', '!prompts/a.md', ''],
    ['an empty negative pattern takes nothing out', 'prompts/a.md !', 'prompts/a.md'],
    ['nothing in a folder that is not there', 'nowhere/**/*.md', ''],
    ['nothing in a file that is taken for a folder', 'README.md/*.md README.md/x.md', ''],
    ['nothing in .git and node_modules', 'prompts/.git/*.md prompts/node_modules/**/*.md prompts/**/[gh].md', ''],
    ['nothing of a folder that has the name of a file', 'prompts/deep', ''],
  ];
  test.each(found)('%s', async (_, patterns, paths) => {
    expect(await find(makeWorkspace(FILES), words(patterns))).toEqual({ paths: words(paths), problems: [] });
  });

  test.each(found)('%s, judged by their names alone', (_, patterns, paths) => {
    const matches = promptMatcher({ folder: '/somewhere', patterns: words(patterns) });
    expect(Object.keys(FILES).filter(matches).toSorted()).toEqual(words(paths));
  });

  test('a folder whose name ends with .md is no file, and is entered', async () => {
    const root = makeWorkspace({ 'prompts/x.md/y.md': '' });
    expect(await find(root, ['prompts/**/*.md'])).toEqual({ paths: ['prompts/x.md/y.md'], problems: [] });
    expect(await find(root, ['prompts/*.md'])).toEqual({ paths: [], problems: [] });
  });

  test('are relative to the folder of the configuration, which may be below the root', async () => {
    const root = makeWorkspace(FILES);
    const folder = join(root, 'other');
    expect(await find(root, ['../prompts/deep/*.md', '*.md'], folder)).toEqual({
      paths: ['../prompts/deep/c.md', 'j.md'],
      problems: [],
    });
    const matches = promptMatcher({ folder, patterns: ['../prompts/deep/*.md', '*.md'] });
    const paths = ['../prompts/deep/c.md', 'j.md'];
    expect([...paths, '../prompts/a.md', 'x/j.md'].filter(matches)).toEqual(paths);
  });
});

describe('a pattern that leaves the repository is an error', () => {
  test.each([
    ...words(
      '../*.md ../../etc/*.md /etc/*.md /etc/passwd prompts/../../x.md .. ../{a,b}.md {..,prompts}/x.md {prompts/../..,x}/x.md prompts/*/../../../x.md',
    ),
  ])('%s', async (pattern) => {
    const root = join(makeWorkspace({ 'x.md': '', 'repo/prompts/a.md': '' }), 'repo');
    expect(await find(root, [pattern, 'prompts/*.md'])).toEqual({
      paths: ['prompts/a.md'],
      problems: ['config/pattern-outside'],
    });
  });

  test('with the place of the pattern, where it is known, and whatever is taken out', async () => {
    const root = makeFolder();
    const patternPlaces = [{ path: 'c.yaml', line: 3, column: 5 }];
    const { problems } = findPromptPaths({ folder: root, root, patterns: ['../x', '!**'], patternPlaces });
    expect(problems).toMatchObject([{ path: 'c.yaml', line: 3, column: 5 }]);
  });

  test('a folder beside the root whose name begins alike is outside', async () => {
    const root = join(makeWorkspace({ 'repo/a.md': '', 'repo-b/b.md': '', 'repo/..c/d.md': '' }), 'repo');
    expect((await find(root, ['../repo-b/*.md'])).problems).toEqual(['config/pattern-outside']);
    expect((await find(root, ['..c/*.md'])).paths).toEqual(['..c/d.md']);
  });
});

describe('symbolic links are errors', () => {
  const withLinks = (links: Readonly<Record<string, string>>) => {
    const top = makeWorkspace({ 'repo/prompts/a.md': '', 'repo/real/b.md': '', 'outside/c.md': '' });
    for (const [path, target] of Object.entries(links)) symlinkSync(target, join(top, 'repo', path));
    return join(top, 'repo');
  };

  const cases: readonly (readonly [string, Readonly<Record<string, string>>, string, readonly string[], string])[] = [
    ['to a file', { 'prompts/l.md': '../real/b.md' }, 'prompts/*.md', ['prompts/a.md'], 'prompts/l.md'],
    ['to nothing', { 'prompts/l.md': 'nowhere' }, 'prompts/*.md', ['prompts/a.md'], 'prompts/l.md'],
    ['to itself', { 'prompts/l.md': 'l.md' }, 'prompts/*.md', ['prompts/a.md'], 'prompts/l.md'],
    ['to a file outside', { 'prompts/l.md': '../../outside/c.md' }, 'prompts/l.md', [], 'prompts/l.md'],
    ['to a folder', { 'prompts/l': '../real' }, 'prompts/**/*.md', ['prompts/a.md'], 'prompts/l'],
    ['to the folder it is in', { 'prompts/l': '.' }, 'prompts/**/*.md', ['prompts/a.md'], 'prompts/l'],
    ['to a folder that is where a pattern begins', { l: 'real' }, 'l/*.md', [], 'l'],
    ['to a folder on the way to it', { l: '.' }, 'l/real/*.md', [], 'l'],
    ['to a folder that holds a named file', { l: 'real' }, 'l/b.md', [], 'l'],
    ['to a folder outside', { l: '../outside' }, 'l/*.md', [], 'l'],
  ];
  test.each(cases)('%s', async (_, links, pattern, paths, link) => {
    const expected = { paths, problems: [`prompt/symbolic-link ${link}:1`] };
    expect(await find(withLinks(links), [pattern])).toEqual(expected);
    expect(await find(withLinks(links), [pattern, `./${pattern}`])).toEqual(expected);
  });

  test.each([
    ['that no pattern matches', { 'prompts/l.txt': '../real/b.md' }, ['prompts/*.md']],
    ['to a folder that no pattern enters', { 'prompts/l': '../real' }, ['prompts/*.md']],
    ['that a negative pattern takes out', { 'prompts/l': '../real' }, ['prompts/**/*.md', '!prompts/l/**']],
    ['that is node_modules', { 'prompts/node_modules': '../real' }, ['prompts/**/*.md']],
    ['that is hidden', { 'prompts/.venv': '../real' }, ['prompts/**/*.md']],
  ])('but not one %s', async (_, links, patterns) => {
    expect(await find(withLinks(links), patterns)).toEqual({ paths: ['prompts/a.md'], problems: [] });
  });

  test('a root that is reached through one is no error', async () => {
    const root = withLinks({});
    symlinkSync('repo', join(root, '../alias'));
    expect(await find(join(root, '../alias'), ['prompts/*.md'])).toEqual({ paths: ['prompts/a.md'], problems: [] });
  });
});

describe('what is no regular file', () => {
  test('is not opened: a pipe would never end', async () => {
    const root = makeWorkspace({ 'prompts/a.md': '' });
    execFileSync('mkfifo', [join(root, 'prompts/pipe.md')]);
    expect(await find(root, ['prompts/*.md'])).toEqual({
      paths: ['prompts/a.md'],
      problems: ['prompt/unreadable prompts/pipe.md:1'],
    });
  });

  test.skipIf(process.getuid?.() === 0)('a folder that may not be read is told of', async () => {
    const root = makeWorkspace({ 'prompts/a.md': '', 'prompts/shut/b.md': '' });
    chmodSync(join(root, 'prompts/shut'), 0);
    expect(await find(root, ['prompts/**/*.md'])).toEqual({
      paths: ['prompts/a.md'],
      problems: ['prompt/unreadable prompts/shut:1'],
    });
    chmodSync(join(root, 'prompts/shut'), 0o700);
  });

  test('names may hold anything', async () => {
    const names = ['p/a\nb.md', 'p/c\nd/e.md', 'p/::error::x.md', 'p/{{x}}.md', 'p/é.md'];
    expect((await find(makeWorkspace(Object.fromEntries(names.map((name) => [name, '']))), ['p/**'])).paths).toEqual(
      names.toSorted(),
    );
  });
});
