import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../support/seed.ts';
import { FORMATS, planOf, ref, setActive } from './support.ts';

/** All characters that Unicode ignores by default, and the blank Braille pattern. */
const IGNORED = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((character) =>
  /[\p{Default_Ignorable_Code_Point}\u2800]/u.test(character),
);

/** The same without the tags and variation selectors of higher planes, which are the majority. */
const OF_LOWER_PLANES = IGNORED.filter((character) => character.codePointAt(0)! < 0xe0000);

function codePointOf(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

// Two invisible characters can carry any text, one bit each. Assistants can read it, but reviewers cannot see it.
const around = fc.constantFrom('', 'Be polite.', '日本', '😀', '❤', '1', '\u20e3', '👩‍👩‍👧', '❤\ufe0f');
const character = fc.oneof(fc.constantFrom(...OF_LOWER_PLANES), fc.constantFrom(...IGNORED));
const alphabet = fc.uniqueArray(character, { minLength: 2, maxLength: 2 });
const bits = fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 8, maxLength: 32 });

test('Every report escapes invisible characters, except a variation selector that may belong to an emoji', () => {
  fc.assert(
    fc.property(around, alphabet, bits, around, (before, characters, message, after) => {
      const hidden = message.map((bit) => characters[bit]!);
      const text = `${before}${hidden.join('')}${after}`;
      const report = planOf([setActive({ before: ref(1), before_text: '', after_text: text })]);
      // A selector after the first character is never part of an emoji.
      const rest = hidden.slice(1);
      for (const render of Object.values(FORMATS)) {
        expect(render(report)).toContain(rest.map(codePointOf).join(''));
      }
    }),
    { numRuns: runs(200) },
  );
});
