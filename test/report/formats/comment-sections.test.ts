import { describe, expect, test } from 'vitest';
import {
  escapeSectionLines,
  findSection,
  hasAppliedSection,
  replaceSection,
  wrapSection,
} from '../../../src/report/formats/comment-sections.ts';

const REVIEW = `<!-- promptsync 1234 -->
### promptsync plan

Plan: 1 of 1 prompt changes (2 activations).
${wrapSection(['production'], '\n#### production: 1 prompt\n')}${wrapSection(['staging'], '\n#### staging: 1 prompt\n')}
commit \`abc\`
`;

/** Returns the lines of a comment without the hidden lines of sections and without empty lines. */
function linesOf(body: string): readonly string[] {
  return body.split('\n').filter((line) => line !== '' && !line.startsWith('<!--'));
}

describe('replaceSection', () => {
  test('A new section takes the place of the old section of the same environment', () => {
    const section = wrapSection(['production'], '\n#### production: applied\n');
    const body = replaceSection(REVIEW, ['production'], section, ['staging', 'production']);
    expect(linesOf(body)).toEqual([
      '### promptsync plan',
      'Plan: 1 of 1 prompt changes (2 activations).',
      '#### production: applied',
      '#### staging: 1 prompt',
      'commit `abc`',
    ]);
  });

  test('A section for an environment that the comment does not mention goes to its place in promotion order, or to the end', () => {
    const place = (environment: string, order?: readonly string[]) => {
      const body = replaceSection(REVIEW, [environment], wrapSection([environment], '\n#### new\n'), order);
      return linesOf(body).filter((line) => line.startsWith('####'));
    };
    const [production, staging] = ['#### production: 1 prompt', '#### staging: 1 prompt'];
    expect(place('qa', ['staging', 'qa', 'production'])).toEqual([production, '#### new', staging]);
    expect(place('live', ['staging', 'production', 'live'])).toEqual(['#### new', production, staging]);
    expect(place('dev', ['dev', 'staging', 'production'])).toEqual([production, staging, '#### new']);
    expect(place('other')).toEqual([production, staging, '#### new']);
    const none = replaceSection('First.\n', ['qa'], wrapSection(['qa'], '\n#### qa: failed\n'));
    expect(linesOf(none)).toEqual(['First.', '#### qa: failed']);
  });

  test('A section for several environments replaces all of their sections', () => {
    const both = ['staging', 'production'];
    const body = replaceSection(REVIEW, both, wrapSection(both, '\n#### staging, production: applied\n'));
    expect(linesOf(body).slice(2)).toEqual(['#### staging, production: applied', 'commit `abc`']);
    const again = replaceSection(body, ['production'], wrapSection(['production'], '\n#### production: failed\n'));
    expect(linesOf(again).slice(2)).toEqual(['#### production: failed', 'commit `abc`']);
  });

  test('Jobs can update their sections of a comment in any order and repeatedly, with the same result', () => {
    const [staging, production] = ['staging', 'production'].map((name) => {
      return (body: string) => replaceSection(body, [name], wrapSection([name], `\n#### ${name}: applied\n`));
    });
    const result = production!(staging!(REVIEW));
    expect(staging!(production!(REVIEW))).toBe(result);
    expect(staging!(result)).toBe(result);
  });

  test('The name of an environment cannot end the hidden line of its section', () => {
    const name = 'a --> <script>';
    const section = wrapSection([name], '\n#### `a`\n');
    expect(section.split('\n')[1]).toMatch(/^<!-- promptsync section [0-9a-f]{16} -->$/);
    expect(findSection(replaceSection(REVIEW, [name], section), [name])).toContain('#### `a`');
  });
});

test('hasAppliedSection looks only at the hidden lines and not at headings', () => {
  const heading = '\n#### staging: applied, 2026-01-01 00:00 UTC\n';
  expect(hasAppliedSection(wrapSection(['staging'], heading))).toBe(false);
  expect(hasAppliedSection(wrapSection(['staging'], heading, true))).toBe(true);
});

test('escapeSectionLines prevents data from beginning or ending a section', () => {
  const section = wrapSection(['staging'], '\nText\n', true);
  const hostile = escapeSectionLines(section);
  expect(findSection(hostile, ['staging'])).toBeNull();
  expect(hasAppliedSection(hostile)).toBe(false);
  expect(hostile.replaceAll(/^ /gm, '')).toBe(section);
});

test('findSection finds a section in a comment with CRLF line breaks, and returns null if there is none', () => {
  expect(findSection(REVIEW.replaceAll('\n', '\r\n'), ['staging'])).toContain('#### staging: 1 prompt');
  expect(findSection(REVIEW, ['qa'])).toBeNull();
});
