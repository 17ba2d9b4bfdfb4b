import { withLineFeeds } from '../domain/digest.ts';
import type { JsonObject } from '../domain/json.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import { misreading } from './edit.ts';
import { parsePromptFile } from './parse.ts';
import { LARGEST_FILE } from './read-write.ts';
import { writeYaml, type TextStyle, type YamlValue } from './write-yaml.ts';

/** What a new prompt file is to say. */
export type NewFile = Pick<PromptFile, 'path' | 'id' | 'key' | 'name'> & {
  /** Empty: none is written. */
  readonly description: string;
  readonly text: string;
  /** Empty: none is written. */
  readonly metadata: JsonObject;
  /** In the order in which they are written. */
  readonly pins: readonly NewPin[];
};

type NewPin = { readonly environment: string; readonly pin: 'latest' | number };

/** The source is null where no file can say it; the problems say why, or are warnings about the file. */
type NewFileResult = { readonly source: string | null; readonly problems: readonly Problem[] };

/** Writes the source of a new prompt file, which is parsed back as exactly what it is to say. */
export function writeNewFile(wanted: NewFile): NewFileResult {
  const plain = attempt(wanted, 'plain');
  if (plain.source !== null) return plain;
  const quoted = attempt(wanted, 'double');
  if (quoted.source !== null) return quoted;
  const reason = quoted.problems.find(isError)?.message ?? 'It would not be read back as it is.';
  return { source: null, problems: [makeProblem('import/not-writable', { reason })] };
}

function attempt(wanted: NewFile, style: TextStyle): NewFileResult {
  const frontMatter = frontMatterOf(wanted);
  const text = withLineFeeds(wanted.text);
  const yaml = yamlOf(frontMatter, wanted, style);
  if (yaml === null) return { source: null, problems: [makeProblem('yaml/too-deep')] };
  const source = `---\n${yaml}---\n\n${text}\n`;
  const bytes = Buffer.from(source);
  const size = { bytes: bytes.length, limit: LARGEST_FILE };
  if (size.bytes > size.limit) return { source: null, problems: [makeProblem('prompt/too-large', size)] };
  const read = parsePromptFile(bytes, wanted.path);
  const isRead = read.file !== null && misreading(read, { frontMatter, text }) === null;
  return { source: isRead ? source : null, problems: read.problems };
}

function frontMatterOf({ id, key, name, description, pins, metadata }: NewFile): JsonObject {
  return {
    ...{ id, key, name },
    ...(description === '' ? {} : { description }),
    ...(pins.length === 0 ? {} : { pins: Object.fromEntries(pins.map(({ environment, pin }) => [environment, pin])) }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

/** Null where the metadata is nested deeper than it can be written. */
function yamlOf(frontMatter: JsonObject, { pins }: NewFile, style: TextStyle): string | null {
  const ordered = new Map<string, YamlValue>(Object.entries(frontMatter));
  if (pins.length > 0) ordered.set('pins', new Map(pins.map(({ environment, pin }) => [environment, pin])));
  try {
    return writeYaml(ordered, style);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

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
