import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitSections, type Limit, type Section } from '../../src/report/fit.ts';

const measures = {
  characters: (text: string) => text.length,
  bytes: (text: string) => Buffer.byteLength(text, 'utf8'),
};

/** Items know where they belong, so that they are found again in a text. */
const payloads = fc.string({ unit: fc.constantFrom('a', 'ü', '漢', '😀'), maxLength: 40 });
const sections = fc
  .array(
    fc.record({ items: fc.array(payloads, { maxLength: 8 }), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
    {
      maxLength: 5,
    },
  )
  .map((all) => all.map(({ items, share }, index) => sectionOf(index, items, share)));
const limits = fc.record({
  most: fc.integer({ min: -50, max: 1_500 }),
  measure: fc.constantFrom(...Object.values(measures)),
});

function sectionOf(index: number, payloads: readonly string[], share = 1): Section {
  const items = payloads.map((payload, at) => `<${index}.${at}${payload}>`);
  return { open: `[${index}:`, items, close: `:${index}]`, item: `item ${index}`, share };
}

/** The sections of a text, taken apart again; throws where anything else is in it. */
function partsOf(text: string): readonly { readonly index: number; readonly items: readonly string[] }[] {
  const parts = [...text.matchAll(/\[(\d):((?:<[^<>]*>)+):\1\]/g)];
  expect(parts.map(([whole]) => whole).join('')).toBe(text);
  return parts.map(([, index, items = '']) => ({ index: Number(index), items: items.match(/<[^<>]*>/g) ?? [] }));
}

function keptOf(text: string, index: number): readonly string[] {
  return partsOf(text).find((part) => part.index === index)?.items ?? [];
}

describe('Whatever the sections and the limit, in characters and in bytes', () => {
  const check = (law: (all: readonly Section[], limit: Limit) => void) =>
    fc.assert(fc.property(sections, limits, law), { numRuns: 300 });

  test('the text is never longer than the limit', () => {
    check((all, limit) => {
      expect(limit.measure(fitSections(all, limit).text)).toBeLessThanOrEqual(Math.max(0, limit.most));
    });
  });

  test('no section takes more than its share of what those before it left', () => {
    check((all, limit) => {
      let room = limit.most;
      for (const { index } of partsOf(fitSections(all, limit).text)) {
        const { open, close, share } = all[index]!;
        const taken = limit.measure(open + keptOf(fitSections(all, limit).text, index).join('') + close);
        expect(taken).toBeLessThanOrEqual(room * share);
        room -= taken;
      }
    });
  });

  test('items are whole and in order, and what is not kept is counted', () => {
    check((all, limit) => {
      const { text, leftOut } = fitSections(all, limit);
      expect(partsOf(text).map(({ index }) => index)).toEqual(
        all.flatMap((_, index) => (keptOf(text, index).length > 0 ? [index] : [])),
      );
      const left = all.map(({ item, items }, index) => {
        const kept = keptOf(text, index);
        expect(items.filter((one) => kept.includes(one))).toEqual(kept);
        return { item, count: items.length - kept.length };
      });
      expect(leftOut).toEqual(left.filter(({ count }) => count > 0));
    });
  });

  test('an item is left out only where it had no room', () => {
    check((all, limit) => {
      const { text } = fitSections(all.slice(0, 1), limit);
      for (const { open, close, items, share } of all.slice(0, 1)) {
        const kept = keptOf(text, 0);
        const left = items.filter((item) => !kept.includes(item));
        for (const item of left) {
          const earlier = kept.filter((one) => items.indexOf(one) < items.indexOf(item));
          expect(limit.measure([open, ...earlier, item, close].join(''))).toBeGreaterThan(limit.most * share);
        }
      }
    });
  });

  test('without a limit all is kept', () => {
    fc.assert(
      fc.property(sections, (all) => {
        const whole = all.filter(({ items }) => items.length > 0);
        const text = whole.map(({ open, items, close }) => `${open}${items.join('')}${close}`).join('');
        expect(fitSections(all, null)).toEqual({ text, leftOut: [] });
      }),
    );
  });
});

describe('A limit', () => {
  const within = (most: number, ...all: readonly Section[]) => fitSections(all, { most, measure: measures.characters });
  const [small, large] = ['s', 'L'.repeat(50)];

  test.each<[string, number, readonly Section[], string]>([
    ['of just what is needed leaves nothing out', 12, [sectionOf(0, [small])], '[0:<0.0s>:0]'],
    ['of nothing is kept where there is nothing', 0, [], ''],
    ['of nothing is kept where a section has no items', 0, [sectionOf(0, [])], ''],
  ])('%s', (_, most, all, text) => {
    expect(within(most, ...all)).toEqual({ text, leftOut: [] });
  });

  test('one character less leaves the section out with its opening', () => {
    expect(within(11, sectionOf(0, [small]))).toEqual({ text: '', leftOut: [{ item: 'item 0', count: 1 }] });
  });

  test('an item that is too large keeps no smaller one out that comes later', () => {
    const fitted = within(40, sectionOf(0, [small, large, small]), sectionOf(1, [large, small]));
    expect(fitted).toEqual({
      text: '[0:<0.0s><0.2s>:0][1:<1.1s>:1]',
      leftOut: [
        { item: 'item 0', count: 1 },
        { item: 'item 1', count: 1 },
      ],
    });
  });

  test('a section keeps to its share, and leaves the rest to those after it', () => {
    const fitted = within(60, sectionOf(0, Array(10).fill(small), 0.3), sectionOf(1, [small, small]));
    expect(fitted.text).toBe('[0:<0.0s><0.1s>:0][1:<1.0s><1.1s>:1]');
    expect(fitted.leftOut).toEqual([{ item: 'item 0', count: 8 }]);
  });

  test('in bytes counts what is written, not characters', () => {
    const one = sectionOf(0, ['漢'.repeat(10)]);
    expect(fitSections([one], { most: 30, measure: measures.characters }).leftOut).toEqual([]);
    expect(fitSections([one], { most: 30, measure: measures.bytes }).text).toBe('');
  });
});
