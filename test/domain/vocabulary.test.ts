import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyVocabulary, DEFAULT_VOCABULARY, type Vocabulary } from '../../src/domain/vocabulary.ts';
import { runs } from '../support/seed.ts';

const LANGFUSE: Vocabulary = { service: 'Langfuse', environment: 'label' };
const PLATFORM: Vocabulary = { service: 'the platform', environment: 'alias' };

describe('applyVocabulary with the words of Langfuse', () => {
  test.each<[sentence: string, message: string, expected: string]>([
    [
      'applyVocabulary replaces "the service" in the middle of a sentence',
      'Check the version in the service.',
      'Check the version in Langfuse.',
    ],
    [
      'applyVocabulary replaces "The service" at the beginning of a sentence',
      'The service did not respond.',
      'Langfuse did not respond.',
    ],
    [
      'applyVocabulary keeps the possessive ending of "the service\'s"',
      "Ask the service's operator.",
      "Ask Langfuse's operator.",
    ],
    [
      'applyVocabulary replaces "the prompt service" as a whole',
      'The base URL points to the prompt service itself.',
      'The base URL points to Langfuse itself.',
    ],
    [
      'applyVocabulary replaces every matching word in a message',
      'The service has two environments. Ask the service about the environment.',
      'Langfuse has two labels. Ask Langfuse about the label.',
    ],
    [
      'applyVocabulary replaces the singular and the plural of "environment"',
      'One environment, or many environments: 5 environments.',
      'One label, or many labels: 5 labels.',
    ],
    [
      'applyVocabulary capitalizes the new noun if the replaced noun is capitalized',
      'Environments. Environment "staging"',
      'Labels. Label "staging"',
    ],
    [
      'applyVocabulary adapts the indefinite article before the noun',
      'Pin an environment. An environment is missing.',
      'Pin a label. A label is missing.',
    ],
    [
      'applyVocabulary does not change an article that is separated from the noun by another word',
      'an empty environment',
      'an empty label',
    ],
  ])('%s', (_, message, expected) => {
    expect(applyVocabulary(message, LANGFUSE)).toBe(expected);
  });

  test.each<[sentence: string, message: string]>([
    ['applyVocabulary does not replace words inside double quotes', 'The file is "an environment of the service".'],
    ['applyVocabulary does not replace words inside backticks', 'Use `environments` and `the service`.'],
    [
      'applyVocabulary does not replace words inside a path',
      'See prompts/environment/x.md, environment/x.md, a/environment.',
    ],
    ['applyVocabulary does not replace words inside a file name', 'See environments.yaml and my-environment.'],
    ['applyVocabulary does not replace words inside a flag', 'Use --environments or --environment.'],
    [
      'applyVocabulary does not replace the term "environment variable"',
      'Set an environment variable, or environment variables.',
    ],
    [
      'applyVocabulary does not replace part of a longer word',
      'the services, environmental, the servicewoman, the_environment',
    ],
    [
      'applyVocabulary does not replace "service" without the definite article',
      'a service, every service, service address',
    ],
  ])('%s', (_, message) => {
    expect(applyVocabulary(message, LANGFUSE)).toBe(message);
  });

  test('applyVocabulary returns a text unchanged if all matching words are inside quotes', () => {
    const word = fc.constantFrom('a', 'an', 'the', 'The', 'pin', 'service', 'prompt', 'environmental', '12.', '(x)');
    const noun = fc.constantFrom('the service', 'The prompt service', 'environment', 'an environment', 'Environments');
    const inQuotes = fc.tuple(fc.string(), noun, fc.string()).map((parts) => parts.join(' '));
    const quoted = fc.constantFrom('"', '`').chain((quote) => {
      return inQuotes.map((inside) => `${quote}${inside.replaceAll(quote, '')}${quote}`);
    });
    // A quoted part separates the words, so that no article is next to "service".
    const parts = fc.array(fc.tuple(word, quoted).map((pair) => pair.join(' ')));
    fc.assert(
      fc.property(parts, (texts) => {
        expect(applyVocabulary(texts.join(' '), LANGFUSE)).toBe(texts.join(' '));
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe('applyVocabulary with other words', () => {
  test('applyVocabulary capitalizes the name of a service only at the beginning of a sentence', () => {
    expect(applyVocabulary('The service failed. Ask the service.', PLATFORM)).toBe(
      'The platform failed. Ask the platform.',
    );
  });

  test('applyVocabulary chooses the article "an" before a noun that begins with a vowel', () => {
    expect(applyVocabulary('An environment, an environment', PLATFORM)).toBe('An alias, an alias');
  });

  test('applyVocabulary returns every message unchanged for the default words', () => {
    const message = 'The prompt service has an environment, and the service has environments.';
    expect(applyVocabulary(message, DEFAULT_VOCABULARY)).toBe(message);
  });
});
