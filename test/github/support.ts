import { connectGitHub, type GitHub } from '../../src/github/client.ts';
import type { GitHubDouble, Person } from '../support/github-api.ts';

export const ADA: Person = { login: 'ada', type: 'User' };
export const OTHER_BOT: Person = { login: 'other[bot]', type: 'Bot' };
export const ACME_BOT: Person = { login: 'acme-bot[bot]', type: 'Bot' };

export const MARKER = '<!-- promptsync 0123456789abcdef -->';

export function connectTo({ apiUrl, token }: Pick<GitHubDouble, 'apiUrl' | 'token'>): GitHub {
  return connectGitHub({ token, apiUrl, repository: 'acme/prompts', environment: {} });
}

/** What was sent to change something, such as `POST issues/7/comments`. */
export function writesOf({ requests }: GitHubDouble): readonly string[] {
  const writes = requests.filter(({ method, path }) => method !== 'GET' && path !== '/graphql');
  return writes.map(({ method, path }) => `${method} ${path.replace('/repos/acme/prompts/', '')}`);
}

/** What became of a call: `done`, or `throws` and the status. */
export function endOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error: unknown) => `throws ${error instanceof Error && 'status' in error ? String(error.status) : String(error)}`,
  );
}

/** One row: what is tried, and the lines that tell how it ended. */
export type Row<Try> = readonly [sentence: string, attempt: Try, ending: readonly string[]];

/**
 * Tries all rows at the same time, because the client waits for a second or three between its writes. Returns both
 * tables, by sentence: what came about, and what should.
 */
export async function trySideBySide<Try>(
  rows: readonly Row<Try>[],
  perform: (attempt: Try) => Promise<readonly string[]>,
): Promise<{ readonly came: object; readonly wanted: object }> {
  const came = await Promise.all(rows.map(async ([sentence, attempt]) => [sentence, await perform(attempt)] as const));
  return {
    came: Object.fromEntries(came),
    wanted: Object.fromEntries(rows.map(([sentence, , ending]) => [sentence, ending])),
  };
}
