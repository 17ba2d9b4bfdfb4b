import fc from 'fast-check';
import type { JsonValue } from '../../src/domain/json.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { Problem } from '../../src/problem.ts';
import { parsePromptFile, type ParseResult } from '../../src/files/parse.ts';
import { ledgerRules } from '../../src/ledger/rules.ts';

export const PATH = 'prompts/x.md';
export const BASIC = 'id: prm_1\nkey: k\nname: N\n';

/** A file with the fields that are needed, further lines of front matter and a body. */
export function sourceOf(further = '', body = '\nHello.\n'): string {
  return `---\n${BASIC}${further}---\n${body}`;
}

export function parse(source: string | Uint8Array): ParseResult {
  return parsePromptFile(typeof source === 'string' ? Buffer.from(source) : source, PATH, ledgerRules('promptsync'));
}

/** The file that a source without any problem holds. */
export function fileOf(source: string | Uint8Array): PromptFile {
  const { file, problems } = parse(source);
  if (file === null) throw new Error(`not valid: ${tell(problems).join(', ')}`);
  return file;
}

/** Problems as `code line:column`. */
export function tell(problems: readonly Problem[]): readonly string[] {
  return problems.map(({ code, line, column }) => `${code} ${line}:${column}`);
}

export function messages(problems: readonly Problem[]): string {
  return problems.map(({ message, hint }) => `${message} ${hint}`).join('\n');
}

const awkward = [
  ...['12', 'true', '~', '', ' ', ' a', 'a ', 'x: y', ':a', 'a:', '- a', '-', '#', 'a #b', '[1]', '{a}', 'a,b', '}'],
  ...['|', '>-', '?', '---', '...', '\n---\n', '<<', "'", '"', '`', '@', '%x', '!t', '&a', '*a', '<<<<<<< x', '\t'],
  ...['a\nb', 'a\n', '\na', 'a\n\n', ' a\nb', 'a\n \n b', 'é', '👩‍👩‍👧', '\u2028', '\u0085', '\ufeff', 'a\rb', '\u200b'],
];

/** Texts of all kinds, many of which YAML would take for something else. No file can hold NUL. */
export const words = fc.oneof(
  fc.constantFrom(...awkward),
  fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => !text.includes('\0')),
);

/** Keys that metadata may have. */
export const keys = words.filter((key) => key !== '__proto__' && key !== 'promptsync');

export const values = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(words, fc.integer(), fc.boolean(), fc.constantFrom<JsonValue>(null, 0.1, -2.5e-7, 2 ** 53)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 3 }),
  ),
})).value;
