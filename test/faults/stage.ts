import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import type { Kept, Service } from './calls.ts';
import { TIMEOUT } from './deadlines.ts';
import type { Act } from './faults.ts';
import { inPeace, startFaultyFront, type Arrival, type Trouble } from './faulty-front.ts';
import { servedText } from './laws.ts';
import { filesOf, wantedOf, type Commit, type State, type Wanted } from './states.ts';
import { childEnvironment, CLI, spawnNode, type Started } from '../support/cli.ts';
import { commitAll, git, initRepository, writeFiles } from '../support/folder.ts';
import { CONFIG } from '../support/prompts.ts';
import { run, type Ran, type RunOptions } from '../support/run.ts';

/** The state of a service at one moment. */
export type Snapshot = ReturnType<typeof takeSnapshot>;

function takeSnapshot(kept: Kept, wanted: readonly Wanted[]) {
  const placeOf = (...words: readonly string[]): string => words.join(' ');
  const active = new Map(
    wanted.map(({ promptId: id, environment }) => [placeOf(id, environment), kept.active(id, environment)] as const),
  );
  const fields = new Map(wanted.map(({ promptId }) => [promptId, kept.fields(promptId)]));
  return {
    versions: kept.versions(),
    active: (promptId: string, environment: string) => active.get(placeOf(promptId, environment)) ?? null,
    fields: (promptId: string) => fields.get(promptId) ?? null,
  };
}

/** One run with the states of the service before and after it. */
export type RunRecord = Ran & {
  readonly service: Service;
  readonly arrivals: readonly Arrival[];
  readonly before: Snapshot;
  readonly after: Snapshot;
};

/** The repository of a scene with its own service and the faulty front in between. */
export type Stage = Awaited<ReturnType<typeof openStage>>;

async function openStage(scene: Scene, elsewhere: string) {
  const { service } = scene.state;
  const kept = await scene.open();
  const served = new Set<string>();
  const look = (): void => {
    for (const { promptId, environment } of scene.wanted) {
      served.add(servedText(promptId, environment, kept.active(promptId, environment)));
    }
  };
  look();
  const servedFirst = new Set(served);
  const front = await startFaultyFront({ service, kept, elsewhere, onDone: look });
  const environment = service.environment(front.baseUrl);
  const snapshot = () => takeSnapshot(kept, scene.wanted);
  /** Does some work that counts as one run. */
  const during = async (trouble: Trouble, work: () => Promise<Ran>): Promise<RunRecord> => {
    const before = snapshot();
    front.begin(trouble);
    const ran = await work();
    await front.end();
    return { ...ran, service, arrivals: front.arrivals(), before, after: snapshot() };
  };
  return {
    ...{ scene, kept, front, environment, during },
    /** The state of the service when the stage was opened. */
    first: snapshot(),
    /** Everything that pinned environments have served since the stage was opened, and what they served at first. */
    ...{ served, servedFirst },
    /** Runs a command line in this process. It does not really wait, because late work counts requests. */
    run: (words: readonly string[], trouble = inPeace, options: RunOptions = {}) =>
      during(trouble, () => run(scene.folder, words, { environment, sleep: async () => {}, ...options })),
    close: async () => {
      await front.close();
      await kept.close();
    },
  };
}

/** Does some work on its own stage and closes the stage afterwards. */
export async function onStage<Result>(
  scene: Scene,
  elsewhere: string,
  work: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  const stage = await openStage(scene, elsewhere);
  try {
    return await work(stage);
  } finally {
    await stage.close();
  }
}

/** Starts promptsync in a child process, so that a concurrent test can kill it. */
export function startChild({ scene, environment }: Stage, words: readonly string[], entry = CLI): Started {
  return spawnNode(entry, words, { cwd: scene.folder, environment: childEnvironment(environment) });
}

/** A prepared state: a repository and the content of the service. Cells share it, because a sync changes neither. */
export type Scene = {
  readonly state: State;
  readonly folder: string;
  /** The content that each pinned environment must serve in the end. */
  readonly wanted: readonly Wanted[];
  /** Opens a service double with the prepared state. */
  readonly open: () => Promise<Kept>;
};

/** Returns a function that makes each scene once, on first use. Removes all scenes after the last test of the file. */
export function makeScenes(): (state: State) => Promise<Scene> {
  const made = new Map<State, Promise<Scene>>();
  const above = realpathSync(mkdtempSync(join(tmpdir(), 'promptsync-faults-')));
  afterAll(() => rmSync(above, { recursive: true, force: true }));
  return (state) => {
    const scene = made.get(state) ?? makeScene(state, mkdtempSync(join(above, 'scene-')));
    made.set(state, scene);
    return scene;
  };
}

async function makeScene(state: State, folder: string): Promise<Scene> {
  const { service, commits, settings = '' } = state;
  writeFiles(folder, { 'promptsync.yaml': `${CONFIG}${service.settings}${settings}timeout_seconds: ${TIMEOUT}\n` });
  initRepository(folder);
  const wanted = wantedOf(state);
  let open = () => openAdopted(state);
  for (const [index, commit] of commits.entries()) {
    writeFiles(folder, filesOf(service, commit));
    commitAll(folder, `Commit ${index + 1}`);
    if (commit.tag !== undefined) git(folder, 'tag', commit.tag);
    const synced = index < commits.length - 1 && commit.unsynced !== true;
    if (synced) open = await afterSync({ state, folder, wanted, open }, commit);
  }
  return { state, folder, wanted, open };
}

async function openAdopted({ service, adopted = [] }: State): Promise<Kept> {
  const kept = await service.open();
  for (const { text, in: environment } of adopted) kept.add(text, environment);
  return kept;
}

/** Syncs a commit and returns a function that opens the resulting state of the service. */
async function afterSync(scene: Scene, { drafts = [], left, cutOff }: Commit): Promise<Scene['open']> {
  return onStage(scene, '', async ({ run, kept }) => {
    const ran = await run(['sync', '--yes'], cutOff ? cutAfterCreate() : inPeace);
    expect(ran.exitCode).toBe(cutOff ? 4 : 0);
    for (const text of drafts) kept.add(text);
    if (left !== undefined) kept.leave?.(...left);
    return kept.copy();
  });
}

/** Cuts all connections after the first create call has created its version. */
function cutAfterCreate(): Trouble {
  let lost = false;
  const act: Act = async ({ commit, response }) => {
    if (!lost) await commit();
    lost = true;
    response.destroy();
  };
  return ({ call }) => (lost || call === 'create' ? act : null);
}
