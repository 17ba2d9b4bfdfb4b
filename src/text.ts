/**
 * Characters that are invisible or change the order of others: what Unicode ignores by default, the blank Braille
 * pattern, line separators, bidirectional controls, interlinear annotations, and control characters except tab and line
 * feed.
 */
const HIDDEN_CHARACTERS = String.raw`[\p{Default_Ignorable_Code_Point}\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2800\ufff9-\ufffb]`;
const MAYBE_HIDDEN = new RegExp(HIDDEN_CHARACTERS, 'u');
/**
 * Omits the variation selectors U+FE0E and U+FE0F after a pictographic character, and U+FE0F in a keycap. Includes the
 * joiners that `isSpellingJoiner` accepts.
 */
const HIDDEN = new RegExp(
  String.raw`${HIDDEN_CHARACTERS}(?<!\p{Extended_Pictographic}[\ufe0e\ufe0f]|[0-9#*]\ufe0f(?=\u20e3))`,
  'gu',
);

/** Matches text that certainly contains no hidden characters. This test is faster than `HIDDEN`. */
const PLAIN = /^[\n\t -~]*$/;
/** Matches sequences of characters that are certainly not hidden: printable ASCII, line feeds and tabs. */
const PRINTABLE_ASCII = /[\n\t -~]+/g;

export function normalizeLineEndings(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** Uses no regular expression, which would take quadratic time for a long run of line feeds inside the text. */
export function trimLineFeeds(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}

/** Returns true if the text contains control characters. Line breaks and tabs count, too. */
export function hasControlCharacters(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** Replaces hidden characters with `\u{…}`, including those inside emoji. Keeps the joiners that spelling needs. */
export function showHidden(text: string): string {
  return text.replace(HIDDEN, (character, offset: number) =>
    isSpellingJoiner(text, offset) ? character : formatCodePoint(character),
  );
}

/** The scripts whose letters join or have a virama. Correct spelling in these scripts can need U+200C and U+200D. */
const SCRIPTS_WITH_JOINERS = `
  Arabic Syriac Nko Mongolian Phags_Pa Ahom Balinese Batak Bengali Bhaiksuki Brahmi Buhid Chakma Cham
  Devanagari Dives_Akuru Dogra Grantha Gujarati Gunjala_Gondi Gurmukhi Hanunoo Javanese Kaithi Kannada Kawi
  Kharoshthi Khmer Khojki Khudawadi Lepcha Limbu Mahajani Malayalam Marchen Masaram_Gondi Meetei_Mayek Modi
  Multani Myanmar Nandinagari Newa Oriya Rejang Saurashtra Sharada Siddham Sinhala Soyombo Sundanese
  Syloti_Nagri Tagalog Tagbanwa Tai_Tham Takri Tamil Telugu Tibetan Tirhuta Zanabazar_Square
`;

/** Arabic vowel signs. Unicode assigns them to no single script. */
const ARABIC_MARKS = String.raw`\u064b-\u0655\u0670`;

/** Matches a letter or mark of these scripts at the end. Compiled only on demand, because that takes 30 ms. */
let letterBeforeJoiner: RegExp | undefined;

/** Returns true if the character is a joiner right after a visible letter or mark of a script that needs it. */
function isSpellingJoiner(text: string, offset: number): boolean {
  if (text[offset] !== '\u200c' && text[offset] !== '\u200d') return false;
  letterBeforeJoiner ??= makeLetterPattern();
  return letterBeforeJoiner.test(text.slice(Math.max(0, offset - 2), offset));
}

function makeLetterPattern(): RegExp {
  const scripts = SCRIPTS_WITH_JOINERS.trim().split(/\s+/);
  const members = scripts.map((script) => String.raw`\p{Script=${script}}`).join('');
  const visible = String.raw`(?=[\p{L}\p{M}])(?!\p{Default_Ignorable_Code_Point})`;
  return new RegExp(String.raw`${visible}[${members}${ARABIC_MARKS}]$`, 'u');
}

/** Matches characters that look like a space but are neither a space nor a tab, and invisible characters. */
const UNUSUAL_BLANK = /(?![ \t\n])[\p{Zs}\u2028\u2029\u2800\p{Default_Ignorable_Code_Point}\p{Cc}]/u;

/** Returns the first character that looks blank, except spaces, tabs and line feeds. Returns null if there is none. */
export function findUnusualBlank(text: string): string | null {
  return UNUSUAL_BLANK.exec(text)?.[0] ?? null;
}

/** Returns the first Unicode space other than U+0020. Returns null if there is none. */
export function findUnusualSpace(text: string): string | null {
  return /(?! )\p{Zs}/u.exec(text)?.[0] ?? null;
}

/** Replaces blank characters with spaces and removes invisible ones. Keeps tabs and characters that begin a line. */
export function replaceUnusualBlanks(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replaceAll(/[\v\f\u0085]/g, '\n')
    .replaceAll(/[\p{Zs}\u2800\u115f\u1160\u3164\uffa0]/gu, ' ')
    .replaceAll(/(?![\t\n\r])[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu, '');
}

/** Matches every character that could be hidden: anything except printable ASCII and line feeds. */
const NON_PRINTABLE_ASCII = /[^\n -~]/gu;

/**
 * Escapes hidden characters in JSON text without changing its value. Also escapes `##[`, because a GitHub runner that
 * prints the text would execute it as a workflow command.
 */
export function escapeJson(json: string): string {
  return escapeQuotedText(json, (character) => {
    const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}

/** Like `escapeJson`, for a language with other escape sequences. One of them must be `\u` with four digits. */
export function escapeQuotedText(text: string, formatEscape: (character: string) => string): string {
  return text
    .replaceAll('##[', '##\\u005b')
    .replace(NON_PRINTABLE_ASCII, (character) =>
      showHidden(character) === character ? character : formatEscape(character),
    );
}

/** Formats a character as `\u{…}` with its code point in hexadecimal. */
export function formatCodePoint(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** A hidden character in its visible form, the number of its occurrences, and the offset of the first occurrence. */
type HiddenCharacter = { readonly character: string; readonly count: number; readonly offset: number };

/** Returns one entry for each distinct character. Offsets are in UTF-16 code units. */
export function findHidden(text: string): readonly HiddenCharacter[] {
  // Blanking the emoji is slow, and `HIDDEN` matches nothing in most text with emoji.
  if (!mayContainHidden(text) || text.search(HIDDEN) === -1) return [];
  const hidden = new Map<string, HiddenCharacter>();
  const searched = blankEmojiParts(text);
  for (const match of searched.matchAll(HIDDEN)) {
    if (isSpellingJoiner(searched, match.index)) continue;
    const known = hidden.get(match[0]);
    const offset = known?.offset ?? match.index;
    hidden.set(match[0], { character: formatCodePoint(match[0]), count: (known?.count ?? 0) + 1, offset });
  }
  return [...hidden.values()];
}

/**
 * Returns false if the text certainly has no hidden characters. Removes most characters first, because
 * `MAYBE_HIDDEN` is slow.
 */
function mayContainHidden(text: string): boolean {
  return MAYBE_HIDDEN.test(text.replaceAll(PRINTABLE_ASCII, ''));
}

/**
 * Replaces the joiners and tags inside emoji, which are visible, with blanks of the same length. `HIDDEN` already omits
 * the variation selectors in emoji.
 */
function blankEmojiParts(text: string): string {
  // Allows a joiner between any two emoji, because people also use sequences that Unicode does not recommend.
  const joiner = String.raw`(?<=\p{Extended_Pictographic}[\u{fe0f}\p{Emoji_Modifier}]?)\u{200d}(?=\p{Extended_Pictographic})`;
  // A literal would slow down every start by 15 ms, because the engine would compile it when it loads the file.
  const emoji = new RegExp(String.raw`\p{RGI_Emoji}|${joiner}`, 'gv');
  return text.replace(emoji, (one) => one.replaceAll(EMOJI_PART, (part) => ' '.repeat(part.length)));
}

const EMOJI_PART = /[\u200d\u{e0020}-\u{e007f}]/gu;

/** A range of text, as offsets in UTF-16 code units. `end` is exclusive. */
export type TextSpan = { readonly start: number; readonly end: number };

/** A position in text. Line and column numbers start at 1. Columns count UTF-16 code units. */
type PlaceInText = { readonly line: number; readonly column: number };

export function findPlace(text: string, offset: number): PlaceInText {
  return makePlaceFinder(text)(offset);
}

/** Converts offsets in a single pass over the text, so callers must pass them in ascending order. */
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
 * Returns true if the text can be used as a single segment of a URL path. Rejects characters such as `/` and `%`.
 * Encoding them would not help, because servers and gateways decode a path before they split it and resolve `..`.
 */
export function isPathSegment(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !/[/\\?#%\s\p{Cc}]/u.test(text);
}

/** In characters. Longer patterns match nothing, because the time grows with pattern length times path length. */
export const MAX_PATTERN_LENGTH = 1000;

/** Matches characters with a special meaning in patterns or in a shell, including the dot of a leading `./`. */
const PATTERN_CHARACTERS = /^\.(?=\/)|[\\!*?[\]{}()|"]/g;

/** Makes a selector for one prompt. A stranger may choose a key such as `support/*`, which would act as a pattern. */
export function escapeSelector(key: string): string {
  return key.replaceAll(PATTERN_CHARACTERS, String.raw`\$&`);
}

const REDACTION_MARK = '[redacted]';
const MAX_EXCERPT_LENGTH = 200;

/** Returns a function that removes secrets from text, in each of the forms that `listSecretForms` returns. */
export function makeRedactor(...secrets: readonly string[]): (text: string) => string {
  const forms = sortForms(secrets.flatMap(listEscapedForms));
  const base64Forms = sortForms(secrets.flatMap(listBase64Forms));
  return (text) => {
    const rest = forms.reduce((redacted, form) => redacted.replaceAll(form, REDACTION_MARK), text);
    return base64Forms.reduce(redactBase64, rest);
  };
}

/** Lists the forms of a secret: unchanged, escaped for JSON and URLs, and in base64, as in Basic credentials. */
export function listSecretForms(secret: string): readonly string[] {
  return sortForms([...listEscapedForms(secret), ...listBase64Forms(secret)]);
}

/** Removes each base64 string that contains a base64 form of a secret. */
function redactBase64(text: string, form: string): string {
  const isBase64 = (index: number): boolean => /[\w+/=%-]/.test(text.charAt(index));
  let redacted = '';
  let rest = 0;
  for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, rest)) {
    let start = at;
    while (start > rest && isBase64(start - 1)) start -= 1;
    redacted += text.slice(rest, start) + REDACTION_MARK;
    rest = at + form.length;
    while (isBase64(rest)) rest += 1;
  }
  return redacted + text.slice(rest);
}

/**
 * Returns an excerpt for a message: at most 200 characters, with collapsed whitespace and without secrets.
 * @param isComplete false if the response was truncated; the end may then contain part of a secret and is omitted
 */
export function makeExcerpt(text: string, isComplete: boolean, ...secrets: readonly string[]): string {
  return cutText(redactText(text, isComplete, ...secrets), MAX_EXCERPT_LENGTH);
}

/**
 * Returns the text with collapsed whitespace and without secrets.
 * @param isComplete false if the response was truncated; the end may then contain part of a secret and is omitted
 */
export function redactText(text: string, isComplete: boolean, ...secrets: readonly string[]): string {
  const redact = makeRedactor(...secrets);
  const longest = Math.max(0, ...secrets.flatMap(listSecretForms).map((form) => form.length));
  const safe = redact(isComplete ? text : text.slice(0, Math.max(0, text.length - longest)));
  return redact(safe.replaceAll(/\s+/g, ' ').trim());
}

function listEscapedForms(secret: string): readonly string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
}

/** The minimum length of a base64 form. A shorter one may be part of an ordinary word. */
const MIN_BASE64_FORM_LENGTH = 8;

/**
 * Every base64 string with the secret contains one of three forms, because base64 encodes three bytes at a time. The
 * forms omit the characters at both ends, which also depend on the neighboring bytes.
 */
function listBase64Forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const forms = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
  const long = forms.filter((form) => form.length >= MIN_BASE64_FORM_LENGTH);
  return long.flatMap((form) => [form, encodeURIComponent(form), form.replaceAll('+', '-').replaceAll('/', '_')]);
}

/** Removes duplicate and empty forms of secrets. Puts the longest form first, because it may contain the others. */
function sortForms(forms: readonly string[]): readonly string[] {
  return [...new Set(forms)].filter((form) => form !== '').toSorted((a, b) => b.length - a.length);
}

/** Never ends with half of a character. `maxLength` is in UTF-16 code units. */
export function cutText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '');
}

/** Shortens the text to the maximum length, which does not count the `…` at the end. */
export function shortenText(text: string, maxLength: number): string {
  return text.length > maxLength ? `${cutText(text, maxLength)}…` : text;
}

export function shortenCommitId(commit: string): string {
  return commit.slice(0, 12);
}

/** The number of hexadecimal digits with which people can refer to a plan. */
export const SHORT_DIGEST_DIGITS = 12;

/** Returns the beginning of a digest, as reports for people show it: `sha256:` and 12 hexadecimal digits. */
export function shortenDigest(digest: string): string {
  return digest.slice(0, 'sha256:'.length + SHORT_DIGEST_DIGITS);
}

/** @param many the plural, if it is not the singular with an `s` */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Returns, for example, `a, b, c`, or `a, b, and 30 more` if there are more than `limit`. */
export function joinNames(names: readonly string[], limit: number): string {
  const omitted = names.length - limit;
  return [...names.slice(0, limit), ...(omitted > 0 ? [`and ${formatNumber(omitted)} more`] : [])].join(', ');
}

/** Joins words or clauses, such as "a", "a and b" or "a, b, and c". */
export function joinWords(words: readonly string[], conjunction: 'and' | 'or'): string {
  const last = words.at(-1) ?? '';
  if (words.length < 2) return last;
  return `${words.slice(0, -1).join(', ')}${words.length > 2 ? ',' : ''} ${conjunction} ${last}`;
}

export function joinQuotedNames(names: readonly string[], conjunction: 'and' | 'or'): string {
  return joinWords(
    names.map((name) => `"${name}"`),
    conjunction,
  );
}

/** Puts each name in backticks, and joins the names with commas and a conjunction. */
export function joinCodeNames(names: readonly string[], conjunction: 'and' | 'or'): string {
  return joinWords(
    names.map((name) => `\`${name}\``),
    conjunction,
  );
}

/** Formats a number with commas, such as `10,000`. */
export function formatNumber(number: number): string {
  return number.toLocaleString('en-US');
}
