/** How one problem of the catalogue is worded, from what its code has as evidence. */
export type Entry<Evidence> = {
  readonly severity: 'error' | 'warning';
  readonly message: (evidence: Evidence) => string;
  readonly hint: (evidence: Evidence) => string;
};

type Wording<Evidence> = string | ((evidence: Evidence) => string);

type None = Record<string, never>;

export function error<Evidence = None>(message: Wording<Evidence>, hint: Wording<Evidence>): Entry<Evidence> {
  return { severity: 'error', message: worded(message), hint: worded(hint) };
}

export function warning<Evidence = None>(message: Wording<Evidence>, hint: Wording<Evidence>): Entry<Evidence> {
  return { severity: 'warning', message: worded(message), hint: worded(hint) };
}

function worded<Evidence>(wording: Wording<Evidence>): (evidence: Evidence) => string {
  return typeof wording === 'string' ? () => wording : wording;
}

/** Evidence of a word that is not known, with the known one that it was probably meant to be. */
export type Misspelt = { readonly suggestion?: string | undefined };

/** What the word was meant to be; where that is not known, another hint. */
export function didYouMean({ suggestion }: Misspelt, otherwise: string, mark = ''): string {
  return suggestion === undefined ? otherwise : `Did you mean ${mark}${suggestion}${mark}?`;
}

export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

export function short(commit: string): string {
  return commit.slice(0, 12);
}

/** A word as a shell takes it: what is shown as a command may be copied, and keys come from strangers. */
export function shellWord(text: string): string {
  return /^[\w./][\w./-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
