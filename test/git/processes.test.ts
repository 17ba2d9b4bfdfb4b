import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { countGit, wrapGit } from '../support/count-git.ts';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { CONFIG, promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { open } from './support.ts';

afterEach(() => vi.unstubAllEnvs());

type Setup = { readonly folder: string; readonly service: TestService };

const CONFIGURATION = `${CONFIG}environments: { staging: {}, production: { promote_from: staging } }\n`;

/** So many prompts in a commit, changed in the next one. */
async function makeChanged(count: number, before: PromptParts, after: PromptParts): Promise<Setup> {
  const names = Array.from({ length: count }, (_, index) => `p${index}`);
  const files = (parts: PromptParts) =>
    workspaceFiles(Object.fromEntries(names.map((name) => [name, parts])), CONFIGURATION);
  const folder = makeRepository(files(before));
  git(folder, 'tag', 'v1');
  writeFiles(folder, files(after));
  commitAll(folder, 'All of them');
  return { folder, service: await startTestService(names) };
}

const TEXTS = [{ text: 'One.' }, { text: 'Two.' }] as const;
const AT_TAG = [{ text: 'One.' }, { text: 'Two.', pins: { staging: 'git:v1' } }] as const;
const TOO_EARLY = [{ text: 'One.' }, { text: 'Two.', pins: { staging: 1, production: 'latest' } }] as const;
const NUMBERS = [{ pins: { staging: 3 } }, { pins: { staging: 1, production: 2 } }] as const;

const OPENED = ['diff', 'ls-files', 'rev-parse'];
const PLAN = [...OPENED, 'log', 'ls-tree'];

describe('a run starts as many processes of git for 60 prompts as for 3', () => {
  test.each<[string, readonly [PromptParts, PromptParts], readonly string[], number, readonly string[]]>([
    ['a dry run', TEXTS, ['plan'], 0, PLAN],
    [
      'a dry run with a base',
      TEXTS,
      ['plan', '--base', 'HEAD~1'],
      0,
      [...PLAN, 'cat-file', 'cat-file', 'diff', 'ls-files', 'ls-tree'],
    ],
    ['a history', TEXTS, ['history', '**'], 0, [...PLAN, 'cat-file', 'log', 'log', 'rev-list']],
    ['what may be a rollback, and is none', TOO_EARLY, ['plan'], 3, [...OPENED, 'cat-file', 'cat-file', 'log', 'log']],
    ['what may be a rollback, without the service', NUMBERS, ['validate'], 0, ['cat-file', 'log', 'rev-parse']],
  ])('%s', async (_, [before, after], words, expectedExit, expected) => {
    for (const count of [3, 60]) {
      const { folder, service } = await makeChanged(count, before, after);
      const counted = countGit();
      const { exitCode } = await run(folder, words, service);
      expect({ count, exitCode, started: counted() }).toEqual({
        count,
        exitCode: expectedExit,
        started: expected.toSorted(),
      });
      vi.unstubAllEnvs();
    }
  });

  test('pins to a tag, be it here and there one more: they are asked about while others are answered', async () => {
    const { folder, service } = await makeChanged(60, ...AT_TAG);
    const counted = countGit();
    expect((await run(folder, ['plan'], service)).exitCode).toBe(0);
    const started = counted();
    expect(new Set(started)).toEqual(new Set([...PLAN, 'cat-file']));
    expect(started.length).toBeLessThan(12);
  });
});

describe('a run resolves the git: pins of all files together', () => {
  /** Three prompts, each with so many pins; `refOf` names the ref of each pin. */
  function makePinned(count: number, refOf: (index: number, folder: string) => string): string {
    const files = (pins: PromptParts['pins'] = { staging: 'latest' }) =>
      workspaceFiles({ a: { pins }, b: { pins }, c: { pins } });
    const folder = makeRepository(files());
    const pins = Array.from({ length: count }, (_, index) => [`e${index}`, `git:${refOf(index, folder)}`]);
    writeFiles(folder, files(Object.fromEntries(pins)));
    commitAll(folder, 'Pin');
    return folder;
  }

  /** A chain of commits on top of HEAD that change another file; the oldest first. */
  function addCommits(folder: string, count: number): readonly string[] {
    const tree = git(folder, 'rev-parse', 'HEAD^{tree}');
    const commits = [git(folder, 'rev-parse', 'HEAD')];
    while (commits.length < count) {
      commits.push(git(folder, 'commit-tree', '-m', `${commits.length}`, '-p', commits.at(-1)!, tree));
    }
    return commits;
  }

  test('one process finds that thousands of refs do not exist', async () => {
    const folder = makePinned(1000, (index) => `nope-${index}`);
    const counted = countGit();
    const { exitCode, stdout } = await run(folder, ['plan', '--offline', '--base', 'HEAD']);
    expect([exitCode, stdout.match(/\[pin\/unknown-ref\]/g)?.length]).toEqual([3, 3000]);
    expect(counted().filter((command) => command === 'cat-file' || command === 'rev-parse')).toHaveLength(3);
  });

  test('100 commits take no more processes than 10', async () => {
    const started: (readonly string[])[] = [];
    for (const count of [10, 100]) {
      let commits: readonly string[] | null = null;
      const folder = makePinned(count, (index, at) => (commits ??= addCommits(at, count))[index]!);
      const counted = countGit();
      expect((await run(folder, ['plan', '--offline', '--base', 'HEAD'])).exitCode).toBe(0);
      started.push(counted());
      vi.unstubAllEnvs();
    }
    expect(started[1]).toEqual(started[0]);
    expect(started[0]!.length).toBeLessThan(20);
  });

  test('refs that git has to search for take at most 100 processes', async () => {
    const folder = makePinned(300, (index) => `main@{${index + 1000}}`);
    const counted = countGit();
    expect((await run(folder, ['plan', '--offline', '--base', 'HEAD'])).exitCode).toBe(3);
    expect(counted().filter((command) => command === 'rev-parse').length).toBeLessThanOrEqual(101);
  });
});

describe('a run that searches commits for a moved prompt', () => {
  /** A prompt that is pinned to so many commits, in all of which it has another path. */
  function makeMoved(count: number, contentOf: (index: number) => string): string {
    const folder = makeRepository({ 'promptsync.yaml': CONFIG });
    const blob = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
    const commits = Array.from({ length: count }, (_, index) => {
      const files = { 'promptsync.yaml': CONFIG, 'old/a.md': promptText('a'), 'other.txt': contentOf(index) };
      const changes = Object.entries(files).map(([path, text]) => `M 644 inline ${path}\n${blob(text)}`);
      const head = `commit refs/heads/main\nmark :${index + 1}\ncommitter A <a@example.com> ${index} +0000\n`;
      return `${head}${blob(`Commit ${index}`)}${changes.join('')}`;
    });
    execFileSync('git', ['fast-import', '--quiet', '--force'], { cwd: folder, input: `${commits.join('')}done\n` });
    git(folder, 'reset', '--hard', '--quiet');
    const pins = Array.from({ length: count }, (_, index) => [`e${index}`, `git:main~${index + 1}`]);
    git(folder, 'rm', '--quiet', 'old/a.md');
    writeFiles(folder, workspaceFiles({ a: { pins: Object.fromEntries(pins) } }));
    commitAll(folder, 'Move');
    return folder;
  }

  /** From now on the ids are noted that git searches. The function returns them. */
  function recordSearches(): () => readonly string[] {
    const { folder, path } = wrapGit((real) => [
      '[[ " $* " == *" grep "* ]] && echo "$*" >> "${0%/*}/searches"',
      `exec ${real} "$@"`,
    ]);
    vi.stubEnv('PATH', path);
    const file = join(folder, 'searches');
    return () => (existsSync(file) ? (readFileSync(file, 'utf8').match(/\b[0-9a-f]{40}\b/g) ?? []) : []);
  }

  /** From now on the names are noted of all objects that git reads. The function returns them. */
  function recordReads(): () => readonly string[] {
    const { folder, path } = wrapGit((real) => [
      `[[ " $* " == *" --batch "* ]] && { tee -a "\${0%/*}/reads" | ${real} "$@"; exit; }`,
      `exec ${real} "$@"`,
    ]);
    vi.stubEnv('PATH', path);
    return () => readFileSync(join(folder, 'reads'), 'utf8').trim().split('\n');
  }

  const PLAN_OFFLINE = ['plan', '--offline', '--base', 'HEAD'];

  test('searches 300 commits with the same files once', async () => {
    const folder = makeMoved(300, () => 'same');
    const searches = recordSearches();
    expect((await run(folder, PLAN_OFFLINE)).exitCode).toBe(0);
    expect(searches()).toHaveLength(1);
  });

  test('reads the folders of 300 commits with the same files once', async () => {
    const folder = makeMoved(300, () => 'same');
    const reads = recordReads();
    expect((await run(folder, PLAN_OFFLINE)).exitCode).toBe(0);
    expect(reads().length).toBeLessThan(20);
  });

  test('searches at most 200 commits with different files, and names the refs of the others', async () => {
    const folder = makeMoved(230, (index) => `${index}`);
    const searches = recordSearches();
    const { exitCode, stdout } = await run(folder, PLAN_OFFLINE);
    expect(exitCode).toBe(3);
    expect(new Set(searches()).size).toBe(200);
    expect(stdout.match(/\[pin\/no-prompt-at-ref\]/g)).toHaveLength(30);
    expect(stdout).toMatch(/"main~230" .*it is not at prompts\/a\.md, and a run searches at most 200 commits/);
  });
});

test('the last commits of 60 files take two processes', async () => {
  const { folder } = await makeChanged(60, ...TEXTS);
  const { head, lastCommitAt } = await open(folder);
  const counted = countGit();
  const paths = Array.from({ length: 60 }, (_, index) => `prompts/p${index}.md`);
  expect(await Promise.all(paths.map((path) => lastCommitAt(head!, path)))).not.toContain(null);
  expect(counted()).toEqual(['log', 'ls-tree']);
});
