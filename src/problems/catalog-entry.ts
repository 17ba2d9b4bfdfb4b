/** How one problem of the catalogue is worded, from what its code has as evidence. */
export type CatalogEntry<Evidence> = {
  readonly severity: 'error' | 'warning';
  readonly message: (evidence: Evidence) => string;
  readonly hint: (evidence: Evidence) => string;
};

type Wording<Evidence> = string | ((evidence: Evidence) => string);

type None = Record<string, never>;

export function defineError<Evidence = None>(
  message: Wording<Evidence>,
  hint: Wording<Evidence>,
): CatalogEntry<Evidence> {
  return { severity: 'error', message: toWordingFunction(message), hint: toWordingFunction(hint) };
}

export function defineWarning<Evidence = None>(
  message: Wording<Evidence>,
  hint: Wording<Evidence>,
): CatalogEntry<Evidence> {
  return { severity: 'warning', message: toWordingFunction(message), hint: toWordingFunction(hint) };
}

function toWordingFunction<Evidence>(wording: Wording<Evidence>): (evidence: Evidence) => string {
  return typeof wording === 'string' ? () => wording : wording;
}

/** Evidence of a word that is not known, with the known one that it was probably meant to be. */
export type SpellingEvidence = { readonly suggestion?: string | undefined };

/** What the word was meant to be; where that is not known, another hint. */
export function hintSuggestion({ suggestion }: SpellingEvidence, otherwise: string, mark = ''): string {
  return suggestion === undefined ? otherwise : `Did you mean ${mark}${suggestion}${mark}?`;
}

export function quoteNames(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

export function shortenCommitId(commit: string): string {
  return commit.slice(0, 12);
}

/** A word as a shell takes it: what is shown as a command may be copied, and keys come from strangers. */
export function quoteShellWord(text: string): string {
  return /^[\w./][\w./-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
