import { comparable } from '../domain/digest.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Named } from '../domain/prompt-file.ts';
import type { ProviderRules } from '../domain/provider.ts';
import type { WrittenPin } from '../domain/versions.ts';
import { placeAt } from '../domain/text.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import { misreading } from './edit.ts';
import { editedYaml } from './edit-yaml.ts';
import { parsePromptFile } from './parse.ts';
import { LARGEST_FILE } from './read-write.ts';
import { writeYaml, type TextStyle, type YamlValue } from './write-yaml.ts';

export type NewFile = Named & {
  /** Undefined: the service has neither key nor name, and none is written. */
  readonly name: string | undefined;
  /** Empty: none is written. */
  readonly description: string;
  readonly text: string;
  /** Empty: none is written. */
  readonly metadata: JsonObject;
  /** In the order in which they are written. */
  readonly pins: readonly NewPin[];
};

type NewPin = { readonly environment: string } & WrittenPin;

/** The source is null where no file can say it; the problems say why, or are warnings about the file. */
type NewFileResult = { readonly source: string | null; readonly problems: readonly Problem[] };

/**
 * Writes the source of a new prompt file. Parses it back with the checks of `promptsync validate`, so that a name that
 * the service's rules refuse never makes the workspace invalid.
 */
export function writeNewFile(wanted: NewFile, rules: ProviderRules): NewFileResult {
  const plain = attempt(wanted, 'plain', rules);
  if (plain.source !== null) return plain;
  const quoted = attempt(wanted, 'double', rules);
  if (quoted.source !== null) return quoted;
  const reason =
    faultOf(comparable(wanted.text)) ?? quoted.problems.find(isError)?.message ?? 'It would not be read back as it is.';
  return { source: null, problems: [makeProblem('import/not-writable', { reason })] };
}

/** What no file keeps of a text, by name and line: whoever has to correct it cannot see it. */
function faultOf(text: string): string | null {
  const found = /\p{Surrogate}|\r(?=\n|$)/u.exec(text);
  const what = found?.[0] === '\r' ? 'ends with a lone carriage return' : 'holds a lone surrogate, half of a character';
  return found && `Line ${placeAt(text, found.index).line} of its text ${what}.`;
}

function attempt(wanted: NewFile, style: TextStyle, rules: ProviderRules): NewFileResult {
  const frontMatter = frontMatterOf(wanted);
  const text = comparable(wanted.text);
  const yaml = yamlOf(frontMatter, wanted, style);
  if (yaml === null) return { source: null, problems: [makeProblem('yaml/too-deep')] };
  const source = `---\n${yaml}---\n\n${text}\n`;
  const bytes = Buffer.from(source);
  const size = { bytes: bytes.length, limit: LARGEST_FILE };
  if (size.bytes > size.limit) return { source: null, problems: [makeProblem('prompt/too-large', size)] };
  const read = parsePromptFile(bytes, wanted.path, rules);
  const isRead = read.file !== null && misreading(read, { frontMatter, text }) === null;
  return { source: isRead ? source : null, problems: read.problems };
}

function frontMatterOf({ id, key, name, description, pins, metadata }: NewFile): JsonObject {
  return {
    id,
    ...(name !== undefined && { key, name }),
    ...(description !== '' && { description }),
    ...(pins.length > 0 && { pins: Object.fromEntries(pins.map(({ environment, value }) => [environment, value])) }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** Null where the metadata is nested deeper than it can be written. */
function yamlOf(frontMatter: JsonObject, { pins }: NewFile, style: TextStyle): string | null {
  const ordered = new Map<string, YamlValue>(Object.entries(frontMatter));
  if (pins.length > 0) ordered.set('pins', new Map(pins.map(({ environment, value }) => [environment, value])));
  try {
    const commented = pins.filter(({ comment }) => comment !== '');
    return commented.reduce(
      (yaml, { environment, ...pin }) => editedYaml(yaml, { path: ['pins', environment], ...pin }),
      writeYaml(ordered, style),
    );
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** In bytes. */
const LONGEST_SEGMENT = 100;
const LONGEST_PATH = 400;
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
  if (text.length > LONGEST_PATH) return null;
  const segments = text.normalize('NFC').split('/').map(safeSegment);
  const path = segments.filter((segment) => segment !== '').join('/');
  const fits = segments.every((segment) => Buffer.byteLength(segment + EXTENSION) <= LONGEST_SEGMENT);
  return path !== '' && fits && Buffer.byteLength(path) <= LONGEST_PATH ? path : null;
}

function safeSegment(segment: string): string {
  const safe = segment
    .replaceAll(UNSAFE, '-')
    .replaceAll(/-{2,}/g, '-')
    .replaceAll(/\.{2,}/g, '.')
    .replaceAll(/^[-.]+|[-.]+$/g, '');
  return RESERVED.test(safe) ? `_${safe}` : safe;
}
