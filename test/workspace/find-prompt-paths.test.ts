import { execFileSync } from 'node:child_process';
import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findPromptPaths, makePromptMatcher } from '../../src/workspace/find-prompt-paths.ts';
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

describe('findPromptPaths and makePromptMatcher', () => {
  const found: readonly (readonly [sentence: string, patterns: string, paths: string])[] = [
    [
      'a ** pattern finds files at any depth but skips hidden files and folders',
      'prompts/**/*.md',
      'prompts/[x].md prompts/a.md prompts/deep/c.md prompts/deep/er/d.md',
    ],
    ['a * pattern finds only files directly in the given folder', 'prompts/*.md', 'prompts/[x].md prompts/a.md'],
    [
      'a pattern with * in place of a folder name finds files in direct subfolders only',
      'prompts/*/*.md',
      'prompts/deep/c.md',
    ],
    ['a pattern may start with ./', './prompts/d*/*.md', 'prompts/deep/c.md'],
    [
      'a pattern with braces finds files that match any of the alternatives',
      '{prompts/deep,other}/*.md',
      'other/j.md prompts/deep/c.md',
    ],
    [
      'a pattern that starts with **/ searches the whole repository',
      '**/[a-j].md',
      'other/j.md prompts/a.md prompts/deep/c.md prompts/deep/er/d.md',
    ],
    ['a pattern without wildcards finds one file by its path', 'prompts/a.md', 'prompts/a.md'],
    ['a pattern with escaped brackets finds a file with brackets in its name', 'prompts/\\[x\\].md', 'prompts/[x].md'],
    [
      'a file that matches several patterns is listed only once',
      'prompts/a.md ./prompts/*.md prompts/a*',
      'prompts/[x].md prompts/a.md',
    ],
    [
      'a pattern with an explicit leading dot finds hidden files and files in hidden folders',
      'prompts/.*/*.md prompts/.f.md',
      'prompts/.f.md prompts/.hidden/e.md',
    ],
    ['a pattern that names a hidden folder finds the files in it', 'prompts/.hidden/**/*.md', 'prompts/.hidden/e.md'],
    ['a negative pattern excludes matching files', 'prompts/**/*.md !prompts/deep/** !**/[[]*', 'prompts/a.md'],
    [
      'a negative pattern also applies if it precedes the positive pattern',
      '!prompts/[[]* prompts/*.md',
      'prompts/a.md',
    ],
    ['a pattern list with only a negative pattern finds no files', '!prompts/a.md', ''],
    ['an empty negative pattern excludes nothing', 'prompts/a.md !', 'prompts/a.md'],
    ['a pattern for a missing folder finds no files', 'nowhere/**/*.md', ''],
    ['a pattern that uses a file name as a folder name finds no files', 'README.md/*.md README.md/x.md', ''],
    [
      'patterns never find files in .git or node_modules',
      'prompts/.git/*.md prompts/node_modules/**/*.md prompts/**/[gh].md',
      '',
    ],
    ['a pattern that matches only a folder finds no files', 'prompts/dee?', ''],
  ];
  test.each(found)('%s', async (_, patterns, paths) => {
    expect(await find(makeWorkspace(FILES), words(patterns))).toEqual({ paths: words(paths), problems: [] });
  });

  test.each(found)('%s, and makePromptMatcher agrees based on the paths alone', (_, patterns, paths) => {
    const matches = makePromptMatcher({ folder: '/somewhere', patterns: words(patterns) });
    expect(Object.keys(FILES).filter(matches).toSorted()).toEqual(words(paths));
  });

  test('findPromptPaths searches a folder even if its name ends with .md', async () => {
    const root = makeWorkspace({ 'prompts/x.md/y.md': '' });
    expect(await find(root, ['prompts/**/*.md'])).toEqual({ paths: ['prompts/x.md/y.md'], problems: [] });
    expect(await find(root, ['prompts/*.md'])).toEqual({ paths: [], problems: [] });
  });

  test('patterns are relative to the configuration folder rather than the repository root', async () => {
    const root = makeWorkspace(FILES);
    const folder = join(root, 'other');
    expect(await find(root, ['../prompts/deep/*.md', '*.md'], folder)).toEqual({
      paths: ['../prompts/deep/c.md', 'j.md'],
      problems: [],
    });
    const matches = makePromptMatcher({ folder, patterns: ['../prompts/deep/*.md', '*.md'] });
    const paths = ['../prompts/deep/c.md', 'j.md'];
    expect([...paths, '../prompts/a.md', 'x/j.md'].filter(matches)).toEqual(paths);
  });
});

describe('findPromptPaths with patterns outside the repository', () => {
  test.each([
    ...words(
      '../*.md ../../etc/*.md /etc/*.md /etc/passwd prompts/../../x.md .. ../{a,b}.md {..,prompts}/x.md {prompts/../..,x}/x.md prompts/*/../../../x.md',
    ),
  ])('findPromptPaths rejects the pattern %s, which points outside the repository', async (pattern) => {
    const root = join(makeWorkspace({ 'x.md': '', 'repo/prompts/a.md': '' }), 'repo');
    expect(await find(root, [pattern, 'prompts/*.md'])).toEqual({
      paths: ['prompts/a.md'],
      problems: ['config/pattern-outside'],
    });
  });

  test.each([
    ['a folder with a trailing slash', 'prompts/', 'prompts/**/*.md'],
    ['a folder without a trailing slash', 'prompts', 'prompts/**/*.md'],
    ['the folder of the configuration', '.', '**/*.md'],
    ['folders separated by backslashes', 'prompts\\deep\\*.md', 'prompts/deep/*.md'],
    ['a folder with a trailing backslash', 'prompts\\', 'prompts/**/*.md'],
  ])('findPromptPaths suggests the correct pattern for %s', (_, pattern, suggestion) => {
    const root = makeWorkspace(FILES);
    const patternPlaces = [{ path: 'c.yaml', line: 3, column: 5 }];
    const { problems } = findPromptPaths({ folder: root, root, patterns: [pattern, 'other/*.md'], patternPlaces });
    expect(problems).toMatchObject([{ code: 'config/pattern-unmatched', path: 'c.yaml', line: 3, column: 5 }]);
    expect(problems[0]?.hint).toContain(`\`${suggestion}\``);
  });

  test('findPromptPaths accepts a pattern that matches no file, unless the pattern looks like a mistake', async () => {
    const patterns = ['prompts/none/*.md', 'prompts/\\[y\\].md', 'missing', 'prompts/a.md'];
    expect(await find(makeWorkspace(FILES), patterns)).toEqual({ paths: ['prompts/a.md'], problems: [] });
  });

  test('findPromptPaths reports the line and column of a pattern outside the repository', async () => {
    const root = makeFolder();
    const patternPlaces = [{ path: 'c.yaml', line: 3, column: 5 }];
    const { problems } = findPromptPaths({ folder: root, root, patterns: ['../x', '!**'], patternPlaces });
    expect(problems).toMatchObject([{ path: 'c.yaml', line: 3, column: 5 }]);
  });

  test('a sibling folder counts as outside the repository even if its name starts with the repository name', async () => {
    const root = join(makeWorkspace({ 'repo/a.md': '', 'repo-b/b.md': '', 'repo/..c/d.md': '' }), 'repo');
    expect((await find(root, ['../repo-b/*.md'])).problems).toEqual(['config/pattern-outside']);
    expect((await find(root, ['..c/*.md'])).paths).toEqual(['..c/d.md']);
  });
});

describe('findPromptPaths on symbolic links', () => {
  const withLinks = (links: Readonly<Record<string, string>>) => {
    const top = makeWorkspace({ 'repo/prompts/a.md': '', 'repo/real/b.md': '', 'outside/c.md': '' });
    for (const [path, target] of Object.entries(links)) symlinkSync(target, join(top, 'repo', path));
    return join(top, 'repo');
  };

  const cases: readonly (readonly [string, Readonly<Record<string, string>>, string, readonly string[], string])[] = [
    [
      'findPromptPaths rejects a symbolic link to a file instead of following it',
      { 'prompts/l.md': '../real/b.md' },
      'prompts/*.md',
      ['prompts/a.md'],
      'prompts/l.md',
    ],
    [
      'findPromptPaths rejects a dangling symbolic link',
      { 'prompts/l.md': 'nowhere' },
      'prompts/*.md',
      ['prompts/a.md'],
      'prompts/l.md',
    ],
    [
      'findPromptPaths rejects a symbolic link to itself',
      { 'prompts/l.md': 'l.md' },
      'prompts/*.md',
      ['prompts/a.md'],
      'prompts/l.md',
    ],
    [
      'findPromptPaths rejects a symbolic link to a file outside the repository',
      { 'prompts/l.md': '../../outside/c.md' },
      'prompts/l.md',
      [],
      'prompts/l.md',
    ],
    [
      'findPromptPaths rejects a symbolic link to a folder instead of following it',
      { 'prompts/l': '../real' },
      'prompts/**/*.md',
      ['prompts/a.md'],
      'prompts/l',
    ],
    [
      'findPromptPaths rejects a symbolic link to its parent folder instead of following it',
      { 'prompts/l': '.' },
      'prompts/**/*.md',
      ['prompts/a.md'],
      'prompts/l',
    ],
    [
      'findPromptPaths rejects a symbolic link to a folder if a pattern searches the linked folder',
      { l: 'real' },
      'l/*.md',
      [],
      'l',
    ],
    [
      'findPromptPaths rejects a symbolic link to a folder if a pattern searches a subfolder of the linked folder',
      { l: '.' },
      'l/real/*.md',
      [],
      'l',
    ],
    [
      'findPromptPaths rejects a symbolic link to a folder if a pattern names a single file in the linked folder',
      { l: 'real' },
      'l/b.md',
      [],
      'l',
    ],
    [
      'findPromptPaths rejects a symbolic link to a folder outside the repository',
      { l: '../outside' },
      'l/*.md',
      [],
      'l',
    ],
  ];
  test.each(cases)('%s', async (_, links, pattern, paths, link) => {
    const expected = { paths, problems: [`prompt/symbolic-link ${link}:1`] };
    expect(await find(withLinks(links), [pattern])).toEqual(expected);
    expect(await find(withLinks(links), [pattern, `./${pattern}`])).toEqual(expected);
  });

  test.each([
    [
      'findPromptPaths ignores a symbolic link that matches no pattern',
      { 'prompts/l.txt': '../real/b.md' },
      ['prompts/*.md'],
    ],
    [
      'findPromptPaths ignores a symbolic link to a folder that no pattern searches',
      { 'prompts/l': '../real' },
      ['prompts/*.md'],
    ],
    [
      'findPromptPaths ignores a symbolic link that is excluded by a negative pattern',
      { 'prompts/l': '../real' },
      ['prompts/**/*.md', '!prompts/l/**'],
    ],
    [
      'findPromptPaths ignores a symbolic link named node_modules',
      { 'prompts/node_modules': '../real' },
      ['prompts/**/*.md'],
    ],
    ['findPromptPaths ignores a hidden symbolic link', { 'prompts/.venv': '../real' }, ['prompts/**/*.md']],
  ])('%s', async (_, links, patterns) => {
    expect(await find(withLinks(links), patterns)).toEqual({ paths: ['prompts/a.md'], problems: [] });
  });

  test('findPromptPaths accepts a repository root that is a symbolic link', async () => {
    const root = withLinks({});
    symlinkSync('repo', join(root, '../alias'));
    expect(await find(join(root, '../alias'), ['prompts/*.md'])).toEqual({ paths: ['prompts/a.md'], problems: [] });
  });
});

describe('findPromptPaths on unusual files', () => {
  test('findPromptPaths reports a named pipe as unreadable without opening it', async () => {
    const root = makeWorkspace({ 'prompts/a.md': '' });
    execFileSync('mkfifo', [join(root, 'prompts/pipe.md')]);
    expect(await find(root, ['prompts/*.md'])).toEqual({
      paths: ['prompts/a.md'],
      problems: ['prompt/unreadable prompts/pipe.md:1'],
    });
  });

  test.skipIf(process.getuid?.() === 0)(
    'findPromptPaths reports a folder that it does not have permission to read',
    async () => {
      const root = makeWorkspace({ 'prompts/a.md': '', 'prompts/shut/b.md': '' });
      chmodSync(join(root, 'prompts/shut'), 0);
      expect(await find(root, ['prompts/**/*.md'])).toEqual({
        paths: ['prompts/a.md'],
        problems: ['prompt/unreadable prompts/shut:1'],
      });
      chmodSync(join(root, 'prompts/shut'), 0o700);
    },
  );

  test('findPromptPaths accepts file names with line breaks, braces and other special characters', async () => {
    const names = ['p/a\nb.md', 'p/c\nd/e.md', 'p/::error::x.md', 'p/{{x}}.md', 'p/é.md'];
    expect((await find(makeWorkspace(Object.fromEntries(names.map((name) => [name, '']))), ['p/**'])).paths).toEqual(
      names.toSorted(),
    );
  });
});
