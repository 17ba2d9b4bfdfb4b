const LONGEST_SEGMENT = 100;
const LONGEST_NAME = 400;
const EXTENSION = '.md';

/** Letters (with the marks that belong to them), digits, `.`, `_` and `-`, none of which is invisible. */
const UNSAFE = /[^[\p{L}\p{M}\p{N}._\-]--\p{Default_Ignorable_Code_Point}]+/gv;

/** What Windows takes for a device, whatever follows after a dot, and what is never looked into. */
const RESERVED = /^(?:(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)|node_modules$)/i;

/**
 * The path of a prompt's file below the folder of all: its key, made safe for every file system. The id is taken where
 * the key leaves nothing, or more than a path can hold.
 */
export function fileNameOf(key: string, id: string): string {
  const name = safePath(key) ?? safePath(id.replaceAll('/', '-')) ?? 'prompt';
  return `${name}${EXTENSION}`;
}

/** Null where nothing is left, or too much. */
function safePath(text: string): string | null {
  const given = text
    .slice(0, LONGEST_NAME * 4)
    .normalize('NFC')
    .split('/');
  const segments = given.map(safeSegment).filter((segment) => segment !== '');
  const last = segments.pop();
  if (last === undefined) return null;
  const path = [...segments, trim(cut(last, LONGEST_SEGMENT - EXTENSION.length))].join('/');
  return text.length > LONGEST_NAME * 4 || Buffer.byteLength(path) > LONGEST_NAME ? null : path;
}

function safeSegment(segment: string): string {
  const safe = trim(
    segment
      .replaceAll(UNSAFE, '-')
      .replaceAll(/-{2,}/g, '-')
      .replaceAll(/\.{2,}/g, '.'),
  );
  return trim(cut(RESERVED.test(safe) ? `_${safe}` : safe, LONGEST_SEGMENT));
}

function trim(segment: string): string {
  return segment.replaceAll(/^[-.]+|[-.]+$/g, '');
}

/** At most so many bytes of UTF-8, and no character in halves. */
function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const characters = [...text];
  let length = 0;
  const end = characters.findIndex((character) => (length += Buffer.byteLength(character)) > bytes);
  return characters.slice(0, end).join('');
}
