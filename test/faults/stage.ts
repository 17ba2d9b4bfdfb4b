import { startServer } from '../../src/embedded/server.ts';
import type { Report } from '../../src/report/schema.ts';
import { parseReport } from '../support/report.ts';
import { run, type Ran, type RunOptions } from '../support/run.ts';
import { KEY } from '../support/service.ts';
import { MAIN } from './calls.ts';
import { inPeace, startFaultyFront, type Arrival, type FaultyFront, type Trouble } from './faulty-front.ts';
import { openKeptStore, takeSnapshot, type KeptStore, type Snapshot } from './kept-store.ts';
import type { Scene } from './scene.ts';
import { servedText } from './served.ts';

/** One run with what it found and what it left. */
export type RunRecord = Ran & {
  readonly arrivals: readonly Arrival[];
  readonly before: Snapshot;
  readonly after: Snapshot;
};

/** A scene's repository before a service of its own, with the faulty front in between. */
export type Stage = {
  readonly scene: Scene;
  readonly kept: KeptStore;
  readonly front: FaultyFront;
  readonly environment: Readonly<Record<string, string>>;
  /** What pinned environments have served at any moment since the stage was opened. */
  readonly served: ReadonlySet<string>;
  /** What they served when it was opened. */
  readonly servedFirst: ReadonlySet<string>;
  /** Does something that counts as one run. */
  readonly during: (trouble: Trouble, work: () => Promise<Ran>) => Promise<RunRecord>;
  /** Runs a command line in this process. */
  readonly run: (words: readonly string[], trouble?: Trouble, options?: RunOptions) => Promise<RunRecord>;
  readonly close: () => Promise<void>;
};

export async function openStage(scene: Scene, elsewhere: string): Promise<Stage> {
  const kept = openKeptStore(scene.writes);
  const server = await startServer({ store: kept.store, port: 0 });
  const served = new Set<string>();
  const look = (): void => {
    for (const { promptId, environment } of scene.wanted) {
      const active = kept.store.readPrompt(promptId, environment)?.active_version ?? null;
      served.add(servedText(promptId, environment, active));
    }
  };
  look();
  const servedFirst = new Set(served);
  const front = await startFaultyFront({
    target: server.baseUrl,
    elsewhere,
    intrude: () => kept.store.createVersion(MAIN, { content: 'Somebody else wrote this.' }),
    onDone: look,
  });
  const environment = { PROMPTSYNC_BASE_URL: front.baseUrl, PROMPTSYNC_API_KEY: KEY };
  const snapshot = () => takeSnapshot(kept, scene.wanted);
  const during: Stage['during'] = async (trouble, work) => {
    const before = snapshot();
    front.begin(trouble);
    const ran = await work();
    await front.end();
    return { ...ran, arrivals: front.arrivals(), before, after: snapshot() };
  };
  return {
    scene,
    kept,
    front,
    environment,
    served,
    servedFirst,
    during,
    // Nothing is waited for: what is late is late by requests, not by the clock.
    run: (words, trouble = inPeace, options = {}) =>
      during(trouble, () => run(scene.folder, words, { environment, sleep: async () => {}, ...options })),
    close: async () => {
      await front.close();
      await server.close();
      kept.store.close();
    },
  };
}

export function reportOf({ stdout }: Ran): Report {
  return parseReport(stdout);
}

/** Does something on a stage of its own, which is cleared away afterwards. */
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
