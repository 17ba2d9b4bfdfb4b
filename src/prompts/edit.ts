import { contentDigest, withLineFeeds } from '../domain/digest.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import type { YamlEdit } from '../yaml/edit-yaml.ts';
import { editJson } from '../yaml/edited-json.ts';
import { conflictFrontMatter, editFrontMatter, editText, hasFlowFrontMatter } from './edit-source.ts';
import type { FieldConflict } from './mark-conflicts.ts';
import { meaningOf, misreading, type Meaning } from './meaning.ts';
import { parsePromptFile } from './parse.ts';
import { placeOfFile } from './source.ts';

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
  const reason = misreading(encode(edited), path, meant) ?? conflictFault(edited, path, meant, conflicts);
  if (reason !== null) return notKept(reason, path);
  const marked = conflictFrontMatter(edited, conflicts);
  if (edits.conflicted === true || marked !== edited) return { bytes: encode(marked), file: null };
  return validated(encode(edited), path);
}

/** Each side of a conflict has to be one that can be taken. */
function conflictFault(
  edited: string,
  path: string,
  meant: Meaning,
  conflicts: readonly FieldConflict[],
): string | null {
  if (conflicts.length > 0 && hasFlowFrontMatter(edited)) {
    return 'its front matter is in braces, where conflict markers cannot stand';
  }
  const faults = conflicts.map(({ field, theirs }) => {
    const edit: YamlEdit = { kind: 'set', path: [field], value: theirs };
    const frontMatter = editJson(meant.frontMatter, edit);
    return misreading(encode(editFrontMatter(edited, [edit])), path, { ...meant, frontMatter });
  });
  return faults.find((fault) => fault !== null) ?? null;
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
