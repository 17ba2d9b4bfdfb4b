import type { Case, Group } from '../core/case.ts';

const LOOP = 'bare loop: read, split, parse, hash';
const VALIDATE = 'promptsync validate';

function makeParsingCase(count: number, rounds: number, targets: Case['targets'] = []): Case {
  return {
    title: `${count.toLocaleString('en')} prompt files of 4 kB`,
    rounds,
    targets,
    prepare: async (bench) => {
      const folder = bench.repository(count);
      return {
        [LOOP]: { run: () => bench.floor('parse', folder) },
        'bare loop: read, hash': { run: () => bench.floor('hash', folder) },
        [VALIDATE]: { run: () => bench.promptsync(folder, 'validate') },
      };
    },
  };
}

export const parsing: Group = {
  name: 'parsing',
  about: 'validation of prompt files, compared with a bare loop that reads and parses them but checks nothing',
  cases: [
    makeParsingCase(50, 5),
    makeParsingCase(1_000, 5),
    makeParsingCase(10_000, 7, [
      { shows: '10,000 prompt files, validated', of: VALIDATE, to: LOOP, figure: 'milliseconds', atMost: 1.4 },
      { shows: '10,000 × 4 kB validated, peak memory', of: VALIDATE, figure: 'peak', atMost: 350 },
    ]),
  ],
};
