import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mergedAndNewest, type NewestOptions } from '../../src/commands/merged-and-newest.ts';
import { readDesired } from '../../src/desired/read-desired.ts';
import { openWorkspace } from '../../src/desired/workspace.ts';
import { commitAll, type Files, git, initRepository, makeFolder, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { CONFIG, promptText, workspaceFiles } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { makeWorld } from '../support/world.ts';

const PATH = 'prompts/greeting.md';
const greets = (text: string) => ({ [PATH]: promptText('greeting', { text }) });
const MAIN = 'refs/heads/main';
const WORDS = { 'README.md': 'Words' };

/** Paths to contents; null takes a file away. */
type Edits = Readonly<Record<string, Files[string] | null>>;

/** A bare remote, and the desk of a colleague who pushes to its main. */
type Team = {
  readonly origin: string;
  /** Commits to a branch of the remote, and returns the commit. */
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

/** Makes a clone in the state that a row is about, and returns it. */
type Scene = (team: Team) => string;

/** A clone (with these words for git) that something is merged behind the back of. */
function behind(edits: Edits, ...words: readonly string[]): Scene {
  return ({ clone, merge }) => {
    const made = clone(...words);
    merge(edits);
    return made;
  };
}

/** A clone with a commit on a branch of its own. */
function branch(files: Files, ...words: readonly string[]): Scene {
  return ({ clone }) => {
    const made = clone(...words);
    git(made, 'switch', '--quiet', '--create', 'change');
    writeFiles(made, files);
    commitAll(made, 'Change');
    return made;
  };
}

/** A scene, and then something is done to the clone or the remote. */
function then(scene: Scene, change: (folder: string, team: Team) => unknown): Scene {
  return (team) => {
    const folder = scene(team);
    change(folder, team);
    return folder;
  };
}

/** A clone whose own remote is a fork that is behind `upstream`; main is at the tip of that. */
function fork(own: string, tracked: string | null): Scene {
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
const STALE = behind(greets('Newest'));
/** What another CI runs once more. */
const OLD_JOB = then(STALE, (folder) => git(folder, 'checkout', '--quiet', '--detach', 'HEAD'));
const UNMERGED = branch(greets('Mine'));
const TOO_EARLY: Scene = ({ merge, clone }) => (merge(greets('Too early')), clone());
const LOST = then(TIP, (_, { origin }) => rmSync(origin, { recursive: true }));

type Asked = Partial<NewestOptions> & { readonly changedSince?: string };

/** The code of what a sync is refused for, and what its hint says to do; empty where it is not. */
async function refusal(folder: string, options: Asked = {}): Promise<string> {
  const world = makeWorld(folder, { PROMPTSYNC_BASE_URL: 'http://127.0.0.1:9' });
  const all = { only: [], ...options };
  const { config, ...workspace } = await openWorkspace(all, world);
  if (config === null) throw new Error('there is no configuration');
  const desired = await readDesired({ config, ...workspace }, all);
  if ('code' in desired) throw new Error(desired.message);
  const [problem] = await mergedAndNewest(desired, all);
  if (problem === undefined) return '';
  return [
    problem.code,
    ...(/git pull|Merge it/.exec(problem.hint) ?? []),
    ...(/if this .*?,/.exec(problem.hint) ?? []),
  ].join(' ');
}

describe('what is merged and newest is written from:', () => {
  test.each<[string, Scene, Asked?]>([
    ['a clone at the tip', TIP],
    ['a detached HEAD at the tip', then(TIP, (folder) => git(folder, 'checkout', '--quiet', '--detach', 'HEAD'))],
    ['a clone of depth 1 at the tip', ({ clone }) => clone('--depth', '1')],
    ['a newer commit that touches no prompt', behind(WORDS)],
    ['the same in a clone of depth 1', behind(WORDS, '--depth', '1')],
    [
      'a branch whose squash merge has the same files',
      then(UNMERGED, (_, { merge }) => merge({ ...WORDS, ...greets('Mine') })),
    ],
    ['a branch that touches no prompt', branch(WORDS)],
    [
      'edits that are not committed, which are another guard’s',
      then(TIP, (folder) => writeFiles(folder, greets('Edited'))),
    ],
    ['a fork with several remotes, whose main tracks one of them', fork('origin', 'upstream')],
    ['a prompt that is as it was merged, among others that are not', STALE, { only: ['refund'] }],
    ['what was changed since a commit, among others that are not', STALE, { changedSince: 'HEAD' }],
    ['any commit, where that is asked for', LOST, { anyCommit: true }],
    ['a repository without a remote', then(UNMERGED, (folder) => git(folder, 'remote', 'remove', 'origin'))],
  ])('%s', async (_, scene, options) => {
    expect(await refusal(scene(makeTeam()), options)).toBe('');
  });

  test('the branch that the configuration names, whatever the default one is at', async () => {
    const team = makeTeam(workspaceFiles({ greeting: {} }, `${CONFIG}branch: live\n`));
    team.merge(greets('Live'), 'live');
    expect(await refusal(team.clone('--branch', 'live'))).toBe('');
    expect(await refusal(team.clone())).toBe('guard/superseded git pull');
  });

  test('a folder of the repository, whatever is merged beside it', async () => {
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

describe('refused is', () => {
  const BEHIND = 'superseded git pull';
  const EITHER = 'superseded git pull if this clone is behind,';
  const NOT_MERGED = 'not-merged Merge it';
  test.each<[string, Scene, string]>([
    ['a clone that is behind', STALE, BEHIND],
    ['one of depth 1, of which that is not known', behind(greets('Newest'), '--depth', '1'), EITHER],
    ['an old commit, detached', OLD_JOB, BEHIND],
    ['a prompt that was added since', behind({ 'prompts/new.md': promptText('new') }), BEHIND],
    ['a prompt that was taken away since', behind({ [PATH]: null }), BEHIND],
    ['a configuration that was changed since', behind({ 'promptsync.yaml': `${CONFIG}on_drift: fail\n` }), BEHIND],
    ['a branch that is not merged', UNMERGED, NOT_MERGED],
    ['one in a clone of depth 1', branch(greets('Mine'), '--depth', '1'), EITHER],
    [
      'a commit that a push with force took back',
      then(TOO_EARLY, (_, { origin, first }) => git(origin, 'update-ref', MAIN, first)),
      NOT_MERGED,
    ],
    ['a fork whose main tracks none of several remotes', fork('origin', null), NOT_MERGED],
    ['the same where none is called origin', fork('mine', null), 'unknown-newest'],
    ['a remote that is gone', LOST, 'unknown-newest'],
    [
      'a remote that has no branch yet',
      then(TIP, (_, { origin }) => git(origin, 'update-ref', '-d', MAIN)),
      'unknown-newest',
    ],
    [
      'what was never committed',
      then(TIP, (folder) => git(folder, 'checkout', '--quiet', '--orphan', 'x')),
      'unknown-newest',
    ],
  ])('%s', async (_, scene, expected) => {
    expect(await refusal(scene(makeTeam()))).toBe(`guard/${expected}`);
  });
});

describe('a sync', () => {
  const SYNC = ['sync', '--yes'];

  /** A team whose first commit is synced, and what its service is asked to write from then on. */
  async function inSync(): Promise<{ readonly team: Team; readonly service: TestService }> {
    const [team, service] = [makeTeam(), await startTestService(['greeting', 'refund'])];
    expect((await run(team.clone(), SYNC, service)).exitCode).toBe(0);
    service.takeWrites();
    return { team, service };
  }

  test.each<[string, Scene, string]>([
    ['of a clone that is behind does not put staging back', STALE, 'guard/superseded'],
    ['of an old job that is run again does not either', OLD_JOB, 'guard/superseded'],
    ['of a laptop brings no branch live that is not merged', UNMERGED, 'guard/not-merged'],
    [
      'without an answer of the remote writes nothing',
      then(UNMERGED, (_, { origin }) => rmSync(origin, { recursive: true })),
      'guard/unknown-newest',
    ],
  ])('%s', async (_, scene, code) => {
    const { team, service } = await inSync();
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

  test('of what was merged is made although a bot has committed something else since', async () => {
    const { team, service } = await inSync();
    team.merge(greets('Merged'));
    const folder = behind(WORDS)(team);
    expect(await runJson(folder, SYNC, service)).toMatchObject({ exitCode: 0, report: { problems: [] } });
    expect(service.takeWrites()).toHaveLength(3);
  });

  test('that has nothing to write, and one to the embedded service, ask no remote', async () => {
    const { team, service } = await inSync();
    const folder = LOST(team);
    expect(await run(folder, SYNC, service)).toMatchObject({ exitCode: 0 });
    writeFiles(folder, {
      'promptsync.yaml': `${CONFIG}service: { embedded: .promptsync/service.db }\n`,
      ...greets('Mine'),
    });
    commitAll(folder, 'Try it');
    expect(await run(folder, SYNC)).toMatchObject({ exitCode: 0 });
  });

  test('asks after the question was answered', async () => {
    const { team, service } = await inSync();
    team.merge(greets('Merged'));
    const folder = team.clone();
    const onError = (text: string): void =>
      void (text.includes('Apply these changes?') && team.merge(greets('Newest')));
    const ran = await run(folder, ['sync'], { ...service, terminal: true, input: 'y\n', onError });
    expect(ran.exitCode).toBe(3);
    expect(service.takeWrites()).toEqual([]);
  });

  test('that is overtaken by a merge names the commit whose sync has to follow', async () => {
    const { team, service } = await inSync();
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
    expect(report.problems).toMatchObject([{ code: 'guard/overtaken', message: expect.stringContaining(newest) }]);
  });
});
