import type { JsonValue } from '../domain/json.ts';
import { replaceIn, type Replacement, type Span } from '../domain/replacement.ts';
import { editYaml } from '../yaml/edit-yaml.ts';
import { linesOfField } from '../yaml/find-target.ts';

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
