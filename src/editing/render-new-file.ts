import type { FileContent } from '../domain/content.ts';
import type { JsonObject } from '../domain/json.ts';
import type { PromptIdentity } from '../domain/prompt-file.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import { describeMisreading } from './edit-prompt-file.ts';
import { editYamlText } from './edit-yaml.ts';
import { findUnwritableReason } from './find-unwritable-reason.ts';
import { findConflictMarker } from '../workspace/front-matter.ts';
import { parsePromptFile, type ParseSettings } from '../workspace/parse-prompt-file.ts';
import { MAX_FILE_BYTES } from '../workspace/read-write-files.ts';
import { renderYaml, type TextStyle, type YamlValue } from '../workspace/render-yaml.ts';
import { CONFLICT_MARKERS_CODE } from '../workspace/yaml-shape.ts';
import type { NewPin } from '../domain/versions.ts';

export type NewFile = PromptIdentity & {
  /** Undefined if the service does not support keys and names. The file then gets neither. */
  readonly name: string | undefined;
  /** The description of the prompt. If it is empty, the file gets no description. */
  readonly description: string;
  /**
   * If its metadata is empty or undefined, the file gets none. The text must be normalized, but only once:
   * `normalizeText` turns `\r\r\n` into `\r\n`, and that into `\n`.
   */
  readonly content: FileContent;
  /** The pins, in the order in which the file lists them. If there are none, the default pins do not apply either. */
  readonly pins: readonly NewPin[];
};

/** The source; null if no file can hold the values. The problems are warnings, or else the reasons for null. */
export type NewFileResult = { readonly source: string | null; readonly problems: readonly Problem[] };

/** Also runs the checks of `promptsync validate`, because an invalid name would make the whole workspace invalid. */
export function renderNewFile(newFile: NewFile, settings: ParseSettings): NewFileResult {
  const plain = renderInStyle(newFile, 'plain', settings);
  if (plain.source !== null) return plain;
  const quoted = renderInStyle(newFile, 'double', settings);
  if (quoted.source !== null) return quoted;
  const reason =
    findUnwritableReason(newFile.content) ??
    quoted.problems.find(isError)?.message ??
    'The new file would not contain the intended values.';
  return { source: null, problems: [makeProblem('import/not-writable', { reason })] };
}

function renderInStyle(newFile: NewFile, style: TextStyle, settings: ParseSettings): NewFileResult {
  const frontMatter = makeFrontMatter(newFile, settings);
  const { text } = newFile.content;
  const yaml = renderFrontMatter(frontMatter, newFile, style);
  if (yaml === null) return { source: null, problems: [makeProblem('yaml/too-deep')] };
  const source = `---\n${yaml}---\n\n${text}\n`;
  const bytes = Buffer.from(source);
  const size = { bytes: bytes.length, limit: MAX_FILE_BYTES };
  if (size.bytes > size.limit) return { source: null, problems: [makeProblem('prompt/too-large', size)] };
  const parsed = parsePromptFile(bytes, newFile.path, settings);
  const isReadBack = parsed.file !== null && describeMisreading(parsed, { frontMatter, text }) === null;
  return { source: isReadBack ? source : null, problems: parsed.problems };
}

function makeFrontMatter(newFile: NewFile, { defaultPins }: ParseSettings): JsonObject {
  const { id, key, name, description, pins, content } = newFile;
  const { metadata = {} } = content;
  // Without the field `pins`, the default pins would apply.
  const hasPins = pins.length > 0 || defaultPins.length > 0;
  return {
    id,
    ...(name !== undefined && { key, name }),
    ...(content.type !== 'text' && { type: content.type }),
    ...(description !== '' && { description }),
    ...(hasPins && { pins: Object.fromEntries(pins.map(({ environment, value }) => [environment, value])) }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(findConflictMarker(content.text) !== -1 && { accept_warnings: [CONFLICT_MARKERS_CODE] }),
  };
}

/** Renders the front matter as YAML. Returns null if the metadata is nested too deeply for the YAML library. */
function renderFrontMatter(frontMatter: JsonObject, { pins }: NewFile, style: TextStyle): string | null {
  const { accept_warnings: acceptWarnings, ...otherFields } = frontMatter;
  const fields = new Map<string, YamlValue>(Object.entries(otherFields));
  if (pins.length > 0) fields.set('pins', new Map(pins.map(({ environment, value }) => [environment, value])));
  try {
    const pinsWithComments = pins.filter(({ comment }) => comment !== '');
    const yaml = pinsWithComments.reduce(
      (edited, { environment, ...pin }) => editYamlText(edited, { path: ['pins', environment], ...pin }),
      renderYaml(fields, style),
    );
    return acceptWarnings === undefined
      ? yaml
      : editYamlText(yaml, { path: ['accept_warnings'], value: acceptWarnings });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The maximum length of one segment of a path, in bytes. */
const MAX_SEGMENT_BYTES = 100;
/** The maximum length of a path, in bytes. */
const MAX_PATH_BYTES = 400;
const EXTENSION = '.md';

/** Matches everything except visible letters and their marks, digits, `.`, `_` and `-`. */
const UNSAFE = /[^[\p{L}\p{M}\p{N}._\-]--\p{Default_Ignorable_Code_Point}]+/gv;

/** Matches device names, which Windows reserves even with an extension, and `node_modules`, which no search enters. */
const RESERVED = /^(?:(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)|node_modules$)/i;

/**
 * Returns a path that is safe for every file system, relative to the folder of the prompt files. If the key has no safe
 * characters or is too long, uses the id. If that does not work either, uses `prompt`.
 */
export function makeFilePath(key: string, id: string): string {
  const name = makeSafePath(key) ?? makeSafePath(id.replaceAll('/', '-')) ?? 'prompt';
  return `${name}${EXTENSION}`;
}

/** Returns null if the text contains no safe characters or is too long. */
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
