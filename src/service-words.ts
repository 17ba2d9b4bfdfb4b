export type Words = {
  /** The name of the service in the middle of a sentence, such as `the service`. */
  readonly service: string;
  /** The noun for one environment. Its plural ends with `s`. */
  readonly environment: string;
};

/** The words for a service whose provider has no names of its own. */
export const DEFAULT_WORDS: Words = { service: 'the service', environment: 'environment' };

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function addArticle(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}
