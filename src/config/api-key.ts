import { makeProblem, type Problem } from '../problem.ts';

export type ApiKeyResult = { readonly apiKey: string | null; readonly problems: readonly Problem[] };

/** The variable that holds the key, unless the configuration names another. */
export const DEFAULT_KEY_VARIABLE = 'PROMPTSYNC_API_KEY';

/** What an HTTP header can carry, without blanks. */
const KEY = /^[\x21-\x7e]+$/;

/** Reads the API key from its variable. The key occurs in no problem. */
export function readApiKey(variable: string, environment: Readonly<Record<string, string | undefined>>): ApiKeyResult {
  const apiKey = environment[variable];
  if (apiKey === undefined || apiKey === '') {
    return { apiKey: null, problems: [makeProblem('config/missing-key', { variable })] };
  }
  if (!KEY.test(apiKey)) return { apiKey: null, problems: [makeProblem('config/invalid-key', { variable })] };
  return { apiKey, problems: [] };
}
