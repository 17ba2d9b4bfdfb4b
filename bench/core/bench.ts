import { join } from 'node:path';
import package_ from '../../package.json' with { type: 'json' };
import { buildFloor, type FloorName } from '../floor/build.ts';
import { startStandIn, type StandIn, type StandInName } from '../stand-ins/start.ts';
import type { Stock } from '../stand-ins/service.ts';
import type { Sample, Run } from './measure.ts';
import { runNode } from './measure.ts';
import { API_KEY } from './prompts.ts';
import { GIT_ENVIRONMENT, makeFolder, makeRepository, removeFolder, type RepositoryOptions } from './repository.ts';

/** The path of the built command line, which the package installs. */
export const CLI = join(import.meta.dirname, '../..', package_.bin.promptsync);

/**
 * The functions that make the parts of a case. Repositories, stand-ins and loops are made once and shared between
 * cases. `close` removes all of them.
 */
export type Bench = {
  /** Makes a git repository with this many prompt files. Its last commit edits the first file. */
  readonly repository: (count: number, options?: RepositoryOptions) => string;
  /** Makes an empty folder. */
  readonly folder: () => string;
  /** Starts the stand-in for a service. */
  readonly standIn: (name: StandInName) => Promise<StandIn>;
  /** Runs the built command line in a folder, against the stand-in for the four-call service. */
  readonly promptsync: (folder: string, ...args: readonly string[]) => Promise<Run>;
  /** Runs a bare loop of `floor/`, or the serial peer, in a separate process. */
  readonly floor: (name: FloorName, ...args: readonly string[]) => Promise<Sample>;
  /** Registers a function that `close` calls after all measurements. */
  readonly atEnd: (cleanUp: () => unknown) => void;
};

export type OpenBench = Bench & { readonly close: () => Promise<void> };

export function openBench(): OpenBench {
  const cleanUps: (() => unknown)[] = [];
  const cache = new Map<string, unknown>();
  const once = <Value>(key: string, make: () => Value): Value => {
    if (!cache.has(key)) cache.set(key, make());
    return cache.get(key) as Value;
  };
  const makeTemporaryFolder = (make: () => string): string => {
    const path = make();
    cleanUps.push(() => removeFolder(path));
    return path;
  };
  const startStandInOnce = (name: StandInName): Promise<StandIn> =>
    once(name, async () => {
      const started = await startStandIn(name);
      cleanUps.push(started.stop);
      return started;
    });
  return {
    repository: (count, { withoutNumbers = false } = {}) =>
      once(`repository ${count} ${withoutNumbers}`, () =>
        makeTemporaryFolder(() => makeRepository(count, { withoutNumbers })),
      ),
    folder: () => makeTemporaryFolder(makeFolder),
    standIn: startStandInOnce,
    promptsync: async (cwd, ...args) => {
      const { baseUrl } = await startStandInOnce('prompts');
      const service = { PROMPTSYNC_BASE_URL: baseUrl, PROMPTSYNC_API_KEY: API_KEY };
      return runNode([CLI, ...args], { cwd, environment: { ...GIT_ENVIRONMENT, ...service } });
    },
    floor: async (name, ...args) => {
      const script = await once(`floor ${name}`, () => buildFloor(name, makeTemporaryFolder(makeFolder)));
      return runNode([script, ...args]);
    },
    atEnd: (cleanUp) => void cleanUps.push(cleanUp),
    close: async () => {
      for (const cleanUp of cleanUps.toReversed()) await cleanUp();
    },
  };
}

/** Fills the service, runs the subject, and returns the sample with the number of requests. */
export async function against(standIn: StandIn, stock: Stock, run: () => Promise<Sample>): Promise<Sample> {
  await standIn.stock(stock);
  await standIn.begin();
  const sample = await run();
  return { ...sample, requests: await standIn.count() };
}
