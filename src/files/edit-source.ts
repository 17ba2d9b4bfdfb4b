import { withLineFeeds } from '../domain/digest.ts';
import type { JsonValue } from '../domain/json.ts';
import { movedBy, replaceIn, replaceInOriginal, replacementFor, type Replacement, type Span } from './replacement.ts';
import { editYaml, isFlowMapping, linesOfField, type YamlEdit } from './edit-yaml.ts';
import { offsetsOf } from './front-matter.ts';

const BYTE_ORDER_MARK = '\ufeff';

/** A file's text, byte order mark and line endings as they are written, with edits of its front matter. */
export function editFrontMatter(original: string, edits: readonly YamlEdit[]): string {
  return edits.reduce((text, edit) => replaceInYaml(text, (yaml) => editYaml(yaml, edit)), original);
}

/** The file's text with conflicts in its front matter. */
export function conflictFrontMatter(original: string, conflicts: readonly FieldConflict[]): string {
  return replaceInYaml(original, (yaml) => markConflicts(yaml, conflicts));
}

/** The file's text with another text of the prompt. */
export function editText(original: string, text: string): string {
  return replaceInSource(original, (source) => {
    const start = offsetsOf(source).body;
    const body = source.slice(start);
    return movedBy(start, replacementFor(body, bodyLike(body, text)));
  });
}

/** Whether the front matter is one mapping in braces. */
export function hasFlowFrontMatter(original: string): boolean {
  const source = sourceOf(original);
  const { start, end } = offsetsOf(source).yaml;
  return isFlowMapping(source.slice(start, end));
}

/** A body with the blank line and the final newline of another one, and with those that the text needs. */
function bodyLike(body: string, text: string): string {
  const first = body.startsWith('\n') || text.startsWith('\n') ? '\n' : '';
  const last = body.endsWith('\n') || text.endsWith('\n') ? '\n' : '';
  return first + text + last;
}

function replaceInYaml(original: string, replace: (yaml: string) => readonly Replacement[]): string {
  return replaceInSource(original, (source) => {
    const { start, end } = offsetsOf(source).yaml;
    return movedBy(start, replace(source.slice(start, end)));
  });
}

function replaceInSource(original: string, replace: (source: string) => readonly Replacement[]): string {
  const mark = original.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  return mark + replaceInOriginal(original.slice(mark.length), replace(sourceOf(original)));
}

/** As the parser reads it. */
function sourceOf(original: string): string {
  return withLineFeeds(original.startsWith(BYTE_ORDER_MARK) ? original.slice(1) : original);
}

/** What git writes behind its markers: where each side comes from. */
export type ConflictLabels = { readonly ours: string; readonly theirs: string };

/** A field that both sides changed: the file keeps its lines and shows the other ones, between git's markers. */
export type FieldConflict = {
  readonly kind: 'conflict';
  readonly field: string;
  readonly theirs: JsonValue;
  readonly labels: ConflictLabels;
};

type Marks = { readonly ours: Span; readonly labels: ConflictLabels; readonly theirs: string };

/** What to put into the lines of front matter in block style, so that they hold the conflicts. */
export function markConflicts(yaml: string, conflicts: readonly FieldConflict[]): readonly Replacement[] {
  const all = conflicts.flatMap((conflict) => findSides(yaml, conflict));
  // Of two marks at one place the one that closes has to come first.
  return all.toSorted((a, b) => a.ours.start - b.ours.start).flatMap(marks);
}

/** Nothing when both sides are the same. */
function findSides(yaml: string, { field, theirs: value, labels }: FieldConflict): readonly Marks[] {
  const changed = replaceIn(yaml, editYaml(yaml, { kind: 'set', path: [field], value }));
  const theirs = linesOfField(changed, field);
  if (changed === yaml || theirs === null) return [];
  const ours = linesOfField(yaml, field) ?? { start: theirs.start, end: theirs.start };
  return [{ ours, labels, theirs: changed.slice(theirs.start, theirs.end) }];
}

function marks({ ours, labels, theirs }: Marks): readonly Replacement[] {
  return [
    { start: ours.start, end: ours.start, text: `<<<<<<< ${inert(labels.ours)}\n` },
    { start: ours.end, end: ours.end, text: `=======\n${theirs}>>>>>>> ${inert(labels.theirs)}\n` },
  ];
}

/** A label may hold an id of the service: it stays on its line. */
function inert(label: string): string {
  return label.replaceAll(/\p{Cc}+/gu, ' ');
}
