import { makeProblem, type Place, type Problem } from '../problem.ts';
import { findLineStart, readLine } from './quote-yaml-value.ts';

/** Returns a problem if the line that contains an offset has a look-alike. Returns null otherwise. */
export type LookAlikeFinder = (offset: number) => Problem | null;

/**
 * Creates a function that finds look-alikes. The function searches each line only once, because a hostile file can have
 * thousands of invalid values on one long line.
 */
export function makeLookAlikeFinder(text: string, placeAt: (offset: number) => Place): LookAlikeFinder {
  const known = new Map<number | undefined, Problem | null>();
  return (offset) => {
    const { line } = placeAt(offset);
    const found = known.get(line) ?? (known.has(line) ? null : makeLookAlikeProblem(text, offset, placeAt));
    known.set(line, found);
    return found;
  };
}

function makeLookAlikeProblem(text: string, offset: number, placeAt: (offset: number) => Place): Problem | null {
  const lookAlike = findLookAlike(readLine(text, offset));
  if (lookAlike === null) return null;
  const { index, character, needed } = lookAlike;
  return makeProblem('yaml/look-alike', { character, needed }, placeAt(findLineStart(text, offset) + index));
}

/** Returns the problems of all lines that have a look-alike. */
export function findAllLookAlikes(text: string, findLookAlikeAt: LookAlikeFinder): readonly Problem[] {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return starts.flatMap((start) => findLookAlikeAt(start) ?? []);
}

/** A character that looks like a YAML syntax character but is a different one. */
type LookAlike = {
  /** The index of the character in its line. */
  readonly index: number;
  readonly character: string;
  /** The character that YAML needs at this position. */
  readonly needed: 'colon' | 'space' | 'line break';
};

/**
 * Patterns for look-alikes. The first group is the part of the line before the character, and the second group is the
 * character. Each pattern takes linear time.
 */
const LOOK_ALIKES: readonly (readonly [LookAlike['needed'], RegExp])[] = [
  ['line break', /^([^\r]*)(\r)/],
  ['space', /^([ \t]*(?:- *)?)((?! )\p{Zs})/u],
  ['colon', /^([^:\uff1a#]*)(\uff1a)/],
  ['space', /^([^:]*:[ \t]*)((?! )\p{Zs})/u],
  ['space', /^([^:]*)((?! )\p{Zs}):/u],
  ['space', /^(.*)((?! )\p{Zs})[ \t]*$/u],
];

/**
 * Finds a character in a YAML line that looks like a colon, a space, or a line break but is a different one: a
 * full-width colon after a name, a Unicode space around a name or a value, or a lone carriage return. Chinese and
 * Japanese keyboards type such characters, and web pages contain them. They are errors only in an invalid line.
 */
function findLookAlike(line: string): LookAlike | null {
  for (const [needed, pattern] of LOOK_ALIKES) {
    const [, before = '', character] = pattern.exec(line) ?? [];
    if (character !== undefined) return { index: before.length, character, needed };
  }
  return null;
}
