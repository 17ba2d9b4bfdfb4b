import { randomInt } from 'node:crypto';
import fc from 'fast-check';

/**
 * What all random input of a run is made from: `TEST_SEED`, or else a new number each time. CI takes it from the tree
 * that it tests, and mutation runs have one of their own: both say the same of the same sources.
 */
export const SEED = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31));

fc.configureGlobal({ seed: SEED });

/** In bytes. A worker is copied for each child that it starts, which takes four times as long at 700 MB as at 70. */
const LARGE = 150_000_000;

if (process.memoryUsage().heapUsed > LARGE) globalThis.gc?.();
