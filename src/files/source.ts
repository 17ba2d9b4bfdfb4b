import { isUtf8 } from 'node:buffer';
import { withLineFeeds } from '../domain/digest.ts';
import { findHidden, makePlaceAt, placeAt } from '../domain/text.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

const CONFLICT_MARKER = /(?<=^|\n)(<{7}|\|{7}|>{7})(?=[ \n]|$)/;

/** The text of a file with LF line endings and without its BOM; null when it is not UTF-8. */
export function decodeSource(bytes: Uint8Array): string | null {
  return isUtf8(bytes) ? withLineFeeds(new TextDecoder().decode(bytes)) : null;
}

/** Where a file stops being UTF-8, or where it has a sign for what cannot be read already. */
export function invalidUtf8Place(bytes: Uint8Array): Place {
  const text = new TextDecoder().decode(bytes);
  return placeAt(text, text.indexOf('\ufffd'));
}

/** What is wrong with a file whatever its parts hold. */
export function sourceProblems(source: string, path: string): readonly Problem[] {
  const nul = source.indexOf('\0');
  const conflict = findConflict(source);
  return [
    ...(nul === -1 ? [] : [makeProblem('prompt/nul', {}, { path, ...placeAt(source, nul) })]),
    ...(conflict === -1 ? [] : [makeProblem('prompt/conflict-markers', {}, { path, ...placeAt(source, conflict) })]),
  ];
}

/** The offset of the first conflict marker; -1 when there is none. */
export function findConflict(text: string): number {
  return text.search(CONFLICT_MARKER);
}

/** A warning for each kind of invisible character, at its first place. NUL is an error already. */
export function hiddenCharacterProblems(source: string, path: string): readonly Problem[] {
  const placeOf = makePlaceAt(source);
  return findHidden(source)
    .filter(({ offset }) => source[offset] !== '\0')
    .map(({ character, count, offset }) =>
      makeProblem('prompt/hidden-character', { character, count }, { path, ...placeOf(offset) }),
    );
}

/** The first line of a file, for what concerns it as a whole. */
export function placeOfFile(path: string): Place {
  return { path, line: 1, column: 1 };
}
