import { digestOf, shortDigest } from './digest.ts';
import type { Shard } from './shard.ts';

/**
 * The number of the shard that a prompt falls into, from 1 to `of`: the first 48 bits of the SHA-256 of its id in UTF-8,
 * modulo `of`, plus 1. It is the same in every version, because the runners of one run may have several of them.
 */
export function shardOf(promptId: string, of: number): number {
  const first48Bits = shortDigest(digestOf(promptId)).slice(0, 12);
  return (Number.parseInt(first48Bits, 16) % of) + 1;
}

/** What of them is in the shard; all of them without one. */
export function inShard<Prompt extends { readonly id: string }>(
  prompts: readonly Prompt[],
  shard: Shard | undefined,
): readonly Prompt[] {
  return shard === undefined ? prompts : prompts.filter(({ id }) => shardOf(id, shard.of) === shard.index);
}
