import { randomInt } from 'node:crypto';
import fc from 'fast-check';

/**
 * What all random input of a run is made from: `TEST_SEED`, or else a new number each time. CI takes it from the tree
 * that it tests, and mutation runs have one of their own: both say the same of the same sources.
 */
export const SEED = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31));

fc.configureGlobal({ seed: SEED });
