import type { PromptType } from '../domain/chat.ts';
import { normalizeText } from '../domain/content.ts';
import { normalizeLineEndings, type TextSpan } from '../text.ts';
import { renderCanonicalJson, isJsonObject, omitKey, type JsonObject } from '../domain/json.ts';
import type { ConflictLabels } from '../domain/edits.ts';
import { formatPin, type PromptFile } from '../domain/prompt-file.ts';
import { type Failure, makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import { isError, makeProblem } from '../problem.ts';
import { makeYamlReplacements, type TextReplacement, type YamlEdit } from './edit-yaml.ts';
import { replaceMessages } from './edit-chat-body.ts';
import { findBodySpan, makeFilePlace, findYamlSpan } from '../workspace/front-matter.ts';
import { digestBody } from '../workspace/parse-body.ts';
import {
  type FileSettings,
  makeLenientSettings,
  parsePromptFile,
  type ParsedSource,
  type ParseResult,
} from '../workspace/parse-prompt-file.ts';

/**
 * An edit of one field of the front matter. With `labels`, it is a conflict: both sides changed the field, and
 * promptsync writes both between git's conflict markers. `value` is then the service's value.
 */
export type FrontMatterEdit = YamlEdit & { readonly labels?: ConflictLabels };

/** The edits to one prompt file. If there are no front-matter edits and no new text, the file stays unchanged. */
export type PromptEdits = {
  /** The front-matter edits. promptsync applies them in this order, except that edits with a conflict come last. */
  readonly frontMatter: readonly FrontMatterEdit[];
  /** The new prompt text, with LF line endings. If undefined, the text of the file stays unchanged. */
  readonly text?: string;
  readonly conflicted?: boolean;
};

export type EditedFile = {
  readonly bytes: Uint8Array;
  /** The result of parsing the edited file; null if the file contains conflict markers. */
  readonly file: PromptFile | null;
};

/**
 * Edits a valid prompt file and keeps all other bytes. Fails if the result does not parse to the intended values. If an
 * edit sets a pin in a file without `pins`, writes all default pins, because the file's own pins then replace them.
 */
export function editPromptFile(
  bytes: Uint8Array,
  path: string,
  edits: PromptEdits,
  fileSettings: FileSettings,
): Result<EditedFile> {
  const settings = makeLenientSettings(fileSettings);
  const { file, meaning, problems } = parsePromptFile(bytes, path, settings);
  if (file === null || meaning === null) {
    const problem = problems.find(isError);
    return problem === undefined ? makeNotKeptFailure('it cannot be read', path) : makeFailure(problem);
  }
  const conflicts = edits.frontMatter.filter(({ labels }) => labels !== undefined);
  const plainEdits = [
    ...makeDefaultPinEdits(edits, meaning, settings),
    ...edits.frontMatter.filter(({ labels }) => labels === undefined),
  ];
  const original = replaceText(Buffer.from(bytes).toString(), file.type, meaning, edits);
  const ours = plainEdits.reduce(editFrontMatter, original);
  const parsed = parsePromptFile(Buffer.from(ours.source), path, settings);
  const reason = describeMisreading(parsed, ours.meaning);
  if (reason !== null) return makeNotKeptFailure(reason, path);
  const fileWithMarkers = addConflictMarkers(ours, path, conflicts);
  if (fileWithMarkers !== null) return fileWithMarkers;
  if (parsed.file === null && edits.conflicted !== true) {
    const message = parsed.problems.find(isError)?.message.replace(/\.$/, '');
    return makeNotKeptFailure(`it would not be valid: ${message}`, path);
  }
  return makeSuccess({ bytes: Buffer.from(ours.source), file: parsed.file });
}

/** Creates the edits that write the default pins to a file without the field `pins`, if another edit sets a pin. */
function makeDefaultPinEdits(
  { frontMatter }: PromptEdits,
  meaning: ParsedSource,
  { defaultPins }: FileSettings,
): readonly FrontMatterEdit[] {
  const setsPin = frontMatter.some(({ path }) => path[0] === 'pins');
  if (!setsPin || meaning.frontMatter['pins'] !== undefined) return [];
  return defaultPins.map(({ environment, pin }) => ({
    path: ['pins', environment],
    value: pin.kind === 'number' ? pin.number : formatPin(pin),
  }));
}

/** Replaces the prompt text in the source of a file, if there is a new text and it differs from the present one. */
function replaceText(
  source: string,
  type: PromptType,
  meaning: ParsedSource,
  { text: newText, conflicted = false }: PromptEdits,
): EditedSource {
  if (newText === undefined) return { source, meaning };
  const { text } = digestBody(type, newText);
  if (text === meaning.text) return { source, meaning };
  // Conflict markers can be anywhere, even above the first message. So a text with conflicts replaces the whole body.
  const isEditable = type === 'chat' && !conflicted;
  const renderBody = (body: string) => (isEditable ? replaceMessages(body, text) : normalizeText(newText));
  return { source: replaceBody(source, renderBody), meaning: { ...meaning, text } };
}

/**
 * Returns null if there is nothing to mark. Fails if the file would not have the intended values after a user resolves
 * all conflicts in favor of the service.
 */
function addConflictMarkers(
  ours: EditedSource,
  path: string,
  conflicts: readonly FrontMatterEdit[],
): Result<EditedFile> | null {
  const theirs = conflicts.reduce(editFrontMatter, ours);
  const labels = conflicts[0]?.labels;
  if (theirs === ours || labels === undefined) return null;
  const reason = describeMisreading(parsePromptFile(Buffer.from(theirs.source), path), theirs.meaning);
  if (reason !== null) return makeNotKeptFailure(reason, path);
  return makeSuccess({ bytes: Buffer.from(markDifference(ours.source, theirs.source, labels)), file: null });
}

function makeNotKeptFailure(reason: string, path: string): Failure {
  return makeFailure(makeProblem('edit/not-kept', { reason }, makeFilePlace(path)));
}

/** Returns the reason why parsing a file did not produce the intended values; null if it did. */
export function describeMisreading({ meaning }: ParseResult, intended: ParsedSource): string | null {
  if (meaning === null) return 'promptsync could not read the edited file';
  if (renderCanonicalJson(meaning.frontMatter) !== renderCanonicalJson(intended.frontMatter)) {
    return 'its front matter uses a YAML style that promptsync cannot edit';
  }
  return meaning.text === intended.text ? null : 'the edited file would not contain the intended text';
}

/** The source of a file after some of the edits, and the expected result of parsing that source. */
type EditedSource = { readonly source: string; readonly meaning: ParsedSource };

/** Applies one edit to the source and the expected result. If the field already has the value, keeps the source. */
function editFrontMatter(edited: EditedSource, edit: YamlEdit): EditedSource {
  const frontMatter = editJsonObject(edited.meaning.frontMatter, edit.path, edit.value);
  if (renderCanonicalJson(frontMatter) === renderCanonicalJson(edited.meaning.frontMatter)) return edited;
  const source = replaceInSpan(edited.source, findYamlSpan, (yaml) => makeYamlReplacements(yaml, edit));
  return { source, meaning: { ...edited.meaning, frontMatter } };
}

/** Returns a copy with the value at a path replaced, or removed if the new value is undefined. */
function editJsonObject(
  object: JsonObject,
  [key = '', ...path]: readonly string[],
  value: YamlEdit['value'],
): JsonObject {
  const inner = Object.hasOwn(object, key) ? object[key] : undefined;
  if (path.length > 0 && value === undefined && !isJsonObject(inner)) return object;
  const newInner = path.length === 0 ? value : editJsonObject(isJsonObject(inner) ? inner : {}, path, value);
  return newInner === undefined ? omitKey(object, key) : { ...object, [key]: newInner };
}

/**
 * Replaces the prompt text. Keeps the blank line before the old text and the line breaks after it. Adds a blank line if
 * the new text begins with a line break, because the parser drops the first one.
 * @param renderText receives the old text as in the file, and returns the new text as it should be in the file
 */
function replaceBody(original: string, renderText: (oldText: string) => string): string {
  return replaceInSpan(original, findBodySpan, (body) => {
    const oldText = normalizeText(body);
    const text = renderText(oldText.replace(/^\n/, ''));
    const blankLine = body.startsWith('\n') || text.startsWith('\n') ? '\n' : '';
    return makeBodyReplacements(body, blankLine + text + body.slice(oldText.length));
  });
}

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Edits one part of a file, such as its YAML. `findSpan` and `makeReplacements` get the text as the parser sees it:
 * with LF line endings and no byte order mark. Inserted lines get the line ending of the first line.
 */
function replaceInSpan(
  original: string,
  findSpan: (source: string) => TextSpan,
  makeReplacements: (part: string) => readonly TextReplacement[],
): string {
  const mark = original.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const unmarked = original.slice(mark.length);
  const newline = detectNewline(unmarked);
  const source = normalizeLineEndings(unmarked);
  const span = findSpan(source);
  const findOffset = (offsetInSpan: number) => mark.length + toOriginalOffset(unmarked, span.start + offsetInSpan);
  // Apply the last replacement first, so that the offsets of the earlier ones stay valid.
  return makeReplacements(source.slice(span.start, span.end)).reduceRight(
    (edited, { start, end, text }) =>
      edited.slice(0, findOffset(start)) + text.replaceAll('\n', newline) + edited.slice(findOffset(end)),
    original,
  );
}

/** Converts an offset in the text with LF line endings to one in the original, which may have CRLF. */
function toOriginalOffset(original: string, offset: number): number {
  let removed = 0;
  let at = original.indexOf('\r\n');
  while (at !== -1 && at - removed < offset) {
    removed += 1;
    at = original.indexOf('\r\n', at + 2);
  }
  return offset + removed;
}

/** Returns the first line ending in the text. Returns LF if the text has no line ending. */
function detectNewline(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

/** Returns the shortest single replacement that turns `before` into `after`, if they differ. */
function makeBodyReplacements(before: string, after: string): readonly TextReplacement[] {
  if (before === after) return [];
  const [atStart, atEnd] = countCommonItems(before, after);
  return [{ start: atStart, end: before.length - atEnd, text: after.slice(atStart, after.length - atEnd) }];
}

/** Creates one conflict, from the first different line to the last. Both texts must end with the same line. */
function markDifference(ours: string, theirs: string, labels: ConflictLabels): string {
  const ourLines = ours.split(/(?<=\n)/);
  const theirLines = theirs.split(/(?<=\n)/);
  const [atStart, atEnd] = countCommonItems(ourLines, theirLines);
  const newline = detectNewline(ours);
  return [
    ...ourLines.slice(0, atStart),
    `<<<<<<< ${replaceControlCharacters(labels.ours)}${newline}`,
    ...ourLines.slice(atStart, ourLines.length - atEnd),
    `=======${newline}`,
    ...theirLines.slice(atStart, theirLines.length - atEnd),
    `>>>>>>> ${replaceControlCharacters(labels.theirs)}${newline}`,
    ...ourLines.slice(ourLines.length - atEnd),
  ].join('');
}

/** Returns how many items two sequences have in common at the start and at the end. */
function countCommonItems(a: ArrayLike<string>, b: ArrayLike<string>): readonly [atStart: number, atEnd: number] {
  const most = Math.min(a.length, b.length);
  let atStart = 0;
  while (atStart < most && a[atStart] === b[atStart]) atStart += 1;
  let atEnd = 0;
  while (atEnd < most - atStart && a[a.length - 1 - atEnd] === b[b.length - 1 - atEnd]) atEnd += 1;
  return [atStart, atEnd];
}

/** Replaces control characters with spaces, because a line break in a label would break the conflict marker. */
function replaceControlCharacters(label: string): string {
  return label.replaceAll(/\p{Cc}+/gu, ' ');
}
