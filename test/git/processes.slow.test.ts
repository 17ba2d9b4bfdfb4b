import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { countGit, wrapGit } from '../support/count-git.ts';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { CONFIG, promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';

afterEach(() => vi.unstubAllEnvs());

type Setup = { readonly folder: string; readonly service: TestService };

const CONFIGURATION = `${CONFIG}environments: { staging: {}, production: { promote_from: staging } }\n`;

/** Makes a repository with `count` prompts in one commit and a change of each in the next commit. */
async function makeChangedPrompts(count: number, before: PromptParts, after: PromptParts): Promise<Setup> {
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
const TOO_EARLY = [{ text: 'One.' }, { text: 'Two.', pins: { staging: 1, production: 'latest' } }] as const;

const OPENED = ['diff', 'ls-files', 'rev-parse'];
/**
 * The git processes that find the default base. They read the remotes and whether the clone is partial, look for a branch
 * `main` or `master`, and resolve its tip.
 */
const FIND_BASE = ['cat-file', 'config', 'for-each-ref'];
/** The git processes that read the lines of prompts and the contents of their states. */
const READ_LINES = ['cat-file', 'cat-file', 'log'];
/** The git process that reads the subjects of the commits from which a sync would create versions. */
const READ_SUBJECTS = ['log'];
const PLAN = [...OPENED, ...FIND_BASE, ...READ_SUBJECTS, 'cat-file', 'log'];

test.each<[string, readonly [PromptParts, PromptParts], readonly string[], number, readonly string[]]>([
  [
    'plan --base starts the same number of git processes for 60 prompts as for 3 prompts',
    TEXTS,
    ['plan', '--base', 'HEAD~1'],
    0,
    [...PLAN, 'cat-file', 'cat-file', 'cat-file', 'diff', 'log', 'ls-files', 'ls-tree', 'rev-list', 'rev-list'],
  ],
  [
    'history starts the same number of git processes for 60 prompts as for 3 prompts',
    TEXTS,
    ['history', '**'],
    0,
    [...OPENED, ...READ_LINES, ...READ_SUBJECTS, 'cat-file', 'log'],
  ],
  [
    'plan starts the same number of git processes to check for rollbacks in 60 prompts as in 3 prompts',
    TOO_EARLY,
    ['plan'],
    3,
    [...OPENED, ...FIND_BASE, ...READ_LINES, ...READ_SUBJECTS],
  ],
])('%s', async (_, [before, after], words, expectedExit, expected) => {
  for (const count of [3, 60]) {
    const { folder, service } = await makeChangedPrompts(count, before, after);
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

/** Makes a repository with three prompts of `count` pins each, which name refs that do not exist. */
function makePinnedPrompts(count: number): string {
  const files = (pins: PromptParts['pins'] = { staging: 'latest' }) =>
    workspaceFiles({ a: { pins }, b: { pins }, c: { pins } });
  const folder = makeRepository(files());
  const pins = Array.from({ length: count }, (_, index) => [`e${index}`, `git:nope-${index}`]);
  writeFiles(folder, files(Object.fromEntries(pins)));
  commitAll(folder, 'Pin');
  return folder;
}

test('promptsync starts only three git processes to look up 1,000 refs that do not exist', async () => {
  const folder = makePinnedPrompts(1000);
  const counted = countGit();
  const { exitCode, stdout } = await run(folder, ['plan', '--offline', '--base', 'HEAD']);
  expect([exitCode, stdout.match(/`nope-\d+` does not exist/g)?.length]).toEqual([3, 3000]);
  expect(counted().filter((command) => ['cat-file', 'for-each-ref', 'rev-parse'].includes(command))).toHaveLength(3);
});

/** Makes a repository with one prompt that is pinned to `count` commits, in which it has another path. */
function makeMovedPrompt(count: number, contentOf: (index: number) => string): string {
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

/** Starts to record the commits that git searches. Returns a function that returns their ids. */
function recordSearches(): () => readonly string[] {
  const { folder, path } = wrapGit((real) => [
    '[[ " $* " == *" grep "* ]] && echo "$*" >> "${0%/*}/searches"',
    `exec ${real} "$@"`,
  ]);
  vi.stubEnv('PATH', path);
  const file = join(folder, 'searches');
  return () => (existsSync(file) ? (readFileSync(file, 'utf8').match(/\b[0-9a-f]{40}\b/g) ?? []) : []);
}

/** Starts to record all objects that git reads. Returns a function that returns their names. */
function recordReads(): () => readonly string[] {
  const { folder, path } = wrapGit((real) => [
    `[[ " $* " == *" --batch "* ]] && { tee -a "\${0%/*}/reads" | ${real} "$@"; exit; }`,
    `exec ${real} "$@"`,
  ]);
  vi.stubEnv('PATH', path);
  return () => readFileSync(join(folder, 'reads'), 'utf8').trim().split('\n');
}

const PLAN_OFFLINE = ['plan', '--offline', '--base', 'HEAD'];

test('promptsync searches for a moved prompt once and reads fewer than 20 git objects if 300 commits contain identical files', async () => {
  const folder = makeMovedPrompt(300, () => 'same');
  const searches = recordSearches();
  expect((await run(folder, PLAN_OFFLINE)).exitCode).toBe(0);
  expect(searches()).toHaveLength(1);
  vi.unstubAllEnvs();
  const reads = recordReads();
  expect((await run(folder, PLAN_OFFLINE)).exitCode).toBe(0);
  expect(reads().length).toBeLessThan(20);
});

test('promptsync searches at most 200 commits for a moved prompt and reports the refs that it did not search', async () => {
  const folder = makeMovedPrompt(230, (index) => `${index}`);
  const searches = recordSearches();
  const { exitCode, stdout } = await run(folder, PLAN_OFFLINE);
  expect(exitCode).toBe(3);
  expect(new Set(searches()).size).toBe(200);
  expect(stdout.match(/\[pin\/no-prompt-at-ref\]/g)).toHaveLength(30);
  expect(stdout).toMatch(/`main~230` .*it is not at prompts\/a\.md, and promptsync searches at most 200 commits/);
});
