import { posix } from 'node:path';
import { digestOf, shortDigest } from '../domain/digest.ts';
import { shardText } from '../domain/shard.ts';
import type { Inputs } from './inputs.ts';

/**
 * The first line of what promptsync writes on GitHub, which no reader sees: it is found again by it. One for each
 * working directory, configuration and shard: the jobs of a matrix leave each other's alone.
 */
export function markerOf({ config = '', 'working-directory': folder, shard }: Inputs): string {
  const part = shard === undefined ? [] : [shardText(shard)];
  const where = JSON.stringify([posix.normalize(`${folder}/`), config, ...part]);
  return `<!-- promptsync ${shortDigest(digestOf(where))} -->`;
}
