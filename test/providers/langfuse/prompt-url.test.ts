import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makePromptUrl } from '../../../src/providers/langfuse/client.ts';
import { ReportShape } from '../../../src/report/schema/report-schema.ts';
import { promptOf, reportOf } from '../../report/support.ts';
import { runs } from '../../support/seed.ts';

const BASE = 'https://cloud.langfuse.com';

test.each<[what: string, name: string, encoded: string]>([
  ['makePromptUrl appends a plain name unchanged', 'greeting-v1.2_x', 'greeting-v1.2_x'],
  ['makePromptUrl encodes the slashes between folders', 'support/refund', 'support%2Frefund'],
  ['makePromptUrl encodes parentheses', 'tone (v2)', 'tone%20%28v2%29'],
])('%s', (_, name, encoded) => {
  expect(makePromptUrl(BASE, name, 'project-1')).toBe(`${BASE}/project/project-1/prompts/${encoded}`);
});

test('makePromptUrl keeps the path of the base URL and ignores slashes at its end', () => {
  const url = makePromptUrl('http://127.0.0.1:3000/langfuse//', 'a', 'p/1');
  expect(url).toBe('http://127.0.0.1:3000/langfuse/project/p%2F1/prompts/a');
});

/** Any string, also one with lone surrogates. Names consist mostly of characters that have a meaning in a URL or in Markdown. */
const anyName = fc
  .array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom(...'ab/()[]<>|\\`\'"*_~!&;:@#?%+=.,{}$^ \t\n', '](', '&amp;', '..', '%2F'),
      },
      { weight: 1, arbitrary: fc.integer({ max: 0xff_ff, min: 0 }).map((unit) => String.fromCharCode(unit)) },
    ),
    { minLength: 1, maxLength: 20 },
  )
  .map((parts) => parts.join(''));

const anyBase = fc.constantFrom(BASE, 'http://[::1]:3000', 'https://a.test/lang|fuse//', "https://a.test/it's(a)/b");

test('makePromptUrl returns a valid address for any name and project, whose last segment is the name again after decoding', () => {
  fc.assert(
    fc.property(anyBase, anyName, anyName, (base, name, project) => {
      fc.pre(!['.', '..'].includes(name));
      const url = makePromptUrl(base, name, project);
      expect(ReportShape.safeParse(reportOf([promptOf({ url })])).error?.issues ?? []).toEqual([]);
      const { pathname, search, hash } = new URL(url);
      const [last = ''] = pathname.split('/').slice(-1);
      expect([decodeURIComponent(last), search, hash]).toEqual([name.toWellFormed(), '', '']);
    }),
    { numRuns: runs(2000) },
  );
});
