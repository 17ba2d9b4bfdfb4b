import { posix } from 'node:path';
import { digestOf, shortDigest } from '../domain/digest.ts';
import type { Inputs } from './inputs.ts';

/**
 * The first line of what promptsync writes on GitHub, which no reader sees: it is found again by it. One for each
 * working directory and configuration: the jobs of a matrix leave each other's alone.
 */
export function markerOf({ config = '', 'working-directory': folder }: Inputs): string {
  const where = JSON.stringify([posix.normalize(`${folder}/`), config]);
  return `<!-- promptsync ${shortDigest(digestOf(where))} -->`;
}
