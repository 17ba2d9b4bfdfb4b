import { MAX_PATTERN_LENGTH } from '../text.ts';

/** One or, where it takes any number, several things in a row: characters of a name, or names of a path. */
type GlobPart = { readonly takesMany: boolean; readonly takes: (item: string) => boolean };

/**
 * Whether a text, a path with forward slashes or a key, matches a pattern: `*` and `?` within a name, `**` for any
 * number of names, `[a-z]` and `[!a-z]`, `{a,b}`; a backslash takes the next character as it is. The dot that a name
 * begins with is matched by itself alone. No pattern takes long.
 */
export function makeGlob(pattern: string): (text: string) => boolean {
  const ways = expandBraces(pattern).map((way) =>
    way
      .replace(/^(?:\.\/)+/, '')
      .split('/')
      .map(parseNamePart),
  );
  return (text) => {
    const names = text.split('/');
    return ways.some((parts) => matchParts(parts, names));
  };
}

/** The folder that all of what a pattern without braces matches is in, and what it asks of the paths below. */
export function splitGlob(pattern: string): { readonly base: string; readonly glob: string } {
  const names = pattern.split('/');
  const first = names.slice(0, -1).findIndex((name) => /[*?[]/.test(name.replaceAll(/\\./gs, '')));
  const base = names.slice(0, first === -1 ? -1 : first);
  return { base: base.join('/').replaceAll(/\\(.)/gs, '$1'), glob: names.slice(base.length).join('/') };
}

const MAX_BRACE_EXPANSIONS = 1000;

/** The patterns without braces that one stands for; none where they, or the characters in it, are too many. */
export function expandBraces(pattern: string): readonly string[] {
  let ways = pattern.length > MAX_PATTERN_LENGTH ? [] : [pattern];
  while (ways.length <= MAX_BRACE_EXPANSIONS && ways.some((way) => INNERMOST_BRACES.test(way))) {
    ways = [...new Set(ways.flatMap(expandInnermost))];
  }
  return ways.length > MAX_BRACE_EXPANSIONS ? [] : ways;
}

const INNERMOST_BRACES = /(?<!\\)\{((?:\\.|[^\\{}])*)\}/s;

/** Braces that do not end, or hold no comma, stand for themselves. */
function expandInnermost(pattern: string): readonly string[] {
  const found = INNERMOST_BRACES.exec(pattern);
  if (found === null) return [pattern];
  const { 0: braces, 1: inside = '', index } = found;
  const options = inside.split(/(?<!\\),/);
  const choices = options.length === 1 ? [`\\{${inside}\\}`] : options;
  return choices.map((choice) => pattern.slice(0, index) + choice + pattern.slice(index + braces.length));
}

/**
 * Of several parts that take any number, only the last one has to be tried again with more: whatever an earlier one
 * could take besides, the last one can take as well.
 */
function matchParts(parts: readonly GlobPart[], items: readonly string[]): boolean {
  let [at, item] = [0, 0];
  let again: { readonly at: number; item: number } | null = null;
  while (item < items.length) {
    const [part, next = ''] = [parts[at], items[item]];
    if (part?.takesMany === true) {
      again = { at, item };
      at += 1;
    } else if (part?.takes(next) === true) {
      at += 1;
      item += 1;
    } else if (again !== null && parts[again.at]?.takes(items[again.item] ?? '') === true) {
      again.item += 1;
      [at, item] = [again.at + 1, again.item];
    } else return false;
  }
  return parts.slice(at).every(({ takesMany }) => takesMany);
}

function parseNamePart(pattern: string): GlobPart {
  if (pattern === '**') return { takesMany: true, takes: (name) => !name.startsWith('.') };
  const parts = [...pattern.matchAll(CHARACTER)].map(parseCharacter);
  const isHidden = /^\\?\./.test(pattern);
  return { takesMany: false, takes: (name) => name.startsWith('.') === isHidden && matchParts(parts, [...name]) };
}

const CHARACTER = /(?<many>\*+)|(?<one>\?)|\[(?<not>[!^]?)(?<inside>\]?(?:\\.|[^\]\\])*)\]|\\?(?<itself>.)/gsu;

function parseCharacter({ groups = {} }: RegExpExecArray): GlobPart {
  const { many, one, not, inside, itself } = groups;
  if (many !== undefined || one !== undefined) return { takesMany: many !== undefined, takes: () => true };
  if (inside === undefined) return { takesMany: false, takes: (character) => character === itself };
  const ranges = [...inside.matchAll(/\\?(.)(?:-\\?(.))?/gsu)].map(([, from = '', to = from]) => ({ from, to }));
  const isIn = (character: string) => ranges.some(({ from, to }) => from <= character && character <= to);
  return { takesMany: false, takes: (character) => isIn(character) === (not === '') };
}
