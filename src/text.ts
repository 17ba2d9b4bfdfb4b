/**
 * A character that a reader cannot see, or that reorders the characters around it: the characters that Unicode ignores
 * by default (zero-width characters, variation selectors, tags, …), the blank Braille pattern, control characters except
 * tab and line feed, line separators, bidirectional controls and interlinear annotations. A single variation selector
 * that belongs to an emoji is excluded: U+FE0E or U+FE0F after a pictographic character, and U+FE0F in a keycap.
 */
const HIDDEN =
  /[\p{Default_Ignorable_Code_Point}\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2800\ufff9-\ufffb](?<!\p{Extended_Pictographic}[\ufe0e\ufe0f]|[0-9#*]\ufe0f(?=\u20e3))/gu;

/** A text of these characters alone hides nothing. Most texts pass this test, which is faster than the search. */
const PLAIN = /^[\n\t -~]*$/;

/** Returns a text with LF line endings. */
export function withLineFeeds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** Line breaks and tabs included. */
export function hasControlCharacters(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** The text with everything invisible shown as `\u{…}`; line feeds and tabs stay. */
export function showHidden(text: string): string {
  return text.replace(HIDDEN, formatCodePoint);
}

/** One character as `\u{…}`, hexadecimal. */
export function formatCodePoint(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

type HiddenCharacter = { readonly character: string; readonly count: number; readonly offset: number };

/** Each hidden character of a text, with its first offset (UTF-16 units) and how often it occurs. */
export function findHidden(text: string): readonly HiddenCharacter[] {
  if (PLAIN.test(text)) return [];
  const found = new Map<string, HiddenCharacter>();
  // Finding the emoji takes longer than this first search, and few texts with emoji hide anything.
  const searched = text.search(HIDDEN) === -1 ? text : withoutEmojiParts(text);
  for (const match of searched.matchAll(HIDDEN)) {
    const known = found.get(match[0]);
    const offset = known?.offset ?? match.index;
    found.set(match[0], { character: formatCodePoint(match[0]), count: (known?.count ?? 0) + 1, offset });
  }
  return [...found.values()];
}

/**
 * Replaces the joiners and tags that belong to an emoji with blanks of the same length, because they are part of what a
 * reader sees. Variation selectors stay: `HIDDEN` decides about each of them.
 */
function withoutEmojiParts(text: string): string {
  // A joiner between any two emoji: people write some sequences in another way than Unicode recommends.
  const joiner = String.raw`(?<=\p{Extended_Pictographic}[\u{fe0f}\p{Emoji_Modifier}]?)\u{200d}(?=\p{Extended_Pictographic})`;
  // Not a literal: the engine takes 15 ms to read it, which every start would pay for.
  const emoji = new RegExp(String.raw`\p{RGI_Emoji}|${joiner}`, 'gv');
  return text.replace(emoji, (one) => one.replaceAll(EMOJI_PART, (part) => ' '.repeat(part.length)));
}

const EMOJI_PART = /[\u200d\u{e0020}-\u{e007f}]/gu;

type PlaceInText = { readonly line: number; readonly column: number };

/** Line and column (from 1, in UTF-16 units) of an offset. */
export function findPlace(text: string, offset: number): PlaceInText {
  return makePlaceFinder(text)(offset);
}

/** Does the same for many offsets, each not before the last, in one pass over the text. */
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
 * Whether a text is one segment of a path. What else it holds may be taken for more than that on the way, percent-encoded
 * or not: servers and gateways decode before they look for steps.
 */
export function isPathSegment(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !/[/\\?#%\s\p{Cc}]/u.test(text);
}

/** Longer patterns match nothing: how long it takes to match a path grows with the pattern's length times the path's. */
export const MAX_PATTERN_LENGTH = 1000;

/** What patterns are made of, here or in a shell, the beginning `./` that they are read without included. */
const PATTERN_CHARACTERS = /^\.(?=\/)|[\\!*?[\]{}()|"]/g;

/** What selects the prompt of such a key alone: keys come from strangers. */
export function escapeSelector(key: string): string {
  return key.replaceAll(PATTERN_CHARACTERS, String.raw`\$&`);
}

const REDACTION_MARK = '[redacted]';
const MAX_EXCERPT_LENGTH = 200;

/** Takes secrets out of a text, as they are, and as JSON and addresses would escape them. */
export function makeRedact(...secrets: readonly string[]): (text: string) => string {
  const forms = listEscapedForms(secrets);
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, REDACTION_MARK), text);
}

/**
 * What an error answer said: at most 200 characters, white space collapsed, without what was sent as secret. The end
 * of a text that is not whole is left out, because half of a secret may stand there.
 */
export function makeExcerpt(text: string, whole: boolean, ...secrets: readonly string[]): string {
  const redact = makeRedact(...secrets);
  const longest = Math.max(0, ...listEscapedForms(secrets).map((form) => form.length));
  const safe = redact(whole ? text : text.slice(0, Math.max(0, text.length - longest)));
  const collapsed = redact(safe.replaceAll(/\s+/g, ' ').trim());
  return collapsed.slice(0, MAX_EXCERPT_LENGTH).replace(/[\ud800-\udbff]$/, '');
}

function listEscapedForms(secrets: readonly string[]): readonly string[] {
  const forms = secrets.flatMap((one) => [
    one,
    JSON.stringify(one).slice(1, -1),
    encodeURIComponent(one.toWellFormed()),
  ]);
  return [...new Set(forms)].filter((form) => form !== '').toSorted((a, b) => b.length - a.length);
}
