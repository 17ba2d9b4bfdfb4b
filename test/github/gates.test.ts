import { describe, expect, test } from 'vitest';
import { sync, type SyncOptions } from '../../src/commands/sync.ts';
import type { PromptPlan } from '../../src/domain/plan.ts';
import type { Context } from '../../src/github/context.ts';
import { parseEvent } from '../../src/github/event.ts';
import { askGitHub, reviewGate } from '../../src/github/gates.ts';
import { markerOf } from '../../src/github/sticky.ts';
import { partsOf, planMark } from '../../src/review/reviewed-plan.ts';
import { startAt } from '../git/support.ts';
import { content, file } from '../planning/support.ts';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { startGitHub, type GitHubDouble, type Person } from '../support/github-api.ts';
import { CONFIG, promptText, workspaceFiles } from '../support/prompts.ts';
import { startTestService } from '../support/service.ts';
import { makeWorld } from '../support/world.ts';
import { ADA, connectTo, inputsOf, pushEvent } from './support.ts';

const MAIN = 'refs/heads/main';
const OPTIONS: SyncOptions = {
  ...{ only: [], dryRun: false, yes: true, exitCode: false, allowDirty: false },
};

/** A commit that is merged, one after it that touches no prompt, and one that does. */
const COMMITS = ['First', 'Words', 'Second'] as const;
type Name = (typeof COMMITS)[number];

/** A clone that is at the first commit and cannot ask its remote, while GitHub has main at another one. */
async function makeScene(tip: Name) {
  const clone = makeRepository(workspaceFiles({ greeting: { text: 'First.' } }, `${CONFIG}branch: main\n`));
  const first = git(clone, 'rev-parse', 'HEAD');
  writeFiles(clone, { 'README.md': 'Words' });
  const words = commitAll(clone, 'Words');
  writeFiles(clone, { 'prompts/greeting.md': promptText('greeting', { text: 'Second.' }) });
  const commits: Readonly<Record<Name, string>> = { First: first, Words: words, Second: commitAll(clone, 'Second') };
  const github = await startGitHub();
  github.setBranch('main', commits[tip], git(clone, 'ls-tree', '-r', '-t', commits[tip]).split('\n'));
  git(clone, 'checkout', '--quiet', '--detach', first);
  git(clone, 'remote', 'add', 'origin', 'file:///nowhere');
  return { clone, github, service: await startTestService(['greeting']) };
}

function contextOf(github: GitHubDouble | null, ref: string, commit: string): Context {
  return {
    ...{ inputs: inputsOf(), event: parseEvent('push', ref, pushEvent(commit)) },
    ...{ world: makeWorld('/'), git: startAt('/'), configuration: { config: null, problems: [] } },
    github: github === null ? null : connectTo(github),
  };
}

const fails = (github: GitHubDouble): void => github.fail({ path: /\/git\// }, { status: 404 });
const cutsShort = (github: GitHubDouble): void =>
  github.fail({ path: /\/trees\// }, { status: 200, body: { tree: [], truncated: true } });

describe('where the remote cannot be asked, GitHub is:', () => {
  test.each<[string, Name, ((github: GitHubDouble) => void) | null, string]>([
    ['it has the branch at the commit', 'First', () => {}, ''],
    ['it has the branch further, and no prompt differs', 'Words', () => {}, ''],
    ['it has the branch further', 'Second', () => {}, 'guard/superseded'],
    ['it does not know the branch', 'First', fails, 'guard/unknown-newest'],
    ['it lists only some of the files', 'Words', cutsShort, 'guard/unknown-newest'],
    ['there is no token', 'First', null, 'guard/unknown-newest'],
  ])('%s', async (_, tip, prepare, expected) => {
    const { clone, github, service } = await makeScene(tip);
    prepare?.(github);
    const context = contextOf(prepare === null ? null : github, MAIN, 'a'.repeat(40));
    const options = { ...OPTIONS, askForge: askGitHub(context) };
    const { run } = await sync(options, makeWorld(clone, service.environment));
    const codes = (run.outcomes ?? []).flatMap(({ problems }) => problems.map(({ code }) => code));
    expect(codes).toEqual(expected === '' ? [] : [expected]);
    expect(service.takeWrites().length > 0).toBe(expected === '');
  });
});

describe('the review of a plan', () => {
  const [NEWEST, EARLIER] = ['c'.repeat(40), 'b'.repeat(40)];
  const NO_PLAN = '#7 has no comment of promptsync with a whole plan';
  const change = { kind: 'create-version', content: content('Text'), provenance: {} } as const;
  const rest = { observed: null, status: 'pending', drift: [], problems: [], finds: [] } as const;
  const planOf = (ids: string): { readonly prompts: readonly PromptPlan[] } => ({
    prompts: [...ids].map((id) => ({ ...rest, file: { ...file(), id }, changes: [change] })),
  });
  /** The comment in which these prompts' changes were shown. */
  const shows = (ids: string, inputs = inputsOf()): string =>
    `${markerOf(inputs)}\n${planMark(`sha256:${'0a'.repeat(32)}`, partsOf(planOf(ids)))}\nThe plan`;
  const merge = (github: GitHubDouble, body: string, user?: Person, number = 7, mergeCommit = NEWEST): void => {
    github.addPull({ number, head: 'd'.repeat(40), base: 'main', merged: true, mergeCommit });
    github.addComment(number, user === undefined ? { body } : { body, user });
  };
  const refused = { status: 403, body: { message: 'Resource not accessible' } };

  async function gate(prepare: (github: GitHubDouble) => void, ids: string, token = true): Promise<string> {
    const github = await startGitHub();
    prepare(github);
    const repository = { head: NEWEST, mergesBefore: async () => [NEWEST, EARLIER] };
    const context = contextOf(token ? github : null, MAIN, NEWEST);
    const found = await reviewGate(context, { plan: planOf(ids), repository });
    return found.map(({ code, message }) => `${code}: ${message}`).join('\n');
  }

  const refuses = (github: GitHubDouble): void => github.fail({ path: /\/pulls/ }, refused);
  const mergesTwo = (github: GitHubDouble): void => {
    merge(github, shows('a'));
    merge(github, shows('b'), undefined, 6, EARLIER);
  };
  const other = shows('a', inputsOf({ config: 'other.yaml' }));

  test.each<[string, (github: GitHubDouble) => void, string, string]>([
    ['is in the comment of the newest merge', (github) => merge(github, shows('a')), 'a', ''],
    ['may be in those of two merges', mergesTwo, 'ab', ''],
    ['is not there without a pull request', () => {}, 'a', 'no merged pull request brought it'],
    ['is not what a stranger has written', (github) => merge(github, shows('a'), ADA), 'a', NO_PLAN],
    ['is not that of another configuration', (github) => merge(github, other), 'a', NO_PLAN],
    ['is unknown where GitHub refuses', refuses, 'a', 'GitHub could not be asked: Resource not accessible'],
  ])('%s', async (_, prepare, ids, expected) => {
    const problems = await gate(prepare, ids);
    expect(problems).toContain(expected);
    expect(problems.startsWith('guard/not-reviewed: ')).toBe(expected !== '');
  });

  test('is unknown without a token', async () => {
    expect(await gate((github) => merge(github, shows('a')), 'a', false)).toContain('there is no `github-token`');
  });
});
