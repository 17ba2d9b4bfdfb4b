import { against, type Bench } from '../core/bench.ts';
import type { Case, Group, Subject, Subjects, Target } from '../core/case.ts';
import { PEERS } from '../peers/install.ts';
import { prepareLangWatchSync } from '../peers/langwatch.ts';
import { prepareRdmeUpload } from '../peers/rdme.ts';
import type { StandInName } from '../stand-ins/start.ts';

const SYNC = 'promptsync sync (3 reads of each)';
const SYNC_64 = 'promptsync sync, concurrency: 64';
const SERIAL = 'our own serial loop (1 read of each)';
const LANGWATCH = `langwatch ${PEERS.langwatch.version} prompt sync (serial)`;
const RDME = `rdme ${PEERS.rdme.version} docs upload (serial, writes each page)`;
const RDME_DRY = `rdme ${PEERS.rdme.version} docs upload --dry-run (serial)`;
const NOT_INSTALLED = 'skipped, because the peer could not be installed';

/**
 * A program that users may run instead of promptsync. No peer knows environments, so each does less than promptsync.
 */
type Peer = {
  readonly name: string;
  readonly service: StandInName;
  /** Prepares the runs of the peer. Returns null if the peer could not be installed. */
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
    const run = await prepareLangWatchSync(count, bench);
    return run === null ? null : { [LANGWATCH]: { run } };
  },
};

const rdme: Peer = {
  name: 'rdme docs upload',
  service: 'readme',
  prepare: async (count, bench) => {
    const runs = await prepareRdmeUpload(count, bench);
    return runs === null ? null : { [RDME]: { run: runs.upload }, [RDME_DRY]: { run: runs.dryRun } };
  },
};

type Setting = readonly [count: number, latency: number, rounds: number];

function makePeerCase(peer: Peer, [count, latency, rounds]: Setting, more: Partial<Case> = {}): Case {
  return {
    title: `beside ${peer.name}: ${count.toLocaleString('en')} prompts, ${latency} ms, nothing changed`,
    rounds,
    ...more,
    prepare: async (bench) => {
      const peerSubjects = await peer.prepare(count, bench);
      if (peerSubjects === null) return NOT_INSTALLED;
      const [service, prompts] = [await bench.standIn(peer.service), await bench.standIn('prompts')];
      await prompts.stock({ count, behind: 0 });
      for (const standIn of [service, prompts]) await standIn.delay(latency);
      const countedSubjects = Object.entries(peerSubjects).map(([name, { run }]): [string, Subject] => [
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
      const ownSubjects = { [SYNC]: { run: sync('default.yaml') }, [SYNC_64]: { run: sync('wide.yaml') } };
      return { ...Object.fromEntries(countedSubjects), ...ownSubjects };
    },
  };
}

const tenTimesFaster: Target = {
  shows: 'no-op sync of 1,000 prompts at 20 ms, concurrency: 64, beside a serial peer that reads each once',
  of: SYNC_64,
  to: SERIAL,
  figure: 'milliseconds',
  atMost: 0.1,
};

export const peers: Group = {
  name: 'peers',
  about: [
    'programs that users may run instead, unchanged from the registry, against a stand-in of their service with the same latency;',
    'langwatch gets the address of the stand-in from its own variable, and a preload redirects the requests of rdme',
  ].join(' '),
  cases: [
    ...[serial, langWatch, rdme].map((peer) => makePeerCase(peer, [50, 0, 3])),
    ...[serial, langWatch, rdme].map((peer) => makePeerCase(peer, [50, 20, 1])),
    makePeerCase(serial, [1_000, 20, 1], { targets: [tenTimesFaster] }),
    makePeerCase(langWatch, [1_000, 20, 1]),
    makePeerCase(rdme, [1_000, 20, 1], { long: true }),
  ],
};
