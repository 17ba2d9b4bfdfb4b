import { isLoopback } from '../domain/loopback.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

/** What is wrong with a base URL; `source` is the setting or variable that holds it. The URL itself is not repeated: it may hold a password. */
export function baseUrlProblems(baseUrl: string, source: string, place: Place): readonly Problem[] {
  const expected = faultOf(baseUrl);
  return expected === null ? [] : [makeProblem('config/invalid-url', { source, expected }, place)];
}

function faultOf(baseUrl: string): string | null {
  const url = URL.parse(baseUrl);
  if (url === null) return 'it is no URL';
  if (/[\s\\\p{Cc}]/u.test(baseUrl)) return 'it holds blanks, backslashes or control characters';
  if (url.username !== '' || url.password !== '') return 'it holds credentials';
  if (/[?#]/.test(baseUrl)) return 'it holds a query or a fragment';
  if (url.protocol === 'https:') return null;
  if (url.protocol !== 'http:') return 'its scheme is not https';
  return isLoopback(url) ? null : 'plain http is used for an address that is not loopback';
}
