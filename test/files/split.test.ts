import fc from 'fast-check';
import matter from 'gray-matter';
import { expect, test } from 'vitest';
import { splitFrontMatter } from '../../src/files/front-matter.ts';

const inert = { yaml: () => ({}), json: () => ({}), javascript: () => ({}) };
const lines = fc
  .array(
    fc.oneof(fc.constantFrom('---', ' ---', '--', '', 'a: 1', '# c', '\r', '\ufeff'), fc.string({ unit: 'binary' })),
  )
  .map((all) => all.join('\n'));

test('the body is what gray-matter takes for it', () => {
  fc.assert(
    fc.property(lines, lines, (yaml, body) => {
      const { parts } = splitFrontMatter(`---\na: 1\n${yaml}\n---\n${body}`, 'x.md');
      fc.pre(parts !== null && parts.yaml === `a: 1\n${yaml}`);
      expect(parts?.body).toBe(matter(`---\na: 1\n---\n${body}`, { engines: inert }).content);
    }),
  );
});
