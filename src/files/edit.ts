import { contentDigest, withLineFeeds } from '../domain/digest.ts';
import { canonicalJson, isJsonObject, withoutKey, type JsonObject, type JsonValue } from '../domain/json.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import { editFrontMatter, editText, markDifference, type ConflictLabels } from './edit-source.ts';
import type { YamlEdit } from './edit-yaml.ts';
import { splitFrontMatter } from './front-matter.ts';
import { parsePromptFile, textOf } from './parse.ts';
import { decodeSource, placeOfFile } from './source.ts';
import { parseStrictYaml } from './strict-yaml.ts';

/** A field that both sides changed: the file shows its lines and the other ones, between git's markers. */
export type FieldConflict = {
  readonly kind: 'conflict';
  readonly field: string;
  readonly theirs: JsonValue;
  readonly labels: ConflictLabels;
};

/** One value to set or to remove, or a field that both sides have changed. */
export type FrontMatterEdit = YamlEdit | FieldConflict;

/** What to change in a file; nothing where there are no edits and no text. */
export type PromptEdits = {
  /** Made in this order, conflicts after all others. */
  readonly frontMatter: readonly FrontMatterEdit[];
  /** The new text of the prompt, as content: with line feeds. Absent: it stays. */
  readonly text?: string;
  /** The text holds conflict markers. */
  readonly conflicted?: boolean;
};

/** The file is null when it holds conflicts. */
export type EditedFile = { readonly bytes: Uint8Array; readonly file: PromptFile | null };
/** The edited file, or why it is left as it was. */
export type EditResult = EditedFile | { readonly problem: Problem };

/**
 * Edits a valid prompt file in place: every byte that no edit is about stays. What comes of it is parsed again; where
 * it would not say exactly what is meant, there is a problem instead.
 */
export function editPromptFile(bytes: Uint8Array, path: string, edits: PromptEdits): EditResult {
  const { file, problems } = parsePromptFile(bytes, path);
  const before = meaningOf(bytes, path);
  if (file === null || before === null) return { problem: firstError(problems, path) };
  const plain = edits.frontMatter.filter((edit) => edit.kind !== 'conflict');
  const conflicts = edits.frontMatter.filter((edit) => edit.kind === 'conflict');
  const changesText = edits.text !== undefined && contentDigest(edits.text) !== file.content.digest;
  const text = changesText ? withLineFeeds(edits.text) : before.text;
  const meant = { frontMatter: plain.reduce(editJson, before.frontMatter), text };
  const edited = editText(editFrontMatter(decode(bytes), plain), text);
  const reason = misreading(encode(edited), path, meant);
  if (reason !== null) return notKept(reason, path);
  const marked = conflicts.length === 0 ? null : withConflicts(edited, path, meant, conflicts);
  if (marked !== null) return marked;
  return edits.conflicted === true ? { bytes: encode(edited), file: null } : validated(encode(edited), path);
}

/** Each side of a conflict has to be one that can be taken. Null where both are the same. */
function withConflicts(
  edited: string,
  path: string,
  meant: Meaning,
  conflicts: readonly FieldConflict[],
): EditResult | null {
  const sets = conflicts.map(({ field, theirs }): YamlEdit => ({ kind: 'set', path: [field], value: theirs }));
  const theirs = editFrontMatter(edited, sets);
  const reason = misreading(encode(theirs), path, { ...meant, frontMatter: sets.reduce(editJson, meant.frontMatter) });
  if (reason !== null) return notKept(reason, path);
  const labels = conflicts[0]?.labels;
  if (theirs === edited || labels === undefined) return null;
  return { bytes: encode(markDifference(edited, theirs, labels)), file: null };
}

function validated(bytes: Uint8Array, path: string): EditResult {
  const { file, problems } = parsePromptFile(bytes, path);
  if (file !== null) return { bytes, file };
  return notKept(`it would not be valid: ${firstError(problems, path).message.replace(/\.$/, '')}`, path);
}

function firstError(problems: readonly Problem[], path: string): Problem {
  const unread = () => makeProblem('edit/not-kept', { reason: 'it cannot be read' }, placeOfFile(path));
  return problems.find(isError) ?? unread();
}

function notKept(reason: string, path: string): EditResult {
  return { problem: makeProblem('edit/not-kept', { reason }, placeOfFile(path)) };
}

/** With the byte order mark. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** What a file says in its two parts, whether or not that is a valid prompt. */
export type Meaning = { readonly frontMatter: JsonObject; readonly text: string };

/** Null when a part of the file cannot be read. */
function meaningOf(bytes: Uint8Array, path: string): Meaning | null {
  const source = decodeSource(bytes);
  const parts = source === null ? null : splitFrontMatter(source, path).parts;
  if (parts === null) return null;
  const { mapping, problems } = parseStrictYaml(parts.yaml, path);
  return mapping === null || problems.length > 0 ? null : { frontMatter: mapping.value, text: textOf(parts.body) };
}

/** Why a file does not say what it is meant to; null when it does. */
export function misreading(bytes: Uint8Array, path: string, meant: Meaning): string | null {
  const read = meaningOf(bytes, path);
  if (read === null) return 'it could no longer be read';
  if (canonicalJson(read.frontMatter) !== canonicalJson(meant.frontMatter)) {
    return 'its front matter is written in a way that only a person can change';
  }
  return read.text === meant.text ? null : 'its text would be another one';
}

/** What a mapping holds after an edit: what the edited source must be read as. */
function editJson(object: JsonObject, edit: YamlEdit): JsonObject {
  return edit.kind === 'set' ? withValue(object, edit.path, edit.value) : withoutEntry(object, edit.path);
}

function withValue(object: JsonObject, [key = '', ...rest]: readonly string[], value: JsonValue): JsonObject {
  return { ...object, [key]: rest.length === 0 ? value : withValue(objectIn(object, key) ?? {}, rest, value) };
}

function withoutEntry(object: JsonObject, [key = '', ...rest]: readonly string[]): JsonObject {
  const inner = objectIn(object, key);
  if (rest.length === 0) return withoutKey(object, key);
  return inner === null ? object : { ...object, [key]: withoutEntry(inner, rest) };
}

function objectIn(object: JsonObject, key: string): JsonObject | null {
  const value = Object.hasOwn(object, key) ? object[key] : null;
  return isJsonObject(value) ? value : null;
}
