import { CLI, type Bench } from '../core/bench.ts';
import type { Case, Group } from '../core/case.ts';
import { runNode } from '../core/measure.ts';

const NODE = 'node -e 0';
const node = { run: () => runNode(['-e', '0']) };

const offline: Case = {
  title: 'start-up',
  rounds: 21,
  targets: [
    { shows: '--help', of: 'promptsync --help', to: NODE, figure: 'milliseconds', atMost: 2 },
    {
      shows: 'validate on ten files',
      of: 'promptsync validate, 10 files',
      to: NODE,
      figure: 'milliseconds',
      atMost: 4,
    },
  ],
  prepare: async (bench: Bench) => {
    const cwd = bench.repository(10);
    return {
      [NODE]: node,
      'promptsync --help': { run: () => runNode([CLI, '--help']) },
      'promptsync validate, 10 files': { run: () => runNode([CLI, 'validate'], { cwd }) },
    };
  },
};

const dryRun: Case = {
  title: 'a dry run on ten prompts, 0 ms',
  rounds: 11,
  prepare: async (bench) => {
    const standIn = await bench.standIn('prompts');
    await standIn.delay(0);
    await standIn.stock({ count: 10, behind: 1 });
    const folder = bench.repository(10);
    return { [NODE]: node, 'promptsync plan, 10 prompts': { run: () => bench.promptsync(folder, 'plan') } };
  },
};

export const startUp: Group = {
  name: 'start-up',
  about: 'the cost of starting, compared with an empty Node process',
  cases: [offline, dryRun],
};
