import { describe, expect, test } from 'vitest';
import { syncPrompts, type SyncOptions } from '../../../src/commands/sync.ts';
import type { ActionContext } from '../../../src/forges/github/action-context.ts';
import { parseEvent } from '../../../src/forges/github/action-event.ts';
import { makeNewestCommitReader } from '../../../src/forges/github/review-guard.ts';
import { startAt } from '../../git/support.ts';
import { commitAll, git, makeRepository, writeFiles } from '../../support/folder.ts';
import { startGitHub, type GitHubDouble } from '../../support/github-api.ts';
import { CONFIG, promptText, workspaceFiles } from '../../support/prompts.ts';
import { startTestService } from '../../support/service.ts';
import { makeSystem } from '../../support/system.ts';
import { connectTo, inputsOf, pushEvent } from './support.ts';

const MAIN = 'refs/heads/main';
const OPTIONS: SyncOptions = {
  ...{ only: [], dryRun: false, yes: true, exitCode: false, allowDirty: false },
};

/** The messages of three commits on main. "Words" changes no prompt file, and "Second" changes one. */
const COMMITS = ['First', 'Words', 'Second'] as const;
type Name = (typeof COMMITS)[number];

/** Makes a clone at the first commit whose remote is unreachable. GitHub reports `tip` as the tip of main. */
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

function contextOf(github: GitHubDouble | null, ref: string, commit: string): ActionContext {
  return {
    ...{ inputs: inputsOf(), event: parseEvent('push', ref, pushEvent(commit)) },
    ...{ system: makeSystem('/'), git: startAt('/'), configuration: { config: null, problems: [] }, branch: 'main' },
    github: github === null ? null : connectTo(github),
  };
}

const failGitCalls = (github: GitHubDouble): void => github.fail({ path: /\/git\// }, { status: 404 });
const truncateTree = (github: GitHubDouble): void =>
  github.fail({ path: /\/trees\// }, { status: 200, body: { tree: [], truncated: true } });

describe('makeNewestCommitReader', () => {
  test.each<[string, Name, ((github: GitHubDouble) => void) | null, string]>([
    ['sync writes despite an unreachable git remote if GitHub reports HEAD as the branch tip', 'First', () => {}, ''],
    [
      'sync writes despite an unreachable git remote if newer commits on GitHub change no prompt',
      'Words',
      () => {},
      '',
    ],
    [
      'sync refuses to write if the git remote is unreachable and newer commits on GitHub change a prompt',
      'Second',
      () => {},
      'guard/superseded',
    ],
    [
      'sync refuses to write if the git remote is unreachable and GitHub does not know the branch',
      'First',
      failGitCalls,
      'guard/unknown-newest',
    ],
    [
      'sync refuses to write if the git remote is unreachable and GitHub returns a truncated file list',
      'Words',
      truncateTree,
      'guard/unknown-newest',
    ],
    [
      'sync refuses to write if the git remote is unreachable and no GitHub token is available',
      'First',
      null,
      'guard/unknown-newest',
    ],
  ])('%s', async (_, tip, prepare, expected) => {
    const { clone, github, service } = await makeScene(tip);
    prepare?.(github);
    const context = contextOf(prepare === null ? null : github, MAIN, 'a'.repeat(40));
    const options = { ...OPTIONS, readNewestFromForge: makeNewestCommitReader(context) };
    const { run } = await syncPrompts(options, makeSystem(clone, service.environment));
    const codes = (run.outcomes ?? []).flatMap(({ problems }) => problems.map(({ code }) => code));
    expect(codes).toEqual(expected === '' ? [] : [expected]);
    expect(service.takeWrites().length > 0).toBe(expected === '');
  });
});
