import { createHash } from 'node:crypto';

/** One of several parts that the prompts of a repository are divided into; both numbers count from 1. */
export type Shard = { readonly index: number; readonly of: number };

export const MOST_SHARDS = 1000;

/**
 * The number of the shard that a prompt falls into, from 1 to `of`: the first 48 bits of the SHA-256 of its id in UTF-8,
 * modulo `of`, plus 1. It is the same in every version, because the runners of one run may have several of them.
 */
export function shardOf(promptId: string, of: number): number {
  const first = createHash('sha256').update(promptId, 'utf8').digest('hex').slice(0, 12);
  return (Number.parseInt(first, 16) % of) + 1;
}

/** What of them is in the shard; all of them without one. */
export function inShard<Prompt extends { readonly id: string }>(
  prompts: readonly Prompt[],
  shard: Shard | undefined,
): readonly Prompt[] {
  return shard === undefined ? prompts : prompts.filter(({ id }) => shardOf(id, shard.of) === shard.index);
}

/** Reads `2/5`; null when it is no shard. */
export function parseShard(text: string): Shard | null {
  const [, index, of] = /^([1-9][0-9]{0,3})\/([1-9][0-9]{0,3})$/.exec(text) ?? [];
  const shard = { index: Number(index), of: Number(of) };
  return shard.index <= shard.of && shard.of <= MOST_SHARDS ? shard : null;
}

/** What `parseShard` takes, for whoever has written something else. */
export const SHARD_EXPECTED = `I/N such as 2/5, where I is 1 to N and N at most ${MOST_SHARDS}`;

/** As people read it: `shard 2 of 5`. */
export function shardText({ index, of }: Shard): string {
  return `shard ${index} of ${of}`;
}
