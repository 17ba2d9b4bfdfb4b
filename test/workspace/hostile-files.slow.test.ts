import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isError } from '../../src/problem.ts';
import { parsePromptFile } from '../../src/workspace/parse-prompt-file.ts';
import { PATH, makeSource } from './support.ts';

const KIB64 = 64 * 1024;

/**
 * Returns the violations of the parser's contract: there is an error exactly if there is no file, and every problem
 * has a valid place.
 */
function findContractViolations(bytes: Uint8Array): readonly unknown[] {
  const { file, problems } = parsePromptFile(bytes, PATH);
  const misplaced = problems.filter(({ path, line = 0, column = 0 }) => path !== PATH || line < 1 || column < 1);
  const contradicted = (file === null) !== problems.some(isError);
  return contradicted ? [...misplaced, { file, problems }] : misplaced;
}

/** Splits one string into its pieces. § separates them. */
const splitPieces = (text: string) => text.split('§');

const fragments = [
  ...splitPieces(`---\n§---§...\n§\n§\r\n§\r§ §\t§: §:§- §? §, §#§"§'§[§]§{§}`),
  ...splitPieces('&a §*a§!t §!!str §!!binary §<<: §%YAML 1.1\n§%TAG ! x\n§|\n§>-\n§\\§\\ud800§\\0'),
  ...splitPieces('id: §key: a\n§name: b\n§pins:\n§ staging: §latest\n§metadata: §variables: §description: '),
  ...splitPieces('__proto__§constructor§promptsync§null§true§1§-1§1e999§.nan§0x§9007199254740993§{{a}}'),
  ...splitPieces('<<<<<<<§\0§\u200b§\ufeff§😀§e\u0301§\u2028§\u0085§@§`§%§='),
];
const randomYaml = fc.array(fc.constantFrom(...fragments), { maxLength: 40 }).map((parts) => parts.join(''));

describe('parsePromptFile on random input', () => {
  test('the parser does not throw on randomly combined YAML fragments', () => {
    fc.assert(
      fc.property(randomYaml, randomYaml, (front, body) => {
        expect(findContractViolations(Buffer.from(`---\n${front}\n---\nHello.`))).toEqual([]);
        expect(findContractViolations(Buffer.from(makeSource(`metadata: ${front}\n`, body)))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('the parser does not throw on a valid file with a few randomly changed bytes', () => {
    const whole = Buffer.from(
      makeSource('pins:\n  a: latest\n  b: 7\nmetadata: {x: [1, "a\\n"]}\nvariables: [v]\n', '\nHi {{v}}\n'),
    );
    const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = Uint8Array.from(whole);
        for (const [at, byte] of changes) bytes[at] = byte;
        expect(findContractViolations(bytes)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('parsePromptFile on 64 KiB of hostile front matter', () => {
  const repeated = [
    ...splitPieces(`\n§[\n§{a: [\n§{a: §- §? §: §"§'§a: b\n §&a §*a §%a\n§...\n§a: >\n\n§a: "x  \n §- - \n§,§[a,`),
    ...['a\u00a0', 'a: b\u00a0\n', '\uff1a', 'a\uff1ab\n', '\r', '\u3000 ', '{a:"b"', "{'a\u00a0", '{a\u00a0"'],
    ...['{\t\uff1a', '[a\uff1a\t', `{"'"'`, '{a:\t', 'a\u00a0b: 0\n'],
  ];
  test.each(repeated)('the parser quickly parses 64 KiB of front matter that repeats %j', (piece) => {
    const times = Math.floor((KIB64 - 200) / piece.length);
    expect(findContractViolations(Buffer.from(makeSource(`metadata: ${piece.repeat(times)}\n`)))).toEqual([]);
  });

  test.each([
    [
      'the parser quickly parses a long key whose value is a list of thousands of items',
      `? "${'x'.repeat(30_000)}"\n: [${'1,'.repeat(15_000)}]\n`,
    ],
    [
      'the parser quickly reports thousands of unknown fields',
      Array.from({ length: 7_000 }, (_, index) => `f${index}:\n`).join(''),
    ],
    [
      'the parser quickly parses front matter with thousands of invalid pins',
      `pins: {${Array.from({ length: 5_000 }, (_, index) => `e${index}: 0`).join(', ')}}\n`,
    ],
    [
      'the parser quickly reports thousands of invalid pins whose names contain an escaped no-break space',
      `pins: {${Array.from({ length: 4_000 }, (_, index) => `"e${index}\\u00a0": 0`).join(', ')}}\n`,
    ],
    ['the parser quickly parses an integer with thousands of digits', `metadata: {a: ${'1'.repeat(60_000)}}\n`],
    [
      'the parser quickly parses a block scalar whose blank lines have decreasing indentation',
      `metadata: |\n${Array.from({ length: 350 }, (_, i) => `${' '.repeat(350 - i)}\n`).join('')}`,
    ],
  ])('%s', (_, further) => {
    expect(findContractViolations(Buffer.from(makeSource(further)))).toEqual([]);
  });
});

describe('parsePromptFile on large hostile bodies', () => {
  const HALF_MIB = 512 * 1024;
  test.each([...splitPieces('{{§{{a §<<<<<<<x\n§\n§---\n§\r§\u200b§👩\u200d§\u{e0041}§❤\ufe0f\ufe0f§}}')])(
    'the parser quickly parses 512 KiB of text that repeats %j',
    (piece) => {
      const body = piece.repeat(HALF_MIB / Buffer.byteLength(piece));
      expect(findContractViolations(Buffer.from(makeSource('variables: [a]\n', body)))).toEqual([]);
    },
  );

  const range = (count: number) => Array.from({ length: count }, (_, index) => index);
  const tags = range(4096).map((index) => String.fromCodePoint(0xe0000 + index));
  test.each([
    [
      'the parser quickly parses a file with 4,096 different hidden characters',
      '',
      `${'a\n'.repeat(HALF_MIB / 2)}${tags.join('')}`,
    ],
    [
      'the parser quickly parses a file with thousands of variables and placeholders',
      `variables: [${range(8_000)
        .map((index) => `a${index}`)
        .join(',')}]\n`,
      range(100_000)
        .map((index) => `{{b${index}}}`)
        .join(''),
    ],
  ])('%s', (_, further, body) => {
    expect(findContractViolations(Buffer.from(makeSource(further, body)))).toEqual([]);
  });
});
