import { withLineFeeds } from '../domain/digest.ts';
import { findHidden, placeAt } from '../domain/text.ts';
import { makeProblem, type Problem } from '../problem.ts';

const CONFLICT_MARKER = /^(<{7}|\|{7}|>{7})( |$)/m;

/** The text of a file with LF line endings and without its BOM; null when it is not UTF-8. */
export function decodeSource(bytes: Uint8Array): string | null {
  try {
    return withLineFeeds(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

/** What is wrong with a file whatever its parts hold. */
export function sourceProblems(source: string, path: string): readonly Problem[] {
  const nul = source.indexOf('\0');
  const conflict = source.search(CONFLICT_MARKER);
  return [
    ...(nul === -1 ? [] : [makeProblem('prompt/nul', {}, { path, ...placeAt(source, nul) })]),
    ...(conflict === -1 ? [] : [makeProblem('prompt/conflict-markers', {}, { path, ...placeAt(source, conflict) })]),
  ];
}

/** A warning for each kind of invisible character, at its first place. */
export function hiddenCharacterProblems(source: string, path: string): readonly Problem[] {
  return findHidden(source).map(({ character, count, offset }) =>
    makeProblem('prompt/hidden-character', { character, count }, { path, ...placeAt(source, offset) }),
  );
}
