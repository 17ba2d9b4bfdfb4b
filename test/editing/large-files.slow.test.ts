import { expect, test } from 'vitest';
import { makeSource } from '../workspace/support.ts';
import { applyEdits } from './support.ts';

const setPin = (source: string, environment: string) =>
  applyEdits(source, { frontMatter: [{ path: ['pins', environment], value: 2 }] });

const many = Array.from({ length: 998 }, (_, at) => `  environment${at}: ${at + 1}\n`).join('');
test.each([
  ['the file editor quickly edits front matter with a thousand pins', `pins:\n${many}  z: …\n`],
  [
    'the file editor quickly edits front matter with thousands of comments',
    `pins:\n${'  # z: 1\n'.repeat(7000)}  z: …\n${'  # z: 1\n'.repeat(10)}`,
  ],
  [
    'the file editor quickly edits front matter with thousands of spaces',
    `pins: {${' '.repeat(30_000)}z: …${' '.repeat(30_000)}}\n`,
  ],
  [
    'the file editor quickly edits front matter with 60 nested levels',
    `metadata: ${'{a: '.repeat(60)}1${'}'.repeat(60)}\npins:\n  z: …\n`,
  ],
  [
    'the file editor quickly edits front matter with a very long value',
    `description: "${'x'.repeat(60_000)}"\npins:\n  z: …\n`,
  ],
])('%s', (_, front) => {
  const source = makeSource(front.replace('…', '1'));
  expect(setPin(source, 'z')).toBe(makeSource(front.replace('…', '2')));
  expect(setPin(source, 'new')).toMatch(/new: 2/);
});
