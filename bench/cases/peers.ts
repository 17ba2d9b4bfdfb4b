import { against, type Bench } from '../core/bench.ts';
import type { Case, Group, Subject, Subjects, Target } from '../core/case.ts';
import { PEERS } from '../peers/install.ts';
import { langWatchSync } from '../peers/langwatch.ts';
import { rdmeUpload } from '../peers/rdme.ts';
import type { StandInName } from '../stand-ins/start.ts';

const SYNC = 'promptsync sync (3 reads of each)';
const WIDE = 'promptsync sync, concurrency: 64';
const SERIAL = 'our own serial loop (1 read of each)';
const LANGWATCH = `langwatch ${PEERS.langwatch.version} prompt sync (serial)`;
const RDME = `rdme ${PEERS.rdme.version} docs upload (serial, writes each page)`;
const RDME_DRY = `rdme ${PEERS.rdme.version} docs upload --dry-run (serial)`;
const NOT_INSTALLED = 'skipped: could not be installed';

/** What users may run instead; none of these knows environments, so each is asked for less than promptsync is. */
type Peer = {
  readonly name: string;
  readonly service: StandInName;
  /** Null where it is not to be had here. */
  readonly prepare: (count: number, bench: Bench) => Promise<Subjects | null>;
};

const serial: Peer = {
  name: 'a serial loop',
  service: 'prompts',
  prepare: async (count, bench) => {
    const { baseUrl } = await bench.standIn('prompts');
    return { [SERIAL]: { run: () => bench.floor('serial', baseUrl, String(count)) } };
  },
};

const langWatch: Peer = {
  name: 'langwatch prompt sync',
  service: 'langwatch',
  prepare: async (count, bench) => {
    const run = await langWatchSync(count, bench);
    return run === null ? null : { [LANGWATCH]: { run } };
  },
};

const rdme: Peer = {
  name: 'rdme docs upload',
  service: 'readme',
  prepare: async (count, bench) => {
    const runs = await rdmeUpload(count, bench);
    return runs === null ? null : { [RDME]: { run: runs.upload }, [RDME_DRY]: { run: runs.dryRun } };
  },
};

type Setting = readonly [count: number, latency: number, rounds: number];

function beside(peer: Peer, [count, latency, rounds]: Setting, more: Partial<Case> = {}): Case {
  return {
    title: `beside ${peer.name}: ${count.toLocaleString('en')} prompts, ${latency} ms, nothing changed`,
    rounds,
    ...more,
    prepare: async (bench) => {
      const theirs = await peer.prepare(count, bench);
      if (theirs === null) return NOT_INSTALLED;
      const [service, prompts] = [await bench.standIn(peer.service), await bench.standIn('prompts')];
      await prompts.stock({ count, behind: 0 });
      for (const one of [service, prompts]) await one.delay(latency);
      const counted = Object.entries(theirs).map(([name, { run }]): [string, Subject] => [
        name,
        {
          run: async () => {
            await service.begin();
            const sample = await run();
            return { ...sample, requests: await service.count() };
          },
        },
      ]);
      const folder = bench.repository(count);
      const sync = (config: string) => () =>
        against(prompts, { count, behind: 0 }, () => bench.promptsync(folder, 'sync', '--yes', '--config', config));
      const ours = { [SYNC]: { run: sync('default.yaml') }, [WIDE]: { run: sync('wide.yaml') } };
      return { ...Object.fromEntries(counted), ...ours };
    },
  };
}

const tenTimes: Target = {
  shows: 'no-op sync of 1,000 prompts at 20 ms, concurrency: 64, beside a serial peer that reads each once',
  ...{ of: WIDE, to: SERIAL, figure: 'milliseconds', atMost: 0.1 },
};

export const peers: Group = {
  name: 'peers',
  about: [
    'what users may run instead, as it comes from the registry, against a stand-in of its service with the same latency;',
    'langwatch is told the address by its own variable, what rdme fetches is sent to the stand-in by a preload',
  ].join(' '),
  cases: [
    ...[serial, langWatch, rdme].map((peer) => beside(peer, [50, 0, 3])),
    ...[serial, langWatch, rdme].map((peer) => beside(peer, [50, 20, 1])),
    beside(serial, [1_000, 20, 1], { targets: [tenTimes] }),
    beside(langWatch, [1_000, 20, 1]),
    beside(rdme, [1_000, 20, 1], { long: true }),
  ],
};
