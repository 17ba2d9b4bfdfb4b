const PLACEHOLDER = /\{\{[ \t]*([\p{L}\p{M}\p{N}_.-]+)[ \t]*\}\}/gu;

/** The names of a text's `{{placeholders}}`, each once, in order of first use. */
export function placeholdersOf(text: string): readonly string[] {
  return [...new Set([...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? ''))];
}
