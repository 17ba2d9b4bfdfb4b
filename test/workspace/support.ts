import fc from 'fast-check';
import type { JsonValue } from '../../src/domain/json.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { Problem } from '../../src/problem.ts';
import { LENIENT_SETTINGS, parsePromptFile, type ParseResult } from '../../src/workspace/parse-prompt-file.ts';
import { fourCallFileRules } from '../../src/providers/four-call/file-rules.ts';

export const PATH = 'prompts/x.md';
export const REQUIRED_FIELDS = 'id: prm_1\nkey: k\nname: N\n';

/** Makes a prompt file with the required fields, further lines of front matter and a body. */
export function makeSource(further = '', body = '\nHello.\n'): string {
  return `---\n${REQUIRED_FIELDS}${further}---\n${body}`;
}

export function parse(source: string | Uint8Array): ParseResult {
  return parsePromptFile(typeof source === 'string' ? Buffer.from(source) : source, PATH, {
    ...LENIENT_SETTINGS,
    rules: fourCallFileRules,
  });
}

/** Parses a valid source. Throws if the source has an error. */
export function parseValidFile(source: string | Uint8Array): PromptFile {
  const { file, problems } = parse(source);
  if (file === null) throw new Error(`not valid: ${summarizeProblems(problems).join(', ')}`);
  return file;
}

/** Formats problems as `code line:column`. */
export function summarizeProblems(problems: readonly Problem[]): readonly string[] {
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

/** Generates texts of all kinds. YAML would misread many of them without quotes. No file can hold NUL. */
export const words = fc.oneof(
  fc.constantFrom(...awkward),
  fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => !text.includes('\0')),
);

/** Generates keys that metadata may have. */
export const keys = words.filter((key) => key !== '__proto__' && key !== 'promptsync');

export const values = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(words, fc.integer(), fc.boolean(), fc.constantFrom<JsonValue>(null, 0.1, -2.5e-7, 2 ** 53)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 3 }),
  ),
})).value;
