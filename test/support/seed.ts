import { randomInt } from 'node:crypto';
import fc from 'fast-check';

/**
 * What all random input of a run is made from: `TEST_SEED`, or else a new number each time. CI takes it from the tree
 * that it tests, and mutation runs have one of their own: both say the same of the same sources.
 */
export const SEED = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31));

fc.configureGlobal({ seed: SEED });

/** How many cases a law tries: all of them in CI, and a quarter where somebody waits for `npm test`. */
export function runs(all: number): number {
  return process.env['TEST_RUNS'] === 'all' ? all : Math.ceil(all / 4);
}
