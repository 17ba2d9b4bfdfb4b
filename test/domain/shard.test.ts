import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inShard, shardOf } from '../../src/domain/shard-of.ts';
import { MOST_SHARDS, parseShard, shardText } from '../../src/domain/shard.ts';

const counts = fc.integer({ min: 1, max: MOST_SHARDS });
const ids = fc.string({ unit: 'grapheme' });

describe('the shard of a prompt', () => {
  /** Runners of one run may have several versions of promptsync: these never change. */
  test.each<[id: string, of2: number, of3: number, of5: number, of1000: number]>([
    ['prm_greeting', 1, 1, 2, 977],
    ['prm_refund', 2, 2, 4, 114],
    ['prm_1', 2, 2, 2, 762],
    ['', 1, 2, 5, 125],
    ['prm/with ?% signs', 2, 3, 2, 432],
    ['prm_größe', 2, 2, 1, 16],
    ['prm_gro\u0308\u00dfe', 2, 1, 2, 952],
    ['提示', 2, 2, 3, 348],
  ])('%j is %i of 2, %i of 3, %i of 5, %i of 1000', (id, ...expected) => {
    expect([2, 3, 5, 1000].map((of) => shardOf(id, of))).toEqual(expected);
    expect(shardOf(id, 1)).toBe(1);
  });

  test('is exactly one', () => {
    fc.assert(
      fc.property(ids, counts, (id, of) => {
        const shards = Array.from({ length: of }, (_, index) => ({ index: index + 1, of }));
        expect(shards.filter((shard) => inShard([{ id }], shard).length > 0)).toEqual([{ index: shardOf(id, of), of }]);
      }),
      { numRuns: 50 },
    );
  });

  test.each([2, 3, 7, 16, 100])('of %i has about as many of 10,000 prompts as the others', (of) => {
    const prompts = Array.from({ length: 10_000 }, (_, index) => ({ id: `prm_${index}` }));
    const sizes = [...Map.groupBy(prompts, ({ id }) => shardOf(id, of)).values()].map((shard) => shard.length);
    const even = prompts.length / of;
    expect(sizes.length).toBe(of);
    // Five standard deviations.
    for (const size of sizes) expect(Math.abs(size - even)).toBeLessThan(5 * Math.sqrt(even));
  });

  test('is all of them where none was asked for, in their order', () => {
    const prompts = [{ id: 'b' }, { id: 'a' }];
    expect(inShard(prompts, undefined)).toBe(prompts);
    expect(inShard(prompts, { index: 1, of: 1 })).toEqual(prompts);
  });
});

describe('a shard as it is written', () => {
  test('is read again as it is shown to be written', () => {
    fc.assert(
      fc.property(counts, counts, (a, b) => {
        const shard = { index: Math.min(a, b), of: Math.max(a, b) };
        expect(parseShard(`${shard.index}/${shard.of}`)).toEqual(shard);
      }),
    );
    expect(shardText({ index: 2, of: 5 })).toBe('shard 2 of 5');
  });

  test.each([
    ...['', '1', '/', '1/', '/1', '0/3', '4/3', '1/0', '0/0', '1/1001', '1001/1001', '-1/3', '1/-3', '+1/3'],
    ...['01/3', '1/03', '1.0/3', '1e0/3', ' 1/3', '1/3 ', '1 / 3', '1/3\n', '1/3/3', '1\\3', '1of3', '１/３', 'NaN/3'],
  ])('%j is none', (text) => {
    expect(parseShard(text)).toBeNull();
  });
});
