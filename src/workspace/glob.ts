import { MAX_PATTERN_LENGTH } from '../text.ts';

/**
 * A part of a pattern. It matches one item: a name in a path, or a character in a name. With `matchesMany` (`**` or
 * `*`), it matches any number of consecutive items, including none.
 */
type GlobPart = { readonly matchesMany: boolean; readonly matches: (item: string) => boolean };

/** Whether the wildcards of a pattern match names that begin with a dot. */
type HiddenNames = 'matched' | 'skipped';

/**
 * Returns a test for keys and for paths with forward slashes. `*` and `?` match within a name, and `**` matches any
 * number of names. Patterns can also contain `[a-z]`, `[!a-z]`, `{a,b}` and backslash escapes. Even a malicious pattern
 * cannot make matching slow.
 * @param hiddenNames `skipped` means that only a pattern with a literal dot matches a name that begins with a dot
 */
export function makeGlobMatcher(pattern: string, hiddenNames: HiddenNames = 'skipped'): (text: string) => boolean {
  const patterns = expandBraces(pattern).map((expanded) =>
    expanded
      .replace(/^(?:\.\/)+/, '')
      .split('/')
      .map((part) => parseNamePart(part, hiddenNames)),
  );
  return (text) => {
    const names = text.split('/');
    return patterns.some((parts) => matchParts(parts, names));
  };
}

/**
 * Splits a pattern without braces into `base`, the innermost folder that contains every match, and `glob`, the pattern
 * below it. For example, `prompts/en/mail-*.md` becomes `prompts/en` and `mail-*.md`.
 */
export function splitGlob(pattern: string): { readonly base: string; readonly glob: string } {
  const names = pattern.split('/');
  const firstWildcard = names.slice(0, -1).findIndex((name) => /[*?[]/.test(name.replaceAll(/\\./gs, '')));
  const base = firstWildcard === -1 ? names.slice(0, -1) : names.slice(0, firstWildcard);
  return { base: base.join('/').replaceAll(/\\(.)/gs, '$1'), glob: names.slice(base.length).join('/') };
}

/** Returns the folders before the first wildcard or brace, such as `prompts` for `prompts/{en,fr}/*.md`. */
export function findFixedFolder(pattern: string): string {
  const braces = pattern.search(/(?<!\\)\{/);
  return splitGlob(braces === -1 ? pattern : `${pattern.slice(0, braces)}*`).base;
}

const MAX_BRACE_EXPANSIONS = 1000;

/** Returns an empty list if the pattern is too long or expands to too many patterns. */
export function expandBraces(pattern: string): readonly string[] {
  let patterns = pattern.length > MAX_PATTERN_LENGTH ? [] : [pattern];
  while (patterns.length <= MAX_BRACE_EXPANSIONS && patterns.some((expanded) => INNERMOST_BRACES.test(expanded))) {
    patterns = [...new Set(patterns.flatMap(expandInnermost))];
  }
  return patterns.length > MAX_BRACE_EXPANSIONS ? [] : patterns;
}

const INNERMOST_BRACES = /(?<!\\)\{((?:\\.|[^\\{}])*)\}/s;

/** Expands one innermost pair of braces. Unclosed braces and braces without a comma are literal. */
function expandInnermost(pattern: string): readonly string[] {
  const match = INNERMOST_BRACES.exec(pattern);
  if (match === null) return [pattern];
  const [braces, inside = ''] = match;
  const { index } = match;
  const options = inside.split(/(?<!\\),/);
  const choices = options.length === 1 ? [`\\{${inside}\\}`] : options;
  return choices.map((choice) => pattern.slice(0, index) + choice + pattern.slice(index + braces.length));
}

/**
 * Returns true if the parts match all items. After a mismatch, only the last part with `matchesMany` matches one more
 * item, because it can match everything that an earlier one could.
 */
function matchParts(parts: readonly GlobPart[], items: readonly string[]): boolean {
  let partIndex = 0;
  let itemIndex = 0;
  let retry: { readonly partIndex: number; itemIndex: number } | null = null;
  while (itemIndex < items.length) {
    const part = parts[partIndex];
    if (part?.matchesMany === true) {
      retry = { partIndex, itemIndex };
      partIndex += 1;
    } else if (part?.matches(items[itemIndex] ?? '') === true) {
      partIndex += 1;
      itemIndex += 1;
    } else if (retry !== null && parts[retry.partIndex]?.matches(items[retry.itemIndex] ?? '') === true) {
      retry.itemIndex += 1;
      partIndex = retry.partIndex + 1;
      itemIndex = retry.itemIndex;
    } else {
      return false;
    }
  }
  return parts.slice(partIndex).every(({ matchesMany }) => matchesMany);
}

function parseNamePart(pattern: string, hiddenNames: HiddenNames): GlobPart {
  const hasLiteralDot = /^\\?\./.test(pattern);
  const mayMatch = (name: string) => hiddenNames === 'matched' || name.startsWith('.') === hasLiteralDot;
  if (pattern === '**') return { matchesMany: true, matches: mayMatch };
  const parts = [...pattern.matchAll(CHARACTER)].map(parseCharacter);
  return { matchesMany: false, matches: (name) => mayMatch(name) && matchParts(parts, [...name]) };
}

const CHARACTER =
  /(?<stars>\*+)|(?<questionMark>\?)|\[(?<negation>[!^]?)(?<set>\]?(?:\\.|[^\]\\])*)\]|\\?(?<literal>.)/gsu;

function parseCharacter({ groups = {} }: RegExpExecArray): GlobPart {
  const { stars, questionMark, negation, set, literal } = groups;
  if (stars !== undefined) return { matchesMany: true, matches: () => true };
  if (questionMark !== undefined) return { matchesMany: false, matches: () => true };
  if (set === undefined) return { matchesMany: false, matches: (character) => character === literal };
  const ranges = [...set.matchAll(/\\?(.)(?:-\\?(.))?/gsu)].map(([, from = '', to = from]) => ({ from, to }));
  const isInSet = (character: string) => ranges.some(({ from, to }) => from <= character && character <= to);
  return { matchesMany: false, matches: (character) => isInSet(character) === (negation === '') };
}
