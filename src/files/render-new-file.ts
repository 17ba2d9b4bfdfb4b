import type { FileContent } from '../domain/content.ts';
import type { JsonObject } from '../domain/json.ts';
import type { PromptIdentity } from '../domain/prompt-file.ts';
import type { ProviderRules } from '../domain/provider.ts';
import type { WrittenPin } from '../domain/versions.ts';
import { findPlace } from '../text.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import { describeMisreading } from './edit-prompt-file.ts';
import { editYamlText } from './edit-yaml.ts';
import { parsePromptFile } from './parse-prompt-file.ts';
import { MAX_FILE_BYTES } from './read-write.ts';
import { renderYaml, type TextStyle, type YamlValue } from './render-yaml.ts';

export type NewFile = PromptIdentity & {
  /** Undefined: the service has neither key nor name, and none is written. */
  readonly name: string | undefined;
  /** Empty: none is written. */
  readonly description: string;
  /**
   * The text is in the form of `normalizeText`. Normalizing it again would drop the carriage return of `\r\n`, which comes
   * from a `\r\r\n` of the service. The file gets no metadata if there is none, or if it is empty.
   */
  readonly content: FileContent;
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
export function renderNewFile(wanted: NewFile, rules: ProviderRules): NewFileResult {
  const plain = renderInStyle(wanted, 'plain', rules);
  if (plain.source !== null) return plain;
  const quoted = renderInStyle(wanted, 'double', rules);
  if (quoted.source !== null) return quoted;
  const reason =
    findTextFault(wanted.content.text) ??
    quoted.problems.find(isError)?.message ??
    'It would not be read back as it is.';
  return { source: null, problems: [makeProblem('import/not-writable', { reason })] };
}

/** What no file keeps of a text, by name and line: whoever has to correct it cannot see it. */
function findTextFault(text: string): string | null {
  const found = /\p{Surrogate}|\r(?=\n|$)/u.exec(text);
  const what = found?.[0] === '\r' ? 'ends with a lone carriage return' : 'holds a lone surrogate, half of a character';
  return found && `Line ${findPlace(text, found.index).line} of its text ${what}.`;
}

function renderInStyle(wanted: NewFile, style: TextStyle, rules: ProviderRules): NewFileResult {
  const frontMatter = makeFrontMatter(wanted);
  const { text } = wanted.content;
  const yaml = renderFrontMatter(frontMatter, wanted, style);
  if (yaml === null) return { source: null, problems: [makeProblem('yaml/too-deep')] };
  const source = `---\n${yaml}---\n\n${text}\n`;
  const bytes = Buffer.from(source);
  const size = { bytes: bytes.length, limit: MAX_FILE_BYTES };
  if (size.bytes > size.limit) return { source: null, problems: [makeProblem('prompt/too-large', size)] };
  const read = parsePromptFile(bytes, wanted.path, rules);
  const isRead = read.file !== null && describeMisreading(read, { frontMatter, text }) === null;
  return { source: isRead ? source : null, problems: read.problems };
}

function makeFrontMatter({ id, key, name, description, pins, content }: NewFile): JsonObject {
  const { metadata = {} } = content;
  return {
    id,
    ...(name !== undefined && { key, name }),
    ...(description !== '' && { description }),
    ...(pins.length > 0 && { pins: Object.fromEntries(pins.map(({ environment, value }) => [environment, value])) }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** Null where the metadata is nested deeper than it can be written. */
function renderFrontMatter(frontMatter: JsonObject, { pins }: NewFile, style: TextStyle): string | null {
  const ordered = new Map<string, YamlValue>(Object.entries(frontMatter));
  if (pins.length > 0) ordered.set('pins', new Map(pins.map(({ environment, value }) => [environment, value])));
  try {
    const commented = pins.filter(({ comment }) => comment !== '');
    return commented.reduce(
      (yaml, { environment, ...pin }) => editYamlText(yaml, { path: ['pins', environment], ...pin }),
      renderYaml(ordered, style),
    );
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** In bytes. */
const MAX_SEGMENT_BYTES = 100;
const MAX_PATH_BYTES = 400;
const EXTENSION = '.md';

/** Letters (with the marks that belong to them), digits, `.`, `_` and `-`, none of which is invisible. */
const UNSAFE = /[^[\p{L}\p{M}\p{N}._\-]--\p{Default_Ignorable_Code_Point}]+/gv;

/** What Windows takes for a device, whatever follows after a dot, and what is never looked into. */
const RESERVED = /^(?:(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)|node_modules$)/i;

/**
 * The path of a prompt's file below the folder of all: its key, made safe for every file system. The id is taken where
 * the key leaves nothing, or more than a path can hold.
 */
export function makeFilePath(key: string, id: string): string {
  const name = makeSafePath(key) ?? makeSafePath(id.replaceAll('/', '-')) ?? 'prompt';
  return `${name}${EXTENSION}`;
}

/** Null where nothing is left, or too much. */
function makeSafePath(text: string): string | null {
  if (text.length > MAX_PATH_BYTES) return null;
  const segments = text.normalize('NFC').split('/').map(makeSafeSegment);
  const path = segments.filter((segment) => segment !== '').join('/');
  const fits = segments.every((segment) => Buffer.byteLength(segment + EXTENSION) <= MAX_SEGMENT_BYTES);
  return path !== '' && fits && Buffer.byteLength(path) <= MAX_PATH_BYTES ? path : null;
}

function makeSafeSegment(segment: string): string {
  const safe = segment
    .replaceAll(UNSAFE, '-')
    .replaceAll(/-{2,}/g, '-')
    .replaceAll(/\.{2,}/g, '.')
    .replaceAll(/^[-.]+|[-.]+$/g, '');
  return RESERVED.test(safe) ? `_${safe}` : safe;
}
