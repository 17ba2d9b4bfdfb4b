import { randomInt } from 'node:crypto';
import fc from 'fast-check';

/**
 * The seed of all random input: `TEST_SEED`, or a new number in each run. CI derives the seed from the tested tree, and
 * mutation runs use a fixed one, so both give the same result for the same sources.
 */
export const SEED = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31));

fc.configureGlobal({ seed: SEED });

/** Returns how many cases a law tries: all of them in CI, and a quarter in `npm test`, for which people wait. */
export function runs(all: number): number {
  return process.env['TEST_RUNS'] === 'all' ? all : Math.ceil(all / 4);
}
