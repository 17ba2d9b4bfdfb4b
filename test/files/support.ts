import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { Problem } from '../../src/problem.ts';
import { parsePromptFile, type ParseResult } from '../../src/files/parse.ts';

export const PATH = 'prompts/x.md';
export const BASIC = 'id: prm_1\nkey: k\nname: N\n';

/** A file with the fields that are needed, further lines of front matter and a body. */
export function sourceOf(further = '', body = '\nHello.\n'): string {
  return `---\n${BASIC}${further}---\n${body}`;
}

export function parse(source: string | Uint8Array): ParseResult {
  return parsePromptFile(typeof source === 'string' ? Buffer.from(source) : source, PATH);
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
