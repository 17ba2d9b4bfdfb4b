import { hasControlCharacters, showHidden } from '../../domain/text.ts';
import type { Candidate, Kind, Wanted } from './find-wanted.ts';
import type { TypedLine } from './split-line.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

/** What the shell is to complete: the line up to the cursor, and how much of it bash replaces. */
export type Typed = TypedLine & { readonly replaced: string };

type Answered = Omit<Wanted, 'config'>;

/**
 * What a shell's script reads: a line that says what else the shell is to offer (`files`, `folders` or `words`: nothing),
 * then a line for each candidate, with a tab and its description behind it in zsh and fish.
 */
export function answer(shell: Shell, wanted: Answered, typed: Typed): string {
  const candidates = wanted.candidates.filter(({ value }) => isFit(value));
  const lines = candidates.flatMap((one) => LINES[shell](one, wanted.flag, typed));
  return [kindFor(wanted.kind), ...lines].map((line) => `${line}\n`).join('');
}

function kindFor(kind: Kind): string {
  return kind === 'files' || kind === 'folders' ? kind : 'words';
}

/** What cannot be seen cannot be chosen. */
function isFit(value: string): boolean {
  return value !== '' && !hasControlCharacters(value) && showHidden(value) === value;
}

const LINES: Readonly<Record<Shell, (one: Candidate, flag: string, typed: Typed) => readonly string[]>> = {
  bash: ({ value }, flag, typed) => bashWord(`${flag}${value}`, typed),
  // Both choose what fits and quote what they insert. zsh takes the flag off by itself.
  zsh: (one) => [described(one.value, one)],
  fish: (one, flag) => [described(`${flag}${one.value}`, one)],
};

function described(word: string, { description }: Candidate): string {
  return description === '' ? word : `${word}\t${showHidden(description.replaceAll(/\s+/g, ' '))}`;
}

/** Letters, digits and what means nothing to bash, wherever it stands in a word. */
const PLAIN = /[^\p{L}\p{M}\p{N}_./@%+,:=-]/gu;

/**
 * The word as bash is to insert it: bash neither chooses nor quotes, and replaces what comes after the last of `:` and `=`
 * alone. Within quotes that are open only what means nothing there can be inserted.
 */
function bashWord(word: string, { current, raw, replaced }: Typed): readonly string[] {
  if (!word.startsWith(current)) return [];
  const quoted = /^['"]/.test(raw);
  if (quoted && word.replaceAll(' ', '').search(PLAIN) !== -1) return [];
  const inserted = quoted ? word : word.replaceAll(PLAIN, '\\$&');
  const kept = raw.slice(quoted ? 1 : 0, raw.length - replaced.length);
  return inserted.startsWith(kept) ? [inserted.slice(kept.length)] : [];
}
