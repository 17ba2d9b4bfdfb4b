import stringWidth from 'fast-string-width';
import type { PromptType } from '../domain/chat.ts';
import { isMarkerLine } from './text-diff.ts';
import { shortenBlanks } from './escape.ts';

// Prompts are prose: a paragraph is often one line of hundreds of characters. A Markdown page therefore compares and
// shows shorter display lines. promptsync never sends display lines to the service.

/** The maximum width of a display line, in terminal cells. */
const MAX_COLUMNS = 80;

/** The first character of a display line that continues the line above it. */
const CONTINUATION = '\u0000';
/** The first character of a display line whose text begins with `CONTINUATION` or with this character. */
const ESCAPE = '\u0001';

/**
 * Splits lines that are too long at the ends of sentences, long sentences between words, and long words between
 * characters. Different texts never have the same display lines, so a diff of display lines shows every difference. The
 * marker lines of a chat prompt stay whole, because they are the headings of its messages.
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

export function isContinuationLine(line: string): boolean {
  return line.startsWith(CONTINUATION);
}

/** Returns the text of a display line without the character that encodes whether it continues the line above it. */
export function readDisplayText(line: string): string {
  return line.startsWith(CONTINUATION) || line.startsWith(ESCAPE) ? line.slice(1) : line;
}

/**
 * Matches the end of a sentence. `Intl.Segmenter` would also split after "1." and "e.g.", and depends on the version of
 * Node.
 * - A period, an exclamation mark, a question mark or an ellipsis, then any quotation marks or brackets, before blanks.
 *   It does not count before a lowercase letter, nor does a period after a single letter or the number of a list item.
 * - A sentence mark of an East Asian script, because these scripts put no spaces between sentences. A match starts at
 *   the first mark of a run. Attempts to match from every mark of the run would take quadratic time.
 */
const SENTENCE_END =
  /(?:[!?…]|(?<!(?:^|[^\p{L}\p{N}])\p{L}|^[\t\p{Zs}]*\p{N}+)\.)["'”’»)\]}*_`]*(?=[\t\p{Zs}]+[^\p{Ll}\t\p{Zs}])|(?<![。！？｡])[。！？｡]+["'”’」』）)\]]*(?=[\t\p{Zs}]*[^\t\p{Zs}。！？｡"'”’」』）)\]])/gu;

/** Leaves the spaces between two sentences to the second one, so that adding it does not change the first one. */
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
  let columns = Number.POSITIVE_INFINITY;
  for (const { blanks, text } of splitIntoWords(sentence).flatMap(cutWord)) {
    const width = measureWidth(text);
    columns += measureWidth(blanks) + width;
    if (text !== '' && columns > MAX_COLUMNS) {
      parts.push('');
      // Spaces at the start of a display line do not count toward its width.
      columns = width;
    }
    parts.push(`${parts.pop() ?? ''}${blanks}${text}`);
  }
  return parts;
}

function splitIntoWords(sentence: string): readonly Word[] {
  const words = sentence.matchAll(/([\t\p{Zs}]*)([^\t\p{Zs}]+|$)/gu);
  return Array.from(words, ([, blanks = '', text = '']) => ({ blanks, text }));
}

/** The segmenter of characters. It is created on first use, because loading its rules takes time. */
let segmenter: Intl.Segmenter | undefined;

/** Cuts a word that is wider than a display line, but never a grapheme, such as an emoji or an accented letter. */
function cutWord({ blanks, text }: Word): readonly Word[] {
  if (isShort(text)) return [{ blanks, text }];
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  const parts: string[] = [];
  let columns = Number.POSITIVE_INFINITY;
  for (const { segment: character } of segmenter.segment(text)) {
    const width = measureWidth(character);
    columns += width;
    if (columns > MAX_COLUMNS) {
      parts.push('');
      columns = width;
    }
    parts.push(`${parts.pop() ?? ''}${character}`);
  }
  return parts.map((part, index) => ({ blanks: index === 0 ? blanks : '', text: part }));
}

function isShort(text: string): boolean {
  return measureWidth(text) <= MAX_COLUMNS;
}

/** Returns the width of a text in terminal cells. The page shows a long run of spaces as a short note. */
function measureWidth(text: string): number {
  return stringWidth(shortenBlanks(text));
}
