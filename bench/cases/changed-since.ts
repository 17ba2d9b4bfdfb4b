import { against, type Bench } from '../core/bench.ts';
import type { Group } from '../core/case.ts';

const SMALL = 'one changed of 10';
const LARGE = 'one changed of 10,000';
const FLAG = '--changed-since';

async function prepareOneChange(count: number, bench: Bench) {
  const standIn = await bench.standIn('prompts');
  const folder = bench.repository(count);
  await standIn.stock({ count, behind: 0 });
  await bench.promptsync(folder, 'sync', '--yes');
  const sync = () => bench.promptsync(folder, 'sync', '--yes', FLAG, 'HEAD~1');
  return { run: () => against(standIn, { count, behind: 1 }, sync) };
}

export const changedSince: Group = {
  name: 'changed-since',
  about: 'a sync of one changed prompt, in a repository of 10 prompts and in a repository of 10,000',
  cases: [
    {
      title: `sync ${FLAG} HEAD~1, 0 ms`,
      rounds: 7,
      targets: [
        { shows: `one changed of 10,000 with ${FLAG}, requests`, of: LARGE, to: SMALL, figure: 'requests', atMost: 1 },
      ],
      prepare: async (bench) => {
        const help = await bench.promptsync(bench.folder(), 'sync', '--help');
        if (!help.stdout.includes(FLAG)) return `promptsync has no flag ${FLAG}`;
        await (await bench.standIn('prompts')).delay(0);
        return { [SMALL]: await prepareOneChange(10, bench), [LARGE]: await prepareOneChange(10_000, bench) };
      },
    },
  ],
};
