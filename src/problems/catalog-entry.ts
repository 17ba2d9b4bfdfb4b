import { escapeSelector } from '../text.ts';
import type { Words } from '../service-words.ts';

/** The severity of a problem. An error stops the affected prompt, file or command. A warning stops nothing. */
export type Severity = 'error' | 'warning';

export type CatalogEntry<Evidence> = {
  readonly severity: Severity;
  /** Returns one or more complete sentences that say what happened. */
  readonly message: (evidence: Evidence, words: Words) => string;
  readonly hint: (evidence: Evidence, words: Words) => string;
};

/** The wording of a message or a hint: a constant, or a function of the evidence and the words of the provider. */
type Wording<Evidence> = string | CatalogEntry<Evidence>['message'];

type NoEvidence = Record<string, never>;

export function defineError<Evidence = NoEvidence>(
  message: Wording<Evidence>,
  hint: Wording<Evidence>,
): CatalogEntry<Evidence> {
  return { severity: 'error', message: toWordingFunction(message), hint: toWordingFunction(hint) };
}

export function defineWarning<Evidence = NoEvidence>(
  message: Wording<Evidence>,
  hint: Wording<Evidence>,
): CatalogEntry<Evidence> {
  return { severity: 'warning', message: toWordingFunction(message), hint: toWordingFunction(hint) };
}

function toWordingFunction<Evidence>(wording: Wording<Evidence>): CatalogEntry<Evidence>['message'] {
  return typeof wording === 'string' ? () => wording : wording;
}

/** The evidence of a problem with an unknown word. The suggestion is a known word that the user probably meant. */
export type SpellingEvidence = { readonly suggestion?: string | undefined };

/**
 * Returns a hint that asks whether the user meant the suggested word. If there is no suggestion, returns `otherHint`.
 * @param mark the quotation mark to put before and after the suggestion
 */
export function makeSuggestionHint({ suggestion }: SpellingEvidence, otherHint: string, mark = ''): string {
  return suggestion === undefined ? otherHint : `Did you mean ${mark}${suggestion}${mark}?`;
}

export function endSentence(reason: string): string {
  return /[.!?]$/.test(reason) ? reason : `${reason}.`;
}

/** Returns a command for a single prompt. If the key looks like an option, it comes last, after `--`. */
export function makePromptCommand(
  command: 'history' | 'promote' | 'pull' | 'rollback' | 'sync',
  key: string,
  options = '',
): string {
  const word = quoteShellWord(escapeSelector(key));
  const words = key.startsWith('-') ? [options, '--', word] : [word, options];
  return ['promptsync', command, ...words.filter((one) => one !== '')].join(' ');
}

/** Users copy the commands in hints to a shell, and a stranger may have chosen the key in such a command. */
export function quoteShellWord(text: string): string {
  return /^[\w./][\w./-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The names of characters that people type or paste by mistake, because they look like ASCII characters. */
const CHARACTER_NAMES: ReadonlyMap<string, string> = new Map([
  ['\r', 'carriage return'],
  ['\u00a0', 'no-break space'],
  ['\u2003', 'em space'],
  ['\u2009', 'thin space'],
  ['\u200b', 'zero-width space'],
  ['\u2028', 'line separator'],
  ['\u202f', 'narrow no-break space'],
  ['\u3000', 'ideographic space'],
  ['\ufeff', 'byte order mark'],
  ['\uff1a', 'full-width colon'],
]);

/** Describes a character for a message, such as `U+00A0 (no-break space)`. */
export function describeCharacter(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const name = CHARACTER_NAMES.get(character);
  return name === undefined ? `U+${code}` : `U+${code} (${name})`;
}
