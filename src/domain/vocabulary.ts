/** The words that messages and reports use for a service and for its environments. */
export type Vocabulary = {
  /** The name of the service in the middle of a sentence, such as `the service`. */
  readonly service: string;
  /** The noun for one environment. Its plural ends with `s`. */
  readonly environment: string;
};

/** The default vocabulary. All messages in the code use its words. */
export const DEFAULT_VOCABULARY: Vocabulary = { service: 'the service', environment: 'environment' };

/**
 * Matches the words to replace. Also matches text in quotes or backticks, so that data and code stay unchanged. Skips
 * words next to a slash, a hyphen or a dot, because they are part of a path or a name. Includes the indefinite article
 * before "environment", because a different noun may need a different article.
 */
const WORDS =
  /"[^"]*"|`[^`]*`|(?<![\w./-])(?:(?<the>[Tt]he) (?:prompt )?service|(?:(?<article>[Aa]n) )?(?<environment>[Ee]nvironment)(?<plural>s?))(?![\w/-]|\.\w| variable)/g;

/**
 * Replaces the default words in a message with the words of a vocabulary. Changes only promptsync's own words, and not
 * the data that a message quotes.
 */
export function applyVocabulary(message: string, vocabulary: Vocabulary): string {
  if (vocabulary === DEFAULT_VOCABULARY) return message;
  return message.replaceAll(WORDS, (match: string, ...rest: readonly unknown[]) => {
    const { the, article = '', environment, plural = '' } = rest.at(-1) as Partial<Record<string, string>>;
    if (the !== undefined) return matchCase(vocabulary.service, the);
    if (environment === undefined) return match;
    const noun = `${matchCase(vocabulary.environment, environment)}${plural}`;
    return article === '' ? noun : `${chooseArticle(article, noun)} ${noun}`;
  });
}

/** Returns a word with an upper-case first letter if the word that it replaces has one. */
function matchCase(word: string, replaced: string): string {
  const isCapitalized = /^[A-Z]/.test(replaced);
  return isCapitalized ? word.charAt(0).toUpperCase() + word.slice(1) : word;
}

/** Returns the indefinite article for a noun. Capitalizes it if the article that it replaces is capitalized. */
function chooseArticle(replaced: string, noun: string): string {
  return matchCase(/^[aeiou]/i.test(noun) ? 'an' : 'a', replaced);
}
