import { isLoopback } from '../domain/loopback.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

/** What is wrong with a base URL. The URL itself is not repeated: it may hold a password. */
export function baseUrlProblems(baseUrl: string, place: Place): readonly Problem[] {
  const problem = (expected: string) => [makeProblem('config/invalid-url', { expected }, place)];
  const url = URL.parse(baseUrl);
  if (url === null) return problem('it is no URL');
  if (url.username !== '' || url.password !== '') return problem('it holds credentials');
  if (url.search !== '' || url.hash !== '') return problem('it holds a query or a fragment');
  if (url.protocol === 'https:') return [];
  if (url.protocol !== 'http:') return problem('its scheme is not https');
  return isLoopback(url) ? [] : problem('plain http is used for an address that is not loopback');
}
