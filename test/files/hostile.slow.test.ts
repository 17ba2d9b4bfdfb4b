import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isError } from '../../src/problem.ts';
import { parsePromptFile } from '../../src/files/parse.ts';
import { PATH, parse, sourceOf } from './support.ts';

const KIB64 = 64 * 1024;

/** What is wrong with a result: with a file there is no error, without one there is, and every place is one. */
function faultsOf(bytes: Uint8Array): readonly unknown[] {
  const { file, problems } = parsePromptFile(bytes, PATH);
  const misplaced = problems.filter(({ path, line = 0, column = 0 }) => path !== PATH || line < 1 || column < 1);
  const contradicted = (file === null) !== problems.some(isError);
  return contradicted ? [...misplaced, { file, problems }] : misplaced;
}

/** Pieces that are given in one text, with § between them. */
const pieces = (text: string) => text.split('§');

const fragments = [
  ...pieces(`---\n§---§...\n§\n§\r\n§\r§ §\t§: §:§- §? §, §#§"§'§[§]§{§}`),
  ...pieces('&a §*a§!t §!!str §!!binary §<<: §%YAML 1.1\n§%TAG ! x\n§|\n§>-\n§\\§\\ud800§\\0'),
  ...pieces('id: §key: a\n§name: b\n§pins:\n§ staging: §latest\n§metadata: §variables: §description: '),
  ...pieces('__proto__§constructor§promptsync§null§true§1§-1§1e999§.nan§0x§9007199254740993§{{a}}'),
  ...pieces('<<<<<<<§\0§\u200b§\ufeff§😀§e\u0301§\u2028§\u0085§@§`§%§='),
];
const soup = fc.array(fc.constantFrom(...fragments), { maxLength: 40 }).map((parts) => parts.join(''));

describe('no bytes make the parser throw', () => {
  test('random ones', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(faultsOf(bytes)).toEqual([]);
      }),
    );
  });

  test('pieces of YAML in any order', () => {
    fc.assert(
      fc.property(soup, (text) => {
        expect(faultsOf(Buffer.from(`---\n${text}\n---\nHello.`))).toEqual([]);
      }),
      { numRuns: 1500 },
    );
    fc.assert(
      fc.property(soup, soup, (front, body) => {
        expect(faultsOf(Buffer.from(sourceOf(`metadata: ${front}\n`, body)))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  test('whole files with a few bytes changed', () => {
    const whole = Buffer.from(
      sourceOf('pins:\n  a: latest\n  b: 7\nmetadata: {x: [1, "a\\n"]}\nvariables: [v]\n', '\nHi {{v}}\n'),
    );
    const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = Uint8Array.from(whole);
        for (const [at, byte] of changes) bytes[at] = byte;
        expect(faultsOf(bytes)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('no 64 KiB of front matter keep the parser busy', () => {
  const repeated = [
    ...pieces(`\n§ \n§#\n§[§{§[\n§{a: [\n§{a: §- §? §: §"§'§a:\n§a: b\n §&a §!a §*a `),
    ...pieces('%a\n§...\n§"\n§a: |\n§a: >\n\n§a: "x  \n §- - \n§\\§\t§a§a §1§,§[a,§{{§<'),
  ];
  test.each(repeated)('%j again and again', (piece) => {
    const times = Math.floor((KIB64 - 200) / piece.length);
    expect(faultsOf(Buffer.from(sourceOf(`metadata: ${piece.repeat(times)}\n`)))).toEqual([]);
  });

  test.each([
    ['a long key above thousands of values', `? "${'x'.repeat(30_000)}"\n: [${'1,'.repeat(15_000)}]\n`],
    ['thousands of unknown fields', Array.from({ length: 7_000 }, (_, index) => `f${index}:\n`).join('')],
    ['thousands of pins', `pins: {${Array.from({ length: 5_000 }, (_, index) => `e${index}: 0`).join(', ')}}\n`],
    ['an integer of thousands of digits', `metadata: {a: ${'1'.repeat(60_000)}}\n`],
    [
      'a block whose blank lines are ever shorter',
      `metadata: |\n${Array.from({ length: 350 }, (_, i) => `${' '.repeat(350 - i)}\n`).join('')}`,
    ],
  ])('%s', (_, further) => {
    expect(faultsOf(Buffer.from(sourceOf(further)))).toEqual([]);
  });

  test.each(['[', '{a: ', '- ', '? '])('deep nesting (%s) is an error', (piece) => {
    for (const depth of [66, 500, 5_000, 15_000]) {
      const { file, problems } = parse(sourceOf(`metadata:\n  ${piece.repeat(depth)}\n`));
      expect(file).toBeNull();
      expect(problems.length).toBeGreaterThan(0);
    }
    const closed = `metadata: {a: ${'['.repeat(5_000)}${']'.repeat(5_000)}}\n`;
    expect(parse(sourceOf(closed)).problems.map(({ code }) => code)).toEqual(['yaml/too-deep']);
  });
});

describe('no large body keeps the parser busy', () => {
  const HALF_MIB = 512 * 1024;
  test.each([
    ...pieces('{{§{{ §{{a§{{a §{§<§<<<<<<<x\n§\n§---\n§ §\r§\u200b§👩\u200d§\u{e0041}§a\ufe01§❤\ufe0f\ufe0f§}}'),
  ])('512 KiB of %j', (piece) => {
    const body = piece.repeat(HALF_MIB / Buffer.byteLength(piece));
    expect(faultsOf(Buffer.from(sourceOf('variables: [a]\n', body)))).toEqual([]);
  });

  test('with every hidden character there is', () => {
    const tags = Array.from({ length: 4096 }, (_, index) => String.fromCodePoint(0xe0000 + index)).join('');
    expect(faultsOf(Buffer.from(sourceOf('', `${'a\n'.repeat(HALF_MIB / 2)}${tags}`)))).toEqual([]);
  });

  test('with thousands of variables and placeholders', () => {
    const names = (count: number, letter: string) => Array.from({ length: count }, (_, index) => `${letter}${index}`);
    const body = names(100_000, 'b')
      .map((name) => `{{${name}}}`)
      .join('');
    expect(faultsOf(Buffer.from(sourceOf(`variables: [${names(8_000, 'a').join(',')}]\n`, body)))).toEqual([]);
  });
});
