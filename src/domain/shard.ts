/** One of several parts that the prompts of a repository are divided into; both numbers count from 1. */
export type Shard = { readonly index: number; readonly of: number };

export const MOST_SHARDS = 1000;

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
