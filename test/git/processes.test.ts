import { afterEach, describe, expect, test, vi } from 'vitest';
import { countGit } from '../support/count-git.ts';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { CONFIG, workspaceFiles, type PromptParts } from '../support/prompts.ts';
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
      [...PLAN, 'cat-file', 'diff', 'ls-files', 'ls-tree', 'rev-parse'],
    ],
    ['a history', TEXTS, ['history', '**'], 0, [...PLAN, 'cat-file', 'log', 'log', 'rev-list']],
    ['what may be a rollback, and is none', TOO_EARLY, ['plan'], 3, [...OPENED, 'cat-file', 'log', 'log']],
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

test('the last commits of 60 files take two processes', async () => {
  const { folder } = await makeChanged(60, ...TEXTS);
  const { head, lastCommitAt } = await open(folder);
  const counted = countGit();
  const paths = Array.from({ length: 60 }, (_, index) => `prompts/p${index}.md`);
  expect(await Promise.all(paths.map((path) => lastCommitAt(head!, path)))).not.toContain(null);
  expect(counted()).toEqual(['log', 'ls-tree']);
});
