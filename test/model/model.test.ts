import { expect, test } from 'vitest';
import { checkSequence, renderBroken, seedOf } from './check-sequence.ts';
import { SEED } from '../support/seed.ts';
import type { Statistics } from './situations.ts';

/** `npm run model` plays many more. */
const SEQUENCES = 40;
const COMMANDS = 100;

test('Whatever is edited, cut short and done by others: no law is broken', async () => {
  const statistics: Statistics = new Map();
  for (let number = 0; number < SEQUENCES; number += 1) {
    const broken = await checkSequence(seedOf(SEED, number), COMMANDS, statistics);
    if (broken !== null) expect.fail(renderBroken(broken, COMMANDS));
  }
  expect(statistics.get('commands')).toBeGreaterThan(SEQUENCES);
  expect(statistics.get('versions made by the tool')).toBeGreaterThan(SEQUENCES);
});
