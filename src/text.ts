/**
 * Matches a character that a reader cannot see, or that reorders the characters around it. These are the characters
 * that Unicode ignores by default (zero-width characters, variation selectors, tags, …), the blank Braille pattern,
 * control characters except tab and line feed, line separators, bidirectional controls and interlinear annotations. A
 * variation selector in an emoji does not match: U+FE0E or U+FE0F right after a pictographic character, and U+FE0F in a
 * keycap.
 */
const HIDDEN =
  /[\p{Default_Ignorable_Code_Point}\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2800\ufff9-\ufffb](?<!\p{Extended_Pictographic}[\ufe0e\ufe0f]|[0-9#*]\ufe0f(?=\u20e3))/gu;

/** Matches a text that cannot contain hidden characters. Most texts match, and this test is faster than `HIDDEN`. */
const PLAIN = /^[\n\t -~]*$/;

/** Returns a text with LF line endings. */
export function withLineFeeds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** Whether a text contains control characters, which include line breaks and tabs. */
export function hasControlCharacters(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** Replaces each hidden character of a text with a visible `\u{…}`. Line feeds and tabs stay. */
export function showHidden(text: string): string {
  return text.replace(HIDDEN, formatCodePoint);
}

/** Formats a character as `\u{…}` with its hexadecimal code point. */
export function formatCodePoint(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** A hidden character in its visible form, with the number of its occurrences and the offset of the first one. */
type HiddenCharacter = { readonly character: string; readonly count: number; readonly offset: number };

/** Finds each kind of hidden character in a text. Offsets are in UTF-16 code units. */
export function findHidden(text: string): readonly HiddenCharacter[] {
  if (PLAIN.test(text)) return [];
  const hidden = new Map<string, HiddenCharacter>();
  // Most texts with emoji contain no hidden characters, and blanking the emoji is slower than this first search.
  const searched = text.search(HIDDEN) === -1 ? text : blankEmojiParts(text);
  for (const match of searched.matchAll(HIDDEN)) {
    const known = hidden.get(match[0]);
    const offset = known?.offset ?? match.index;
    hidden.set(match[0], { character: formatCodePoint(match[0]), count: (known?.count ?? 0) + 1, offset });
  }
  return [...hidden.values()];
}

/**
 * Replaces the joiners and tags inside emoji with blanks of the same length, because they are part of the visible
 * emoji. Variation selectors stay, because `HIDDEN` handles each of them.
 */
function blankEmojiParts(text: string): string {
  // Allows a joiner between any two emoji, because some sequences in use are not the ones that Unicode recommends.
  const joiner = String.raw`(?<=\p{Extended_Pictographic}[\u{fe0f}\p{Emoji_Modifier}]?)\u{200d}(?=\p{Extended_Pictographic})`;
  // A regular expression literal would add 15 ms to every start, because the engine compiles it when it loads the file.
  const emoji = new RegExp(String.raw`\p{RGI_Emoji}|${joiner}`, 'gv');
  return text.replace(emoji, (one) => one.replaceAll(EMOJI_PART, (part) => ' '.repeat(part.length)));
}

const EMOJI_PART = /[\u200d\u{e0020}-\u{e007f}]/gu;

/** A place in a text. Line and column count from 1, and columns are in UTF-16 code units. */
type PlaceInText = { readonly line: number; readonly column: number };

/** Finds the line and the column of an offset in a text. */
export function findPlace(text: string, offset: number): PlaceInText {
  return makePlaceFinder(text)(offset);
}

/**
 * Makes a function that finds the places of many offsets in one pass over the text. Its callers must pass the offsets
 * in ascending order.
 */
export function makePlaceFinder(text: string): (offset: number) => PlaceInText {
  let line = 1;
  let start = 0;
  let end = text.indexOf('\n');
  return (offset) => {
    while (end !== -1 && end < offset) {
      line += 1;
      start = end + 1;
      end = text.indexOf('\n', start);
    }
    return { line, column: offset - start + 1 };
  };
}

/**
 * Whether a text is a single segment of a URL path. Characters such as `/` and `%` are not allowed, and encoding them
 * would not help: servers and gateways decode a path before they split it and resolve `..`.
 */
export function isPathSegment(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !/[/\\?#%\s\p{Cc}]/u.test(text);
}

/**
 * The maximum length of a pattern in characters. Longer patterns match nothing, because the time to match a path grows
 * with the length of the pattern times the length of the path.
 */
export const MAX_PATTERN_LENGTH = 1000;

/** Matches each character with a special meaning in patterns or in a shell. Includes the dot of a leading `./`. */
const PATTERN_CHARACTERS = /^\.(?=\/)|[\\!*?[\]{}()|"]/g;

/** Escapes a key or path so that it selects only that prompt. A key from a stranger may contain pattern characters. */
export function escapeSelector(key: string): string {
  return key.replaceAll(PATTERN_CHARACTERS, String.raw`\$&`);
}

const REDACTION_MARK = '[redacted]';
const MAX_EXCERPT_LENGTH = 200;

/** Makes a function that removes secrets from a text, also in the forms in which JSON and URLs escape them. */
export function makeRedact(...secrets: readonly string[]): (text: string) => string {
  const forms = listEscapedForms(secrets);
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, REDACTION_MARK), text);
}

/**
 * Makes an excerpt of an error response: at most 200 characters, with collapsed white space and without secrets.
 * @param isComplete false if the text is cut off; its end is then omitted, because it may contain half of a secret
 */
export function makeExcerpt(text: string, isComplete: boolean, ...secrets: readonly string[]): string {
  const redact = makeRedact(...secrets);
  const longest = Math.max(0, ...listEscapedForms(secrets).map((form) => form.length));
  const safe = redact(isComplete ? text : text.slice(0, Math.max(0, text.length - longest)));
  const collapsed = redact(safe.replaceAll(/\s+/g, ' ').trim());
  return collapsed.slice(0, MAX_EXCERPT_LENGTH).replace(/[\ud800-\udbff]$/, '');
}

/** Lists the forms of secrets that a text can contain, longest first. */
function listEscapedForms(secrets: readonly string[]): readonly string[] {
  const forms = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
  ]);
  return [...new Set(forms)].filter((form) => form !== '').toSorted((a, b) => b.length - a.length);
}
