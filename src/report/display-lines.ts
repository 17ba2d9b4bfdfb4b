import type { PromptType } from '../domain/chat.ts';
import { isMarkerLine, type MarkedLine } from './diff.ts';
import { shortenBlanks } from './escape.ts';

// Prompts are prose: a paragraph is often one line of hundreds of characters. A Markdown page therefore compares and
// shows shorter display lines. promptsync never sends display lines to the service.

/** The maximum length of a display line, in characters as people see them. */
const MAX_LINE_LENGTH = 100;

/** The first character of a display line that continues the line above it. */
const CONTINUATION = '\u0000';
/** The first character of a display line whose text begins with `CONTINUATION` or with this character. */
const ESCAPE = '\u0001';

/**
 * Splits the lines of a text into display lines:
 * - A line of at most `MAX_LINE_LENGTH` characters is one display line.
 * - A longer line is split at the ends of its sentences.
 * - A longer sentence is wrapped between words. A longer word is cut between two characters.
 *
 * Different texts never have the same display lines, so a diff of display lines shows every difference. The marker
 * lines of a chat prompt stay whole, because word marks depend on them.
 */
export function splitIntoDisplayLines(text: string, type: PromptType): string {
  const lines = text.split('\n').flatMap((line) => {
    const parts = isShort(line) || isMarkerLine(line, type) ? [line] : splitIntoSentences(line).flatMap(wrapSentence);
    return parts.map((part, index) => (index === 0 ? escapeFirstPart(part) : `${CONTINUATION}${part}`));
  });
  return lines.join('\n');
}

function escapeFirstPart(line: string): string {
  return line.startsWith(CONTINUATION) || line.startsWith(ESCAPE) ? `${ESCAPE}${line}` : line;
}

/** A display line without the character that encodes whether it continues the line above it. */
export type DisplayLine = { readonly isContinuation: boolean; readonly segments: MarkedLine };

/** Returns true if a display line continues the line above it. */
export function isContinuationLine(line: string): boolean {
  return line.startsWith(CONTINUATION);
}

/** Returns the text of a display line without the character that encodes whether it continues the line above it. */
export function readDisplayText(line: string): string {
  return line.startsWith(CONTINUATION) || line.startsWith(ESCAPE) ? line.slice(1) : line;
}

/** Decodes a display line whose changed words may be marked. */
export function readDisplayLine(line: MarkedLine): DisplayLine {
  const [first, ...others] = line;
  const code = first?.text[0];
  if (first === undefined || (code !== CONTINUATION && code !== ESCAPE))
    return { isContinuation: false, segments: line };
  const rest = first.text.slice(1);
  const segments = rest === '' ? others : [{ text: rest, changed: first.changed }, ...others];
  return { isContinuation: code === CONTINUATION, segments };
}

/**
 * Matches the end of a sentence:
 * - a period, an exclamation mark, a question mark or an ellipsis, then any quotation marks or brackets, if spaces
 *   or tabs follow. If a lowercase letter follows these spaces, the sentence continues. A period after a single letter,
 *   as in "e.g.", does not end a sentence. A period after the number of a list item does not end a sentence either.
 * - a sentence mark of an East Asian script, because these scripts put no spaces between sentences. A match starts at
 *   the first mark of a run. Attempts to match from every mark of the run would take quadratic time.
 *
 * This pattern replaces `Intl.Segmenter`, which splits after "1." and "e.g.". The rules of `Intl.Segmenter` also depend
 * on the version of Node.
 */
const SENTENCE_END =
  /(?:[!?…]|(?<!(?:^|[^\p{L}\p{N}])\p{L}|^[\t\p{Zs}]*\p{N}+)\.)["'”’»)\]}*_`]*(?=[\t\p{Zs}]+[^\p{Ll}\t\p{Zs}])|(?<![。！？｡])[。！？｡]+["'”’」』）)\]]*(?=[\t\p{Zs}]*[^\t\p{Zs}。！？｡"'”’」』）)\]])/gu;

/**
 * Splits a line after each sentence. The spaces between two sentences belong to the second sentence. The first sentence
 * therefore stays the same if another sentence is added after it.
 */
function splitIntoSentences(line: string): readonly string[] {
  const ends = Array.from(line.matchAll(SENTENCE_END), ({ 0: end, index }) => index + end.length);
  return [...ends, line.length].map((end, index) => line.slice(ends[index - 1] ?? 0, end));
}

/** A word of a line, and the spaces and tabs before it. After the last word, `text` is empty. */
type Word = { readonly blanks: string; readonly text: string };

/** Wraps a sentence that is too long for one display line. Spaces stay with the word after them. */
function wrapSentence(sentence: string): readonly string[] {
  if (isShort(sentence)) return [sentence];
  const parts: string[] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const { blanks, text } of splitIntoWords(sentence).flatMap(cutWord)) {
    const textLength = measureLength(text);
    length += measureLength(blanks) + textLength;
    if (text !== '' && length > MAX_LINE_LENGTH) {
      parts.push('');
      // Spaces at the start of a display line do not count toward its length.
      length = textLength;
    }
    parts.push(`${parts.pop() ?? ''}${blanks}${text}`);
  }
  return parts;
}

function splitIntoWords(sentence: string): readonly Word[] {
  const words = sentence.matchAll(/([\t\p{Zs}]*)([^\t\p{Zs}]+|$)/gu);
  return Array.from(words, ([, blanks = '', text = '']) => ({ blanks, text }));
}

/**
 * Cuts a word that is longer than a display line, for example a long address, or text in a writing system that does not
 * put spaces between words.
 */
function cutWord({ blanks, text }: Word): readonly Word[] {
  if (isShort(text)) return [{ blanks, text }];
  const characters = splitIntoCharacters(text);
  return Array.from({ length: Math.ceil(characters.length / MAX_LINE_LENGTH) }, (_, index) => {
    const part = characters.slice(index * MAX_LINE_LENGTH, (index + 1) * MAX_LINE_LENGTH).join('');
    return { blanks: index === 0 ? blanks : '', text: part };
  });
}

/** Returns true if a page shows the text in at most `MAX_LINE_LENGTH` characters. */
function isShort(text: string): boolean {
  return text.length <= MAX_LINE_LENGTH || measureLength(text) <= MAX_LINE_LENGTH;
}

/** Matches text other than printable ASCII with single spaces. Counting the characters of such text takes longer. */
const UNUSUAL = /[^ -~]|  /;

/** Counts the characters that a page shows. The page shows a long run of spaces as a short note. */
function measureLength(text: string): number {
  return UNUSUAL.test(text) ? splitIntoCharacters(shortenBlanks(text)).length : text.length;
}

/** The segmenter of characters. It is created on first use, because loading its rules takes time. */
let segmenter: Intl.Segmenter | undefined;

/** Splits text into characters as people see them: an emoji or a letter with its accents is one character. */
function splitIntoCharacters(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}
