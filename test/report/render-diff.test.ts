import { applyPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { Side, TextChange } from '../../src/domain/text-changes.ts';
import { renderDiffs } from '../../src/report/render-diff.ts';
import { PLAIN } from '../../src/report/style.ts';

function side(label: string, text: string, metadata?: JsonObject): Side {
  return { label, text, ...(metadata === undefined ? {} : { metadata }) };
}

function diff(before: Side | null, after: Side | 'unknown', environment = 'staging'): readonly string[] {
  return renderDiffs([{ environment, before, after }], PLAIN, 'whole');
}

const v1 = (text: string, metadata?: JsonObject) => side('v1', text, metadata);
const next = (text: string, metadata?: JsonObject) => side('new version', text, metadata);
const heads = ['--- staging: v1', '+++ staging: new version'];

describe('a diff', () => {
  test.each<[string, Side | null, Side | 'unknown', readonly string[]]>([
    ['equal texts have none', v1('a'), next('a'), []],
    ['one line', v1('a'), next('b'), [...heads, '@@ -1,1 +1,1 @@', '-a', '+b']],
    [
      'nothing was active',
      null,
      next('a\nb'),
      ['--- staging: nothing', '+++ staging: new version', '@@ -0,0 +1,2 @@', '+a', '+b'],
    ],
    ['a blank at the end', v1('a'), next('a '), [...heads, '@@ -1,1 +1,1 @@', '-a', '+a ']],
    ['a line feed at the end', v1('a'), next('a\n'), [...heads, '@@ -1,1 +1,2 @@', ' a', '+']],
    ['a carriage return alone is shown', v1('a\rb'), next('ab'), [...heads, '@@ -1,1 +1,1 @@', '-a\\u{d}b', '+ab']],
    ['hidden characters are shown', v1('ab'), next('a\u200bb'), [...heads, '@@ -1,1 +1,1 @@', '-ab', '+a\\u{200b}b']],
    ['tabs stay', v1('\ta'), next('\tb'), [...heads, '@@ -1,1 +1,1 @@', '-\ta', '+\tb']],
    [
      'lines that look like those of a diff',
      v1('-- a\n++ b\n@@ c'),
      next('-- a\n++ b\n@@ d'),
      [...heads, '@@ -1,3 +1,3 @@', ' -- a', ' ++ b', '-@@ c', '+@@ d'],
    ],
    [
      'three lines of context',
      v1('1\n2\n3\n4\n5\n6\n7\n8\n9'),
      next('1\n2\n3\n4\nfive\n6\n7\n8\n9'),
      [...heads, '@@ -2,7 +2,7 @@', ' 2', ' 3', ' 4', '-5', '+five', ' 6', ' 7', ' 8'],
    ],
    [
      'metadata stands above the text, sorted',
      v1('a', { z: 1, model: 'm1' }),
      next('a', { model: 'm2', z: 1 }),
      [...heads, '@@ -1,4 +1,4 @@', '-metadata.model: "m1"', '+metadata.model: "m2"', ' metadata.z: 1', ' ', ' a'],
    ],
    ['metadata that both have none of', v1('a', {}), next('b', {}), [...heads, '@@ -1,1 +1,1 @@', '-a', '+b']],
    ['metadata that the file does not manage is left out', v1('a', { model: 'm' }), next('a'), []],
    [
      'metadata where nothing was active',
      null,
      next('a', { model: 'm' }),
      ['--- staging: nothing', '+++ staging: new version', '@@ -0,0 +1,3 @@', '+metadata.model: "m"', '+', '+a'],
    ],
    [
      'a text that was never read',
      v1('a'),
      'unknown',
      ['staging: the text to come was never read; a sync looks at it first'],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(diff(before, after)).toEqual(expected);
  });

  test('environments with the same two texts share one', () => {
    const change = (environment: string, text: string): TextChange => ({
      environment,
      before: v1('a'),
      after: next(text),
    });
    const lines = renderDiffs([change('dev', 'b'), change('staging', 'c'), change('production', 'b')], PLAIN, 'whole');
    expect(lines.filter((line) => line.startsWith('---'))).toEqual(['--- dev, production: v1', '--- staging: v1']);
  });

  test('is a patch that makes the one text of the other', () => {
    const line = fc.constantFrom('a', 'b', 'c', '', ' ', '-', '+', '@@', 'long line');
    const text = fc.array(line, { minLength: 1, maxLength: 30 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== '' && after !== '');
        const patch = diff(v1(before), next(after));
        expect(applyPatch(`${before}\n`, `${patch.join('\n')}\n`)).toBe(`${after}\n`);
      }),
    );
  });

  test('two long texts with nothing in common are replaced as a whole, without a long wait', () => {
    const text = (mark: string) => Array.from({ length: 20_000 }, (_, index) => `${mark} ${index}`).join('\n');
    const lines = diff(v1(text('old')), next(text('new')));
    expect(lines.slice(0, 4)).toEqual([...heads, '@@ -1,20000 +1,20000 @@', '-old 0']);
    expect(lines).toHaveLength(40_003);
  });

  test('a small edit in a long text stays a small diff', () => {
    const text = Array.from({ length: 50_000 }, (_, index) => `line ${index}`).join('\n');
    expect(diff(v1(text), next(text.replace('line 25000\n', 'edited\n')))).toHaveLength(11);
  });
});
