import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkMergedAndUpToDate, type MergeCheckOptions } from '../../src/run/check-merged-and-up-to-date.ts';
import { readDesiredState } from '../../src/desired-state/read-desired-state.ts';
import { openWorkspace } from '../../src/desired-state/open-workspace.ts';
import type { Problem } from '../../src/problem.ts';
import { commitAll, type Files, git, initRepository, makeFolder, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { CONFIG, promptText, workspaceFiles } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { makeSystem } from '../support/system.ts';

const PATH = 'prompts/greeting.md';
const greets = (text: string) => ({ [PATH]: promptText('greeting', { text }) });
const MAIN = 'refs/heads/main';
const WORDS = { 'README.md': 'Words' };

/** Maps paths to contents. Null deletes a file. */
type Edits = Readonly<Record<string, Files[string] | null>>;

/** A bare remote, and a second clone from which a colleague pushes. */
type Team = {
  readonly origin: string;
  /** Pushes a commit to a branch of the remote, and returns the commit. */
  readonly merge: (edits: Edits, branch?: string) => string;
  readonly clone: (...words: readonly string[]) => string;
  readonly first: string;
};

function makeTeam(files: Edits = workspaceFiles({ greeting: {}, refund: {} })): Team {
  const folder = makeFolder();
  const [origin, desk] = [join(folder, 'origin.git'), join(folder, 'desk')];
  git(folder, 'init', '--quiet', '--bare', '--initial-branch', 'main', origin);
  initRepository(desk);
  git(desk, 'remote', 'add', 'origin', origin);
  const merge: Team['merge'] = (edits, branch = 'main') => {
    if (branch !== 'main') git(desk, 'switch', '--quiet', '--create', branch);
    for (const [path, text] of Object.entries(edits)) {
      if (text === null) rmSync(join(desk, path));
      else writeFiles(desk, { [path]: text });
    }
    const commit = commitAll(desk, 'Merged');
    git(desk, 'push', '--quiet', 'origin', branch);
    if (branch !== 'main') git(desk, 'switch', '--quiet', 'main');
    return commit;
  };
  const first = merge(files);
  let clones = 0;
  const clone: Team['clone'] = (...words) => {
    const made = join(folder, `clone-${++clones}`);
    git(folder, 'clone', '--quiet', ...words, `file://${origin}`, made);
    return made;
  };
  return { origin, merge, clone, first };
}

/** Makes a clone in the state that a test needs, and returns its folder. */
type Scene = (team: Team) => string;

/** Makes a clone, with these options for `git clone`, and then pushes a commit that the clone lacks. */
function makeOutdated(edits: Edits, ...words: readonly string[]): Scene {
  return ({ clone, merge }) => {
    const made = clone(...words);
    merge(edits);
    return made;
  };
}

/** Makes a clone with a commit on an unmerged branch. */
function makeBranch(files: Files, ...words: readonly string[]): Scene {
  return ({ clone }) => {
    const made = clone(...words);
    git(made, 'switch', '--quiet', '--create', 'change');
    writeFiles(made, files);
    commitAll(made, 'Change');
    return made;
  };
}

/** Makes a scene and then changes the clone or the remote. */
function change(scene: Scene, edit: (folder: string, team: Team) => unknown): Scene {
  return (team) => {
    const folder = scene(team);
    edit(folder, team);
    return folder;
  };
}

/** Makes a clone whose first remote is an outdated fork. Its main branch is at the tip of the remote `upstream`. */
function makeFork(own: string, tracked: string | null): Scene {
  return ({ origin, clone }) => {
    const made = clone('--origin', own);
    const upstream = join(makeFolder(), 'upstream.git');
    git(origin, 'clone', '--quiet', '--bare', origin, upstream);
    git(made, 'remote', 'add', 'upstream', upstream);
    writeFiles(made, greets('Newest'));
    commitAll(made, 'Newest');
    git(made, 'push', '--quiet', 'upstream', 'main');
    git(made, 'config', '--unset', 'branch.main.remote');
    if (tracked !== null) git(made, 'config', 'branch.main.remote', tracked);
    return made;
  };
}

const TIP: Scene = ({ clone }) => clone();
const STALE = makeOutdated(greets('Newest'));
/** The state of a CI job that is rerun later. */
const OLD_JOB = change(STALE, (folder) => git(folder, 'checkout', '--quiet', '--detach', 'HEAD'));
const UNMERGED = makeBranch(greets('Mine'));
const TOO_EARLY: Scene = ({ merge, clone }) => (merge(greets('Too early')), clone());
const LOST = change(TIP, (_, { origin }) => rmSync(origin, { recursive: true }));

type CheckOptions = Partial<MergeCheckOptions> & { readonly changedSince?: string };

/** Returns the problem that stops a sync. Undefined if there is none. */
async function findProblem(folder: string, options: CheckOptions = {}): Promise<Problem | undefined> {
  const system = makeSystem(folder, { PROMPTSYNC_BASE_URL: 'http://127.0.0.1:9' });
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
async function refusal(folder: string, options: CheckOptions = {}): Promise<string> {
  const problem = await findProblem(folder, options);
  if (problem === undefined) return '';
  return [
    problem.code,
    ...(/`git pull` and `git push`|git pull/.exec(problem.hint) ?? []),
    ...(/If your branch is not merged yet/.exec(problem.hint) ?? []),
  ].join(' ');
}

describe('the check for merged and up-to-date commits', () => {
  test.each<[string, Scene, CheckOptions?]>([
    ['sync accepts a clone at the tip of the remote branch', TIP],
    [
      'sync accepts a detached HEAD at the tip of the remote branch',
      change(TIP, (folder) => git(folder, 'checkout', '--quiet', '--detach', 'HEAD')),
    ],
    ['sync accepts a shallow clone at the tip of the remote branch', ({ clone }) => clone('--depth', '1')],
    ['sync accepts an outdated clone if the missing commits change no prompts', makeOutdated(WORDS)],
    [
      'sync accepts an outdated shallow clone if the missing commits change no prompts',
      makeOutdated(WORDS, '--depth', '1'),
    ],
    [
      'sync accepts a squash-merged branch if its prompt files match the remote branch',
      change(UNMERGED, (_, { merge }) => merge({ ...WORDS, ...greets('Mine') })),
    ],
    ['sync accepts an unmerged branch that changes no prompts', makeBranch(WORDS)],
    [
      'sync ignores uncommitted edits when it compares HEAD with the remote branch',
      change(TIP, (folder) => writeFiles(folder, greets('Edited'))),
    ],
    [
      'sync in a clone of a fork accepts the tip of the upstream branch that main tracks',
      makeFork('origin', 'upstream'),
    ],
    ['sync --only accepts an outdated clone if the selected prompt is up to date', STALE, { only: ['refund'] }],
    [
      'sync --changed-since accepts an outdated clone if no prompt changed since the given commit',
      STALE,
      { changedSince: 'HEAD' },
    ],
    ['sync --any-commit accepts any commit, even if the remote repository is missing', LOST, { anyCommit: true }],
    [
      'sync accepts any commit in a repository without a remote',
      change(UNMERGED, (folder) => git(folder, 'remote', 'remove', 'origin')),
    ],
  ])('%s', async (_, scene, options) => {
    expect(await refusal(scene(makeTeam()), options)).toBe('');
  });

  test('sync compares HEAD with the configured branch instead of the default branch', async () => {
    const team = makeTeam(workspaceFiles({ greeting: {} }, `${CONFIG}branch: live\n`));
    team.merge(greets('Live'), 'live');
    expect(await refusal(team.clone('--branch', 'live'))).toBe('');
    expect(await refusal(team.clone())).toBe('guard/superseded git pull');
  });

  test('sync ignores newer commits that change only files outside the workspace', async () => {
    const files = Object.entries(workspaceFiles({ greeting: {} })).map(([path, text]) => [
      `team/${path}`,
      String(text),
    ]);
    const team = makeTeam(Object.fromEntries(files));
    const folder = join(STALE(team), 'team');
    expect(await refusal(folder)).toBe('');
    team.merge({ [`team/${PATH}`]: 'Newest' });
    expect(await refusal(folder)).toBe('guard/superseded git pull');
  });
});

describe('the refusals of unmerged and outdated commits', () => {
  const BEHIND = 'superseded git pull';
  const EITHER = 'superseded git pull If your branch is not merged yet';
  const NOT_MERGED = 'not-merged `git pull` and `git push`';
  test.each<[string, Scene, string]>([
    ['sync refuses a clone that is behind the remote branch', STALE, BEHIND],
    [
      'sync refuses a shallow clone that may be behind the remote branch',
      makeOutdated(greets('Newest'), '--depth', '1'),
      EITHER,
    ],
    ['sync refuses a detached HEAD at an outdated commit', OLD_JOB, BEHIND],
    [
      'sync refuses a clone that is missing a newly added prompt',
      makeOutdated({ 'prompts/new.md': promptText('new') }),
      BEHIND,
    ],
    [
      'sync refuses a clone that still contains a prompt deleted from the remote branch',
      makeOutdated({ [PATH]: null }),
      BEHIND,
    ],
    [
      'sync refuses a clone with an outdated configuration',
      makeOutdated({ 'promptsync.yaml': `${CONFIG}on_drift: fail\n` }),
      BEHIND,
    ],
    ['sync refuses an unmerged branch', UNMERGED, NOT_MERGED],
    ['sync refuses an unmerged branch in a shallow clone', makeBranch(greets('Mine'), '--depth', '1'), EITHER],
    [
      'sync refuses a commit that a force push removed from the remote branch',
      change(TOO_EARLY, (_, { origin, first }) => git(origin, 'update-ref', MAIN, first)),
      NOT_MERGED,
    ],
    [
      'sync refuses a commit that exists only in the upstream repository if the main branch tracks no remote',
      makeFork('origin', null),
      NOT_MERGED,
    ],
    [
      'If the local main branch is ahead of the remote branch, sync tells the user to push or merge',
      change(TIP, (folder) => {
        writeFiles(folder, greets('Mine'));
        commitAll(folder, 'Mine');
      }),
      NOT_MERGED,
    ],
    [
      'If a detached HEAD is at the unpushed tip of the local main branch, sync tells the user to push or merge',
      change(TIP, (folder) => {
        writeFiles(folder, greets('Mine'));
        commitAll(folder, 'Mine');
        git(folder, 'checkout', '--quiet', '--detach', 'HEAD');
      }),
      NOT_MERGED,
    ],
    [
      'If the local main branch has diverged from the remote branch, sync tells the user to pull and push, or to merge',
      change(TIP, (folder, { merge }) => {
        writeFiles(folder, greets('Mine'));
        commitAll(folder, 'Mine');
        merge({ [PATH]: promptText('greeting', { text: 'Yours' }) });
      }),
      NOT_MERGED,
    ],
    [
      'sync refuses a clone with several remotes if it cannot tell which remote to compare with',
      makeFork('mine', null),
      'unknown-newest',
    ],
    ['sync refuses to write if the remote repository is missing', LOST, 'unknown-newest'],
    [
      'sync refuses to write if the remote repository has no branches',
      change(TIP, (_, { origin }) => git(origin, 'update-ref', '-d', MAIN)),
      'unknown-newest',
    ],
    [
      'sync refuses to write if the current branch has no commits',
      change(TIP, (folder) => git(folder, 'checkout', '--quiet', '--orphan', 'x')),
      'unknown-newest',
    ],
  ])('%s', async (_, scene, expected) => {
    expect(await refusal(scene(makeTeam()))).toBe(`guard/${expected}`);
  });
});

describe('the error for an unmerged commit', () => {
  test('The error for an unmerged commit names the tip of the remote branch and the only file that differs', async () => {
    const team = makeTeam();
    const folder = UNMERGED(team);
    const [head, first] = [git(folder, 'rev-parse', 'HEAD'), team.first].map((id) => id.trim().slice(0, 12));
    const { message } = (await findProblem(folder)) ?? {};
    expect(message).toBe(
      `Commit ${head} is not merged into origin/main, so nothing was synced. origin/main is at ${first}. The two commits differ in \`${PATH}\`.`,
    );
  });

  test('If several files differ, the error for an unmerged commit gives their number', async () => {
    const team = makeTeam();
    const folder = team.clone();
    writeFiles(folder, { ...greets('Mine'), 'prompts/new.md': promptText('new') });
    const head = commitAll(folder, 'Mine');
    const { message } = (await findProblem(folder)) ?? {};
    const [mine, first] = [head, team.first].map((id) => id.slice(0, 12));
    expect(message).toBe(
      `Commit ${mine} is not merged into origin/main, so nothing was synced. origin/main is at ${first}. The two commits differ in 2 files.`,
    );
  });
});

describe('sync', () => {
  const SYNC = ['sync', '--yes'];

  /** Makes a team whose first commit is synced, and its service without recorded writes. */
  async function makeSyncedTeam(): Promise<{ readonly team: Team; readonly service: TestService }> {
    const [team, service] = [makeTeam(), await startTestService(['greeting', 'refund'])];
    expect((await run(team.clone(), SYNC, service)).exitCode).toBe(0);
    service.takeWrites();
    return { team, service };
  }

  test.each<[string, Scene, string]>([
    ['sync from an outdated clone does not reset staging to an old version', STALE, 'guard/superseded'],
    ['sync in a rerun of an old CI job does not reset staging to an old version', OLD_JOB, 'guard/superseded'],
    ['sync activates no version from an unmerged local branch', UNMERGED, 'guard/not-merged'],
    [
      'sync writes nothing if the remote repository is unavailable',
      change(UNMERGED, (_, { origin }) => rmSync(origin, { recursive: true })),
      'guard/unknown-newest',
    ],
  ])('%s', async (_, scene, code) => {
    const { team, service } = await makeSyncedTeam();
    const folder = scene(team);
    if (code === 'guard/superseded') expect((await run(team.clone(), SYNC, service)).exitCode).toBe(0);
    service.takeWrites();
    expect(await run(folder, ['plan'], service)).toMatchObject({ exitCode: 0 });
    const { exitCode, report } = await runJson(folder, SYNC, service);
    const [greeting, refund] = report.prompts;
    expect([exitCode, greeting?.status, refund?.status]).toEqual([3, 'blocked', 'unchanged']);
    expect(greeting?.problems).toMatchObject([{ code }]);
    expect(service.takeWrites()).toEqual([]);
    expect(await run(folder, [...SYNC, '--any-commit'], service)).toMatchObject({ exitCode: 0 });
    expect(service.takeWrites()).not.toEqual([]);
  });

  test('sync applies a merged commit even if an unrelated commit was pushed afterward', async () => {
    const { team, service } = await makeSyncedTeam();
    team.merge(greets('Merged'));
    const folder = makeOutdated(WORDS)(team);
    expect(await runJson(folder, SYNC, service)).toMatchObject({ exitCode: 0, report: { problems: [] } });
    expect(service.takeWrites()).toHaveLength(3);
  });

  test('sync contacts no git remote if it has nothing to write or if it writes to the embedded service', async () => {
    const { team, service } = await makeSyncedTeam();
    const folder = LOST(team);
    expect(await run(folder, SYNC, service)).toMatchObject({ exitCode: 0 });
    writeFiles(folder, {
      'promptsync.yaml': `${CONFIG}service: { embedded: .promptsync/service.db }\n`,
      ...greets('Mine'),
    });
    commitAll(folder, 'Try it');
    expect(await run(folder, SYNC)).toMatchObject({ exitCode: 0 });
  });

  test('sync refuses a commit that becomes outdated while sync waits for confirmation', async () => {
    const { team, service } = await makeSyncedTeam();
    team.merge(greets('Merged'));
    const folder = team.clone();
    const onError = (text: string): void => void (text.includes('Apply?') && team.merge(greets('Newest')));
    const ran = await run(folder, ['sync'], { ...service, terminal: true, input: 'y\n', onError });
    expect(ran.exitCode).toBe(3);
    expect(service.takeWrites()).toEqual([]);
  });

  test('sync warns if a newer commit is merged while sync is running', async () => {
    const { team, service } = await makeSyncedTeam();
    team.merge(greets('Merged'));
    const folder = team.clone();
    let newest = '';
    const { baseUrl } = await startFront({
      target: service.baseUrl,
      answer: ({ method }) => {
        if (method !== 'GET' && newest === '') newest = team.merge(greets('Newest'));
        return null;
      },
    });
    const environment = { ...service.environment, PROMPTSYNC_BASE_URL: baseUrl };
    const { exitCode, report } = await runJson(folder, SYNC, { environment });
    expect(exitCode).toBe(0);
    expect(report.problems).toMatchObject([
      { code: 'guard/overtaken', message: expect.stringContaining(newest.slice(0, 12)) },
    ]);
  });
});
