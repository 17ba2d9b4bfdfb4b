import { LONGEST_PATTERN } from '../domain/text.ts';

/** From positions in a text to all those that a part of a pattern leads to. */
type Part = (text: string, from: ReadonlySet<number>) => ReadonlySet<number>;

/**
 * Whether a text, a path with forward slashes or a key, matches a pattern: `*` and `?` within a name, `**` for any
 * number of names, `[a-z]` and `[!a-z]`, `{a,b}`; a backslash takes the next character as it is. The dot that a name
 * begins with is matched by itself alone. All ways to match are followed at once, part after part, and nothing is tried
 * again: no pattern takes long.
 */
export function makeGlob(pattern: string): (text: string) => boolean {
  if (pattern.length > LONGEST_PATTERN) return () => false;
  const match = sequence(pattern.replace(/^(?:\.\/)+/, ''));
  return (text) => match(text, new Set([0])).has(text.length);
}

/** The folder that all of what a pattern matches is in, and what it asks of the paths below; empty: it is one path. */
export function splitGlob(pattern: string): { readonly base: string; readonly glob: string } {
  const names = pattern.split('/');
  const first = names.findIndex((name) => /[*?[{]/.test(name.replaceAll(/\\./gs, '')));
  const base = (first === -1 ? names : names.slice(0, first)).join('/').replaceAll(/\\(.)/gs, '$1');
  return { base, glob: first === -1 ? '' : names.slice(first).join('/') };
}

/** What is special in a pattern: the first that is at a place counts. */
const PARTS: readonly (readonly [RegExp, (found: readonly string[]) => Part])[] = [
  [/\/\*\*$/y, () => below],
  [/(?<=^|\/)\*\*\//y, () => folders],
  [/(?<=^|\/)\*\*$/y, () => all],
  [/\*+/y, () => star],
  [/\?/y, () => oneOf(isPlain)],
  [/\[([!^]?)(\]?(?:\\.|[^\]\\])*)\]/sy, ([, not = '', inside = '']) => oneOf(classOf(not, inside))],
  [/\\(.)/sy, ([, itself = '']) => literal(itself)],
];

function sequence(pattern: string): Part {
  const parts: Part[] = [];
  for (let at = 0; at < pattern.length;) {
    const { part, end } = choiceAt(pattern, at) ?? partAt(pattern, at);
    parts.push(part);
    at = end;
  }
  return (text, from) => parts.reduce((reached, part) => (reached.size === 0 ? reached : part(text, reached)), from);
}

type Parsed = { readonly part: Part; readonly end: number };

function partAt(pattern: string, at: number): Parsed {
  for (const [expression, make] of PARTS) {
    expression.lastIndex = at;
    const found = expression.exec(pattern);
    if (found !== null) return { part: make(found), end: expression.lastIndex };
  }
  return { part: literal(pattern[at] ?? ''), end: at + 1 };
}

/** Braces that do not end, or hold no comma, stand for themselves. */
function choiceAt(pattern: string, open: number): Parsed | null {
  if (pattern[open] !== '{') return null;
  const options: string[] = [];
  let start = open + 1;
  for (let at = start, depth = 1; at < pattern.length; at += pattern[at] === '\\' ? 2 : 1) {
    if (pattern[at] === '{') depth += 1;
    if (pattern[at] === '}') depth -= 1;
    if (depth > 1 || (depth === 1 && pattern[at] !== ',')) continue;
    options.push(pattern.slice(start, at));
    start = at + 1;
    if (depth === 0) return options.length === 1 ? null : { part: choice(options.map(sequence)), end: start };
  }
  return null;
}

function choice(options: readonly Part[]): Part {
  return (text, from) => new Set(options.flatMap((option) => [...option(text, from)]));
}

function literal(itself: string): Part {
  return (text, from) => new Set([...from].flatMap((at) => (text.startsWith(itself, at) ? at + itself.length : [])));
}

function oneOf(fits: (text: string, at: number) => boolean): Part {
  return (text, from) => new Set([...from].flatMap((at) => (fits(text, at) ? at + widthAt(text, at) : [])));
}

function classOf(not: string, inside: string): (text: string, at: number) => boolean {
  const plain = inside.replaceAll(/\\(.)|[[\]^]/gs, (found, escaped = found) => escaped.replace(/[[\]^\\-]/, '\\$&'));
  const expression = classExpression(`^[${not === '' ? '' : '^'}${plain}]$`);
  return (text, at) => text[at] !== '/' && expression?.test(text.slice(at, at + widthAt(text, at))) === true;
}

/** Null where a range ends before it begins: nothing is in it. */
function classExpression(source: string): RegExp | null {
  try {
    return new RegExp(source, 'su');
  } catch {
    return null;
  }
}

/** Characters outside of the basic plane take two places. */
function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** Any number of characters of one name. */
const star: Part = (text, from) => spread(from, (at) => (isPlain(text, at) ? at + 1 : null));

/** Any number of names, each with its slash. */
const folders: Part = (text, from) => spread(startsIn(text, from), (at) => afterName(text, at));

/** Any number of names to the end. */
const all: Part = (text, from) => spread(startsIn(text, from), (at) => (isShown(text, at) ? at + 1 : null));

/** A folder and all below it. */
const below: Part = (text, from) => new Set([...from, ...all(text, literal('/')(text, from))]);

/** The positions, and those that are reached from them one step after the other. */
function spread(from: Iterable<number>, next: (at: number) => number | null): ReadonlySet<number> {
  const reached = new Set(from);
  // What is added while a set is gone through is gone through as well.
  for (const at of reached) {
    const then = next(at);
    if (then !== null) reached.add(then);
  }
  return reached;
}

function startsIn(text: string, from: ReadonlySet<number>): readonly number[] {
  return [...from].filter((at) => isStart(text, at));
}

function afterName(text: string, at: number): number | null {
  const slash = isShown(text, at) ? text.indexOf('/', at) : -1;
  return slash === -1 ? null : slash + 1;
}

function isPlain(text: string, at: number): boolean {
  return isShown(text, at) && text[at] !== '/';
}

/** Not the dot of a hidden name. */
function isShown(text: string, at: number): boolean {
  return at < text.length && !(text[at] === '.' && isStart(text, at));
}

function isStart(text: string, at: number): boolean {
  return at === 0 || text[at - 1] === '/';
}
