import { describe, expect, test } from 'vitest';
import { sync, type SyncOptions } from '../../src/commands/sync.ts';
import type { Context } from '../../src/github/context.ts';
import { parseEvent } from '../../src/github/event.ts';
import { askGitHub } from '../../src/github/gates.ts';
import { startAt } from '../git/support.ts';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { startGitHub, type GitHubDouble } from '../support/github-api.ts';
import { CONFIG, promptText, workspaceFiles } from '../support/prompts.ts';
import { startTestService } from '../support/service.ts';
import { makeWorld } from '../support/world.ts';
import { connectTo, inputsOf, pushEvent } from './support.ts';

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
    ...{ world: makeWorld('/'), git: startAt('/'), configuration: { config: null, problems: [] }, branch: 'main' },
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
