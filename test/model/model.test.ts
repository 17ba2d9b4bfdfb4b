import { expect, test } from 'vitest';
import { checkSequence, renderBroken, seedOf } from './check-sequence.ts';
import { SEED } from '../support/seed.ts';
import type { Statistics } from './situations.ts';

/** `npm run model` plays many more. */
const SEQUENCES = 30;
const COMMANDS = 100;

const PROVIDERS = ['integration', 'langfuse'] as const;

test.each(PROVIDERS)('Whatever is edited, cut short and done by others: no law is broken (%s)', async (provider) => {
  const statistics: Statistics = new Map();
  for (let number = 0; number < SEQUENCES; number += 1) {
    const broken = await checkSequence(provider, seedOf(SEED, number), COMMANDS, statistics);
    if (broken !== null) expect.fail(renderBroken(broken, COMMANDS));
  }
  expect(statistics.get('commands')).toBeGreaterThan(SEQUENCES);
  expect(statistics.get('versions made by the tool')).toBeGreaterThan(SEQUENCES);
});
