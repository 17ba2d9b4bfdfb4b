import { expect, test } from 'vitest';
import { syncPrompts, type SyncOptions } from '../../../src/commands/sync.ts';
import { makeNewestCommitReader } from '../../../src/forges/github/review-guard.ts';
import { commitAll, git, makeRepository, writeFiles } from '../../support/folder.ts';
import { startGitHub, type GitHubDouble } from '../../support/github-api.ts';
import { CONFIG, promptText, workspaceFiles } from '../../support/prompts.ts';
import { startTestService } from '../../support/service.ts';
import { makeSystem } from '../../support/system.ts';
import { connectTo } from './support.ts';

const OPTIONS: SyncOptions = { only: [], dryRun: false, yes: true, exitCode: false, allowDirty: false };

/** The messages of three commits on main. "Words" changes no prompt file, and "Second" changes one. */
type Name = 'First' | 'Words' | 'Second';

const failGitCalls = (github: GitHubDouble): void => github.fail({ path: /\/git\// }, { status: 404 });
const truncateTree = (github: GitHubDouble): void =>
  github.fail({ path: /\/trees\// }, { status: 200, body: { tree: [], truncated: true } });

test('If the git remote is unreachable, sync writes only if GitHub says that no newer commit changes a prompt', async () => {
  const clone = makeRepository(workspaceFiles({ greeting: { text: 'First.' } }, `${CONFIG}branch: main\n`));
  const first = git(clone, 'rev-parse', 'HEAD');
  writeFiles(clone, { 'README.md': 'Words' });
  const words = commitAll(clone, 'Words');
  writeFiles(clone, { 'prompts/greeting.md': promptText('greeting', { text: 'Second.' }) });
  const commits: Readonly<Record<Name, string>> = { First: first, Words: words, Second: commitAll(clone, 'Second') };
  git(clone, 'checkout', '--quiet', '--detach', first);
  git(clone, 'remote', 'add', 'origin', 'file:///nowhere');

  const syncWith = async (tip: Name, prepare: ((github: GitHubDouble) => void) | null) => {
    const [github, service] = [await startGitHub(), await startTestService(['greeting'])];
    github.setBranch('main', commits[tip], git(clone, 'ls-tree', '-r', '-t', commits[tip]).split('\n'));
    prepare?.(github);
    const readNewestFromForge = makeNewestCommitReader({ github: prepare === null ? null : connectTo(github) });
    const system = makeSystem(clone, service.environment);
    const { run } = await syncPrompts({ ...OPTIONS, readNewestFromForge }, system);
    const codes = (run.outcomes ?? []).flatMap(({ problems }) => problems.map(({ code }) => code));
    expect(service.takeWrites().length > 0).toBe(codes.length === 0);
    return codes;
  };
  const rows: readonly (readonly [string, Name, ((github: GitHubDouble) => void) | null, readonly string[]])[] = [
    ['the newer commit changes no prompt', 'Words', () => {}, []],
    ['the newer commit changes a prompt', 'Second', () => {}, ['guard/superseded']],
    ['GitHub does not know the branch', 'First', failGitCalls, ['guard/unknown-newest']],
    ['GitHub returns a truncated list of files', 'Words', truncateTree, ['guard/unknown-newest']],
    ['there is no token for GitHub', 'First', null, ['guard/unknown-newest']],
  ];
  for (const [situation, tip, prepare, codes] of rows) {
    expect([situation, await syncWith(tip, prepare)]).toEqual([situation, codes]);
  }
});
