import { describe, expect, test } from 'vitest';
import { excerptOf } from '../../src/report/diff-text.ts';
import type { MarkedLine } from '../../src/report/diff.ts';

const FAR = 'Far away from any change this text goes on and on, as prompts do.';

/** Changed words in brackets. */
function lineOf(text: string): MarkedLine {
  return [...text.matchAll(/\[([^\]]*)\]|[^[]+/g)].map((match) => ({
    text: match[1] ?? match[0],
    changed: match[1] !== undefined,
  }));
}

function shown(line: string, other: string | null = null): string | null {
  const segments = excerptOf(lineOf(line), other === null ? null : lineOf(other));
  return segments?.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('') ?? null;
}

describe('An excerpt of a long line', () => {
  test.each<[string, string, string | null]>([
    [
      'has the words beside a change',
      `${FAR} Say [this] now. ${FAR}`,
      '… and on, as prompts do. Say [this] now. Far away from any …',
    ],
    ['begins with a change at the beginning', `[New] ${FAR}`, '[New] Far away from any change …'],
    ['ends with a change at the end', `${FAR} [new]`, '… on and on, as prompts do. [new]'],
    [
      'keeps what is between two changes that are near',
      `${FAR} [a] and then [b] ${FAR}`,
      '… on and on, as prompts do. [a] and then [b] Far away from any change …',
    ],
    ['is of any script', `${'語'.repeat(60)}[新]${'文'.repeat(60)}`, `… ${'語'.repeat(30)}[新]${'文'.repeat(30)} …`],
    ['is none of a line that is new as a whole', FAR, null],
  ])('%s', (_, line, expected) => {
    expect(shown(line)).toBe(expected);
  });

  test('of a line that has lost nothing shows where the other one has more', () => {
    const expected = '… on and on, as prompts do. Far away from any change …';
    expect(shown(`${FAR} ${FAR}`, `${FAR}[ new words] ${FAR}`)).toBe(expected);
  });

  test('is none where the other line is another one', () => {
    expect(shown(FAR, `${FAR}[ new] and more`)).toBe(null);
  });
});
