import { execFileSync } from 'node:child_process';
import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findPromptPaths, makePromptMatcher } from '../../src/workspace/find-prompt-paths.ts';
import { makeWorkspace } from '../support/folder.ts';

const PATHS = [
  ...['prompts/a.md', 'prompts/b.txt', 'prompts/deep/c.md', 'prompts/deep/er/d.md', 'prompts/.hidden/e.md'],
  ...['prompts/.f.md', 'prompts/node_modules/p/g.md', 'prompts/.git/h.md', 'prompts/Node_Modules/p/i.md'],
  ...['prompts/[x].md', 'other/j.md', 'README.md'],
];
const FILES = Object.fromEntries(PATHS.map((path) => [path, '']));

async function find(root: string, patterns: readonly string[], folder = root) {
  const { paths, problems } = findPromptPaths({ folder, root, patterns });
  return {
    paths,
    problems: problems.map(({ code, path, line }) => (path === undefined ? code : `${code} ${path}:${line}`)),
  };
}

const words = (text: string) => text.split(' ').filter((word) => word !== '');

describe('findPromptPaths and makePromptMatcher', () => {
  // test/workspace/glob.test.ts proves what a pattern matches.
  const found: readonly (readonly [what: string, patterns: string, paths: string])[] = [
    [
      'a pattern with ** finds files at any depth but skips hidden ones',
      'prompts/**/*.md',
      'prompts/[x].md prompts/a.md prompts/deep/c.md prompts/deep/er/d.md',
    ],
    ['a pattern with /*/ finds files exactly one folder deeper', './prompts/*/*.md', 'prompts/deep/c.md'],
    [
      'a pattern with braces finds files in alternative folders',
      '{prompts/deep,other}/*.md',
      'other/j.md prompts/deep/c.md',
    ],
    [
      'a pattern that begins with **/ finds files in any folder',
      '**/[a-j].md',
      'other/j.md prompts/a.md prompts/deep/c.md prompts/deep/er/d.md',
    ],
    ['a pattern without wildcards finds one file', 'prompts/a.md', 'prompts/a.md'],
    ['a pattern with escaped brackets finds a file with brackets in its name', 'prompts/\\[x\\].md', 'prompts/[x].md'],
    [
      'several patterns that match the same file find it once',
      'prompts/a.md ./prompts/*.md prompts/a*',
      'prompts/[x].md prompts/a.md',
    ],
    [
      'a pattern with a leading dot finds hidden files',
      'prompts/.*/*.md prompts/.f.md',
      'prompts/.f.md prompts/.hidden/e.md',
    ],
    ['a negative pattern excludes files', 'prompts/**/*.md !prompts/deep/** !**/[[]*', 'prompts/a.md'],
    ['a negative pattern alone finds no files', '!prompts/a.md', ''],
    [
      'a pattern for a missing folder, or for a file in its place, finds nothing',
      'nowhere/**/*.md README.md/*.md README.md/x.md',
      '',
    ],
    [
      'patterns find no files in .git and node_modules',
      'prompts/.git/*.md prompts/node_modules/**/*.md prompts/**/[gh].md',
      '',
    ],
    ['a pattern does not find folders', 'prompts/dee?', ''],
  ];
  test.each(found)('%s', async (_, patterns, paths) => {
    expect(await find(makeWorkspace(FILES), words(patterns))).toEqual({ paths: words(paths), problems: [] });
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
    const [folder, patterns] = [join(root, 'other'), ['../prompts/deep/*.md', '*.md']];
    const paths = ['../prompts/deep/c.md', 'j.md'];
    expect(await find(root, patterns, folder)).toEqual({ paths, problems: [] });
    const matches = makePromptMatcher({ folder, patterns });
    expect([...paths, '../prompts/a.md', 'x/j.md'].filter(matches)).toEqual(paths);
  });
});

describe('findPromptPaths with patterns outside the repository', () => {
  test.each([
    ...words(
      '../*.md /etc/passwd prompts/../../x.md .. {..,prompts}/x.md {prompts/../..,x}/x.md prompts/*/../../../x.md',
    ),
  ])('findPromptPaths rejects the pattern %s, which points outside the repository', async (pattern) => {
    const root = join(makeWorkspace({ 'x.md': '', 'repo/prompts/a.md': '' }), 'repo');
    expect(await find(root, [pattern, 'prompts/*.md'])).toEqual({
      paths: ['prompts/a.md'],
      problems: ['config/pattern-outside'],
    });
  });

  test.each([
    ['findPromptPaths suggests the correct pattern for a folder with a trailing slash', 'prompts/', 'prompts/**/*.md'],
    [
      'findPromptPaths suggests the correct pattern for a folder without a trailing slash',
      'prompts',
      'prompts/**/*.md',
    ],
    ['findPromptPaths suggests the correct pattern for the folder of the configuration', '.', '**/*.md'],
    [
      'findPromptPaths suggests the correct pattern for folders separated by backslashes',
      'prompts\\deep\\*.md',
      'prompts/deep/*.md',
    ],
  ])('%s', (_, pattern, suggestion) => {
    const root = makeWorkspace(FILES);
    const place = { path: 'c.yaml', line: 3, column: 5 };
    const patternPlaces = [place];
    const outside = findPromptPaths({ folder: root, root, patterns: ['../x', '!**'], patternPlaces });
    expect(outside.problems).toMatchObject([{ code: 'config/pattern-outside', ...place }]);
    const { problems } = findPromptPaths({ folder: root, root, patterns: [pattern, 'other/*.md'], patternPlaces });
    expect(problems).toMatchObject([{ code: 'config/pattern-unmatched', ...place }]);
    expect(problems[0]?.hint).toContain(`\`${suggestion}\``);
  });

  test('findPromptPaths accepts a pattern that matches no file, unless the pattern looks like a mistake', async () => {
    const patterns = ['prompts/none/*.md', 'prompts/\\[y\\].md', 'missing', 'prompts/a.md'];
    expect(await find(makeWorkspace(FILES), patterns)).toEqual({ paths: ['prompts/a.md'], problems: [] });
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

  const [UP, IN] = ['prompts/l.md', ['prompts/a.md']];
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, string, readonly string[], string])[] = [
    ['findPromptPaths rejects a symbolic link to a file', { [UP]: '../real/b.md' }, 'prompts/*.md', IN, UP],
    ['findPromptPaths rejects a symbolic link that is dangling', { [UP]: 'nowhere' }, 'prompts/*.md', IN, UP],
    [
      'findPromptPaths rejects a symbolic link to a file outside the repository',
      { [UP]: '../../outside/c.md' },
      'prompts/l.md',
      [],
      UP,
    ],
    [
      'findPromptPaths rejects a symbolic link to a folder',
      { 'prompts/l': '../real' },
      'prompts/**/*.md',
      IN,
      'prompts/l',
    ],
    ['findPromptPaths rejects a symbolic link to a folder that a pattern names', { l: 'real' }, 'l/*.md', [], 'l'],
    [
      'findPromptPaths rejects a symbolic link above the folder that a pattern names',
      { l: '.' },
      'l/real/*.md',
      [],
      'l',
    ],
  ];
  test.each(cases)('%s', async (_, links, pattern, paths, link) => {
    const expected = { paths, problems: [`prompt/symbolic-link ${link}:1`] };
    expect(await find(withLinks(links), [pattern, `./${pattern}`])).toEqual(expected);
  });

  test.each([
    ['findPromptPaths ignores a symbolic link that matches no pattern', 'prompts/l.txt', ['prompts/*.md']],
    [
      'findPromptPaths ignores a symbolic link that a negative pattern excludes',
      'prompts/l',
      ['prompts/**/*.md', '!prompts/l/**'],
    ],
    ['findPromptPaths ignores a symbolic link named node_modules', 'prompts/node_modules', ['prompts/**/*.md']],
    ['findPromptPaths ignores a symbolic link with a hidden name', 'prompts/.venv', ['prompts/**/*.md']],
  ])('%s', async (_, link, patterns) => {
    expect(await find(withLinks({ [link]: '../real' }), patterns)).toEqual({ paths: ['prompts/a.md'], problems: [] });
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
