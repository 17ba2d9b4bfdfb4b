import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkMergedAndUpToDate, type MergeCheckOptions } from '../../src/run/check-merged-and-up-to-date.ts';
import { readDesiredState } from '../../src/desired-state/read-desired-state.ts';
import { openWorkspace } from '../../src/desired-state/open-workspace.ts';
import type { Problem } from '../../src/problem.ts';
import { commitAll, type Files, git, initRepository, makeFolder, writeFiles } from '../support/folder.ts';
import { startFrontFor } from '../support/front.ts';
import { summarizeRun } from '../support/promotion.ts';
import { CONFIG, promptText, workspaceFiles } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';
import { makeSystem } from '../support/system.ts';

/** The workspace is in this folder of the repository. */
const WORKSPACE = 'team';
const PATH = `${WORKSPACE}/prompts/greeting.md`;
const greets = (text: string) => ({ [PATH]: promptText('greeting', { text }) });
/** Files that are no part of the workspace. */
const WORDS = { 'README.md': 'Words', 'prompts/greeting.md': 'Words' };
const MAIN = 'refs/heads/main';

/** Maps paths to contents. Null deletes a file. */
type Edits = Readonly<Record<string, Files[string] | null>>;

/** Makes a bare remote, and a clone from which a colleague pushes. */
function makeTeam(config = CONFIG) {
  const folder = makeFolder();
  const [origin, desk] = [join(folder, 'origin.git'), join(folder, 'desk')];
  git(folder, 'init', '--quiet', '--bare', '--initial-branch', 'main', origin);
  initRepository(desk);
  git(desk, 'remote', 'add', 'origin', origin);
  /** Pushes a commit to a branch of the remote, and returns the commit. */
  const merge = (edits: Edits, branch = 'main'): string => {
    for (const [path, text] of Object.entries(edits)) {
      if (text === null) rmSync(join(desk, path));
      else writeFiles(desk, { [path]: text });
    }
    const commit = commitAll(desk, 'Merged');
    git(desk, 'push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`);
    return commit;
  };
  const files = Object.entries(workspaceFiles({ greeting: {}, refund: {} }, config));
  const first = merge(Object.fromEntries(files.map(([path, text]) => [`${WORKSPACE}/${path}`, text])));
  let clones = 0;
  const clone = (...words: readonly string[]): string => {
    const made = join(folder, `clone-${++clones}`);
    git(folder, 'clone', '--quiet', ...words, `file://${origin}`, made);
    return made;
  };
  return { origin, merge, clone, first };
}

type CheckOptions = Partial<MergeCheckOptions> & { readonly changedSince?: string };

/** Returns the problem that stops a sync in a clone. Undefined if there is none. */
async function findProblem(clone: string, options: CheckOptions = {}): Promise<Problem | undefined> {
  const system = makeSystem(join(clone, WORKSPACE), { PROMPTSYNC_BASE_URL: 'http://127.0.0.1:9' });
  const all = { only: [], ...options };
  const { config, ...workspace } = await openWorkspace(all, system);
  if (config === null) throw new Error('there is no configuration');
  const request = { ...all, environmentSelection: null };
  const desired = await readDesiredState({ config, ...workspace }, request);
  if (!desired.isSuccess) throw new Error(desired.problems[0]?.message);
  const [problem] = await checkMergedAndUpToDate(desired.value, all);
  return problem;
}

/** Returns the code of the problem that stops a sync and the advice in its hint, or an empty string. */
async function refusal(clone: string, options: CheckOptions = {}): Promise<string> {
  const problem = await findProblem(clone, options);
  if (problem === undefined) return '';
  return [
    problem.code,
    ...(/`git pull` and `git push`|git pull/.exec(problem.hint) ?? []),
    ...(/If your branch is not merged yet/.exec(problem.hint) ?? []),
  ].join(' ');
}

const BEHIND = 'guard/superseded git pull';
const EITHER = 'guard/superseded git pull If your branch is not merged yet';
const NOT_MERGED = 'guard/not-merged `git pull` and `git push`';
const UNKNOWN = 'guard/unknown-newest';

describe('the check for merged and up-to-date commits', () => {
  test('sync accepts the tip of the remote branch and refuses commits that are not merged', async () => {
    const { origin, clone, merge, first } = makeTeam();
    const [full, shallow] = [clone(), clone('--depth', '1')];
    expect([await refusal(full), await refusal(shallow)]).toEqual(['', '']);
    writeFiles(full, greets('Mine'));
    expect(await refusal(full)).toBe('');
    const [head, tip] = [commitAll(full, 'Mine'), first].map((id) => id.slice(0, 12));
    const { message } = (await findProblem(full)) ?? {};
    expect(await refusal(full)).toBe(NOT_MERGED);
    expect(message).toBe(
      `Commit ${head} is not merged into origin/main, so nothing was synced. origin/main is at ${tip}. The two commits differ in \`prompts/greeting.md\`.`,
    );
    writeFiles(shallow, greets('Mine'));
    commitAll(shallow, 'Mine');
    expect(await refusal(shallow)).toBe(EITHER);

    // After a squash merge, the files are the same although the commit is another one.
    const squashed = merge({ ...greets('Mine'), ...WORDS });
    expect(await refusal(full)).toBe('');
    writeFiles(full, { ...greets('Yours'), [`${WORKSPACE}/prompts/new.md`]: promptText('new') });
    commitAll(full, 'Diverge');
    expect((await findProblem(full))?.message).toContain('The two commits differ in 2 files.');
    expect(await refusal(full)).toBe(NOT_MERGED);

    git(full, 'fetch', '--quiet');
    git(full, 'checkout', '--quiet', '--detach', squashed);
    git(origin, 'update-ref', MAIN, first);
    expect(await refusal(full)).toBe(NOT_MERGED);
  });

  test('sync refuses a commit that lacks newer changes to the selected prompts or to the configuration', async () => {
    const { origin, clone, merge } = makeTeam();
    const [full, shallow] = [clone(), clone('--depth', '1')];
    merge(WORDS);
    expect([await refusal(full), await refusal(shallow)]).toEqual(['', '']);
    merge(greets('Newest'));
    expect([await refusal(full), await refusal(shallow)]).toEqual([BEHIND, EITHER]);
    expect(await refusal(full, { only: ['refund'] })).toBe('');
    expect(await refusal(full, { changedSince: 'HEAD' })).toBe('');
    for (const edits of [
      { [`${WORKSPACE}/prompts/new.md`]: promptText('new') },
      { [PATH]: null },
      { [`${WORKSPACE}/promptsync.yaml`]: `${CONFIG}on_drift: fail\n` },
    ]) {
      git(full, 'fetch', '--quiet');
      git(full, 'checkout', '--quiet', '--detach', 'origin/main');
      merge(edits);
      expect([edits, await refusal(full)]).toEqual([edits, BEHIND]);
    }
    git(origin, 'update-ref', '-d', MAIN);
    expect(await refusal(full)).toBe(UNKNOWN);
    rmSync(origin, { recursive: true });
    expect(await refusal(full)).toBe(UNKNOWN);
    expect(await refusal(full, { anyCommit: true })).toBe('');
    git(full, 'remote', 'remove', 'origin');
    expect(await refusal(full)).toBe('');
  });

  test('sync compares with the configured branch, on the remote that the branch tracks', async () => {
    const { origin, clone, merge } = makeTeam(`${CONFIG}branch: live\n`);
    merge(greets('Live'), 'live');
    const folder = clone('--branch', 'live');
    expect(await refusal(folder)).toBe('');
    const upstream = join(makeFolder(), 'upstream.git');
    git(origin, 'clone', '--quiet', '--bare', origin, upstream);
    git(folder, 'remote', 'add', 'upstream', upstream);
    writeFiles(folder, greets('Newest'));
    commitAll(folder, 'Newest');
    git(folder, 'push', '--quiet', 'upstream', 'live');
    git(folder, 'config', 'branch.live.remote', 'upstream');
    expect(await refusal(folder)).toBe('');
    git(folder, 'config', '--unset', 'branch.live.remote');
    expect(await refusal(folder)).toBe(NOT_MERGED);
    git(folder, 'remote', 'rename', 'origin', 'mine');
    expect(await refusal(folder)).toBe(UNKNOWN);
    git(folder, 'remote', 'rename', 'mine', 'origin');
    git(folder, 'checkout', '--quiet', '--detach', 'origin/main');
    expect(await refusal(folder)).toBe(BEHIND);
    git(folder, 'checkout', '--quiet', '--orphan', 'x');
    expect(await refusal(folder)).toBe(UNKNOWN);
  });
});

describe('sync', () => {
  const SYNC = ['sync', '--yes'];
  const at = (clone: string) => join(clone, WORKSPACE);

  /** Makes a team whose first commit is synced, and its service without recorded writes. */
  async function makeSyncedTeam() {
    const [team, service] = [makeTeam(), await startTestService(['greeting', 'refund'])];
    expect((await run(at(team.clone()), SYNC, service)).exitCode).toBe(0);
    service.takeWrites();
    return { ...team, service };
  }

  test('sync from an outdated clone does not reset staging to an old version', async () => {
    const { clone, merge, service } = await makeSyncedTeam();
    // A CI job that is rerun later has the same state.
    const outdated = clone();
    merge(greets('Newest'));
    const current = clone();
    // A later commit without changes to prompts does not make a clone outdated.
    merge(WORDS);
    expect(summarizeRun(await runJson(at(current), SYNC, service))).toMatch(/^exit 0, greeting applied, refund/);
    expect(service.takeWrites()).toHaveLength(3);
    expect(await run(at(outdated), ['plan'], service)).toMatchObject({ exitCode: 0 });
    const refused = 'exit 3, greeting blocked guard/superseded, refund unchanged';
    expect(summarizeRun(await runJson(at(outdated), SYNC, service))).toBe(refused);
    expect(service.takeWrites()).toEqual([]);
    expect(await run(at(outdated), [...SYNC, '--any-commit'], service)).toMatchObject({ exitCode: 0 });
    expect(service.takeWrites()).not.toEqual([]);
  });

  test('sync activates no version from an unmerged local branch', async () => {
    const { origin, clone, service } = await makeSyncedTeam();
    const folder = clone();
    writeFiles(folder, greets('Mine'));
    commitAll(folder, 'Mine');
    const refused = (code: string) => `exit 3, greeting blocked ${code}, refund unchanged`;
    expect(summarizeRun(await runJson(at(folder), SYNC, service))).toBe(refused('guard/not-merged'));
    rmSync(origin, { recursive: true });
    expect(summarizeRun(await runJson(at(folder), SYNC, service))).toBe(refused('guard/unknown-newest'));
    expect(service.takeWrites()).toEqual([]);
    // promptsync does not ask the missing remote if there is nothing to write, or if the service is embedded.
    git(folder, 'checkout', '--quiet', 'HEAD~1');
    expect(await run(at(folder), SYNC, service)).toMatchObject({ exitCode: 0 });
    const config = `${CONFIG}service: { embedded: .promptsync/service.db }\n`;
    writeFiles(folder, { [`${WORKSPACE}/promptsync.yaml`]: config });
    commitAll(folder, 'Try it');
    expect(await run(at(folder), SYNC)).toMatchObject({ exitCode: 0 });
  });

  test('sync refuses a commit that becomes outdated before the confirmation, and warns about one that becomes outdated during the writes', async () => {
    const { clone, merge, service } = await makeSyncedTeam();
    merge(greets('Merged'));
    const folder = clone();
    const onError = (text: string): void => void (text.includes('Apply?') && merge(greets('Newest')));
    const ran = await run(at(folder), ['sync'], { ...service, terminal: true, input: 'y\n', onError });
    expect(ran.exitCode).toBe(3);
    expect(service.takeWrites()).toEqual([]);

    git(folder, 'pull', '--quiet');
    let newest = '';
    const { environment } = await startFrontFor(service, ({ method }) => {
      if (method !== 'GET' && newest === '') newest = merge(greets('Newer still'));
      return null;
    });
    const { exitCode, report } = await runJson(at(folder), SYNC, { environment });
    expect(exitCode).toBe(0);
    expect(report.problems).toMatchObject([
      { code: 'guard/overtaken', message: expect.stringContaining(newest.slice(0, 12)) },
    ]);
  });
});
