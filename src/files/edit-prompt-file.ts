import { normalizeText, computeContentDigest } from '../domain/content.ts';
import { withLineFeeds } from '../text.ts';
import { canonicalJson, isJsonObject, omitKey, type JsonObject } from '../domain/json.ts';
import type { ConflictLabels } from '../domain/edits.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { type Failure, makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import { isError, makeProblem } from '../problem.ts';
import { makeYamlReplacements, type TextReplacement, type YamlEdit } from './edit-yaml.ts';
import { findBodySpan, makeFilePlace, findYamlSpan, type Span } from './front-matter.ts';
import { parsePromptFile, type ParsedSource, type ParseResult } from './parse-prompt-file.ts';

/**
 * A value to set or, where it is undefined, to remove. With labels it is the other side of a field that both sides have
 * changed: the file shows the lines of both, between git's markers.
 */
export type FrontMatterEdit = YamlEdit & { readonly labels?: ConflictLabels };

/** What to change in a file; nothing where there are no edits and no text. */
export type PromptEdits = {
  /** Made in this order, conflicts after all others. */
  readonly frontMatter: readonly FrontMatterEdit[];
  /** The new text of the prompt, as content: with line feeds. Absent: it stays. */
  readonly text?: string;
  /** The text holds conflict markers. */
  readonly conflicted?: boolean;
};

export type EditedFile = {
  readonly bytes: Uint8Array;
  /** The file as the parser reads it. Null if it contains conflict markers. */
  readonly file: PromptFile | null;
};

/**
 * Edits a valid prompt file in place. Every byte that no edit is about stays. The edited file is parsed again. If it does
 * not say exactly what the edits mean, the result is a failure.
 */
export function editPromptFile(bytes: Uint8Array, path: string, edits: PromptEdits): Result<EditedFile> {
  const { file, meaning, problems } = parsePromptFile(bytes, path);
  if (file === null || meaning === null) {
    const problem = problems.find(isError);
    return problem === undefined ? makeNotKeptProblem('it cannot be read', path) : makeFailure(problem);
  }
  const conflicts = edits.frontMatter.filter(({ labels }) => labels !== undefined);
  const plain = edits.frontMatter.filter(({ labels }) => labels === undefined);
  const changesText = edits.text !== undefined && computeContentDigest(edits.text) !== file.content.digest;
  const text = changesText ? normalizeText(edits.text) : meaning.text;
  const original = Buffer.from(bytes).toString();
  const before = { source: changesText ? replaceBody(original, text) : original, meaning: { ...meaning, text } };
  const ours = plain.reduce(editFrontMatter, before);
  const read = parsePromptFile(Buffer.from(ours.source), path);
  const reason = describeMisreading(read, ours.meaning);
  if (reason !== null) return makeNotKeptProblem(reason, path);
  const marked = editWithConflicts(ours, path, conflicts);
  if (marked !== null) return marked;
  if (read.file === null && edits.conflicted !== true) {
    return makeNotKeptProblem(
      `it would not be valid: ${read.problems.find(isError)?.message.replace(/\.$/, '')}`,
      path,
    );
  }
  return makeSuccess({ bytes: Buffer.from(ours.source), file: read.file });
}

/** Each side of a conflict has to be one that can be taken. Null where both are the same. */
function editWithConflicts(
  ours: EditedSource,
  path: string,
  conflicts: readonly FrontMatterEdit[],
): Result<EditedFile> | null {
  const theirs = conflicts.reduce(editFrontMatter, ours);
  const labels = conflicts[0]?.labels;
  if (theirs === ours || labels === undefined) return null;
  const reason = describeMisreading(parsePromptFile(Buffer.from(theirs.source), path), theirs.meaning);
  if (reason !== null) return makeNotKeptProblem(reason, path);
  return makeSuccess({ bytes: Buffer.from(markDifference(ours.source, theirs.source, labels)), file: null });
}

function makeNotKeptProblem(reason: string, path: string): Failure {
  return makeFailure(makeProblem('edit/not-kept', { reason }, makeFilePlace(path)));
}

/** Why a file does not say what it is meant to; null when it does. */
export function describeMisreading({ meaning }: ParseResult, meant: ParsedSource): string | null {
  if (meaning === null) return 'it could no longer be read';
  if (canonicalJson(meaning.frontMatter) !== canonicalJson(meant.frontMatter)) {
    return 'its front matter is written in a way that only a person can change';
  }
  return meaning.text === meant.text ? null : 'its text would be another one';
}

/** A source while it is edited, and what it must be read as. */
type EditedSource = { readonly source: string; readonly meaning: ParsedSource };

/** What is set to what it is already keeps the way in which it is written. */
function editFrontMatter(before: EditedSource, edit: YamlEdit): EditedSource {
  const frontMatter = editJsonObject(before.meaning.frontMatter, edit.path, edit.value);
  if (canonicalJson(frontMatter) === canonicalJson(before.meaning.frontMatter)) return before;
  const source = replaceInSpan(before.source, findYamlSpan, (yaml) => makeYamlReplacements(yaml, edit));
  return { source, meaning: { ...before.meaning, frontMatter } };
}

function editJsonObject(
  object: JsonObject,
  [key = '', ...path]: readonly string[],
  value: YamlEdit['value'],
): JsonObject {
  const inner = Object.hasOwn(object, key) ? object[key] : undefined;
  if (path.length > 0 && value === undefined && !isJsonObject(inner)) return object;
  const after = path.length === 0 ? value : editJsonObject(isJsonObject(inner) ? inner : {}, path, value);
  return after === undefined ? omitKey(object, key) : { ...object, [key]: after };
}

/** Another text of the prompt, with the blank line of the old one or that it needs, and with its line breaks at the end. */
function replaceBody(original: string, text: string): string {
  return replaceInSpan(original, findBodySpan, (body) => {
    const first = body.startsWith('\n') || text.startsWith('\n') ? '\n' : '';
    return makeBodyReplacements(body, first + text + body.slice(normalizeText(body).length));
  });
}

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Replaces in a file's text what is to be replaced in a part of it as the parser reads it: without a byte order mark and
 * with line feeds. All other bytes stay; lines that are put in end like the first one of the file.
 */
function replaceInSpan(
  original: string,
  spanOf: (source: string) => Span,
  replacementsIn: (part: string) => readonly TextReplacement[],
): string {
  const mark = original.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const written = original.slice(mark.length);
  const source = withLineFeeds(written);
  const span = spanOf(source);
  const offset = (at: number) => toOriginalOffset(written, span.start + at);
  // From the last one on: what is before it keeps its offsets.
  return replacementsIn(source.slice(span.start, span.end)).reduceRight(
    (after, { start, end, text }) =>
      after.slice(0, mark.length + offset(start)) +
      text.replaceAll('\n', detectNewline(written)) +
      after.slice(mark.length + offset(end)),
    original,
  );
}

/** Where an offset into a text with line feeds is in the text as it is written. */
function toOriginalOffset(written: string, offset: number): number {
  let before = 0;
  for (let at = written.indexOf('\r\n'); at !== -1 && at - before < offset; at = written.indexOf('\r\n', at + 2)) {
    before += 1;
  }
  return offset + before;
}

function detectNewline(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

/** The one replacement that makes `after` of `before`, as short as it can be; none where they are equal. */
function makeBodyReplacements(before: string, after: string): readonly TextReplacement[] {
  if (before === after) return [];
  const [start, end] = findDifference(before, after);
  return [{ start, end: before.length - end, text: after.slice(start, after.length - end) }];
}

/** Both sides of all lines from the first to the last one that differs, between git's markers. The last line is equal. */
function markDifference(ours: string, theirs: string, labels: ConflictLabels): string {
  const [own, other] = [ours.split(/(?<=\n)/), theirs.split(/(?<=\n)/)];
  const [start, end] = findDifference(own, other);
  const newline = detectNewline(ours);
  return [
    ...own.slice(0, start),
    `<<<<<<< ${removeLineBreaks(labels.ours)}${newline}`,
    ...own.slice(start, own.length - end),
    `=======${newline}`,
    ...other.slice(start, other.length - end),
    `>>>>>>> ${removeLineBreaks(labels.theirs)}${newline}`,
    ...own.slice(own.length - end),
  ].join('');
}

/** How many of the first and how many of the last items are the same in both. */
function findDifference(one: ArrayLike<string>, other: ArrayLike<string>): readonly [start: number, end: number] {
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < most - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  return [start, end];
}

/** A label may hold an id of the service. */
function removeLineBreaks(label: string): string {
  return label.replaceAll(/\p{Cc}+/gu, ' ');
}
