import { parseDocument, type Document, type LineCounter } from 'yaml';

type Wanted = {
  readonly lineCounter?: LineCounter;
  /** Whether the nodes keep the tokens that they were made of. */
  readonly keepSourceTokens?: boolean;
};

/**
 * Parses YAML as all of promptsync reads it: version 1.2, core schema, integers whole. Null when the nesting is deeper
 * than the library's recursion can follow.
 */
export function parseYamlDocument(text: string, wanted: Wanted): Document | null {
  try {
    const document = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      uniqueKeys: false, // The library's check is quadratic; to-json.ts has its own.
      intAsBigInt: true,
      prettyErrors: false,
      logLevel: 'error', // With `silent` a second document would be dropped without an error.
      ...wanted,
    });
    return document.errors.some((error) => error.code === 'RESOURCE_EXHAUSTION') ? null : document;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
