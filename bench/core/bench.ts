import { join } from 'node:path';
import package_ from '../../package.json' with { type: 'json' };
import { buildFloor, type FloorName } from '../floor/build.ts';
import { startStandIn, type StandIn, type StandInName } from '../stand-ins/start.ts';
import type { Stock } from '../stand-ins/service.ts';
import type { Sample } from './case.ts';
import { runNode } from './measure.ts';
import { API_KEY } from './prompts.ts';
import { GIT_ENVIRONMENT, makeFolder, makeRepository, removeFolder, type RepositoryOptions } from './repository.ts';

/** As the package installs it. */
export const CLI = join(import.meta.dirname, '../..', package_.bin.promptsync);

/** What cases are made of. Repositories, stand-ins and loops are made once; all of it is removed in the end. */
export type Bench = {
  /** A git repository with so many prompt files, the last commit of which edits the first one. */
  readonly repository: (count: number, options?: RepositoryOptions) => string;
  /** An empty folder. */
  readonly folder: () => string;
  readonly standIn: (name: StandInName) => Promise<StandIn>;
  /** Runs the built command line in a folder, against the stand-in of the prompt service. */
  readonly promptsync: (folder: string, ...words: readonly string[]) => Promise<Sample & { readonly stdout: string }>;
  /** Runs a bare loop of `floor/` in a process of its own. */
  readonly floor: (name: FloorName, ...words: readonly string[]) => Promise<Sample>;
  /** Called when all is measured. */
  readonly atEnd: (end: () => unknown) => void;
};

export type OpenBench = Bench & { readonly close: () => Promise<void> };

export function openBench(): OpenBench {
  const ends: (() => unknown)[] = [];
  const made = new Map<string, unknown>();
  const once = <Value>(key: string, make: () => Value): Value => {
    if (!made.has(key)) made.set(key, make());
    return made.get(key) as Value;
  };
  const folder = (make: () => string): string => {
    const path = make();
    ends.push(() => removeFolder(path));
    return path;
  };
  const standIn = (name: StandInName): Promise<StandIn> =>
    once(name, async () => {
      const started = await startStandIn(name);
      ends.push(started.stop);
      return started;
    });
  return {
    repository: (count, options = {}) =>
      once(`repository ${count} ${JSON.stringify(options)}`, () => folder(() => makeRepository(count, options))),
    folder: () => folder(makeFolder),
    standIn,
    promptsync: async (cwd, ...words) => {
      const { baseUrl } = await standIn('prompts');
      const service = { PROMPTSYNC_BASE_URL: baseUrl, PROMPTSYNC_API_KEY: API_KEY };
      return runNode([CLI, ...words], { cwd, environment: { ...GIT_ENVIRONMENT, ...service } });
    },
    floor: async (name, ...words) => {
      const script = await once(`floor ${name}`, () => buildFloor(name, folder(makeFolder)));
      return runNode([script, ...words]);
    },
    atEnd: (end) => void ends.push(end),
    close: async () => {
      for (const end of ends.toReversed()) await end();
    },
  };
}

/** The service as it is to be found, then the run, with the number of its requests. */
export async function against(standIn: StandIn, stock: Stock, run: () => Promise<Sample>): Promise<Sample> {
  await standIn.stock(stock);
  await standIn.begin();
  const sample = await run();
  return { ...sample, requests: await standIn.count() };
}
