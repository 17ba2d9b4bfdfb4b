import { expect, test } from 'vitest';
import { ADVICE } from '../../scripts/pages/advice.ts';
import { EVIDENCE } from '../../scripts/pages/evidence.ts';
import { anchorsIn, readPage } from './pages.ts';

const page = readPage('docs/troubleshooting.md');

test('docs/troubleshooting.md has a heading for each code, which is its anchor', () => {
  const headings = [...page.matchAll(/^### (\S+)$/gm)].map(([, code]) => code);
  expect(headings.toSorted()).toEqual(Object.keys(EVIDENCE).toSorted());
  expect(anchorsIn(page)).toContain('configmissing-key');
});

test('and more than the hint where there is more to say', () => {
  expect(Object.keys(ADVICE).filter((code) => !(code in EVIDENCE))).toEqual([]);
  const text = page.replaceAll(/\s+/g, ' ');
  expect(Object.values(ADVICE).filter((advice) => !text.includes(advice))).toEqual([]);
});
