import { isDeepStrictEqual } from 'node:util';
import type { FileEdit, Labels, Merged, MergeLines, Side, ThreeTexts } from '../domain/edits.ts';
import type { JsonObject, JsonValue } from '../domain/json.ts';
import { placeholdersOf } from '../domain/text-changes.ts';
import { type FieldName, FIELDS } from '../domain/plan.ts';
import type { Content, PromptFile } from '../domain/prompt-file.ts';
import type { ObservedFields } from '../domain/observed.ts';
import type { FrontMatterEdit } from './edit.ts';

/** How to merge. Lines are merged by git, which another room starts. */
export type Merging = {
  readonly side: Side;
  readonly labels: Labels;
  readonly mergeLines: MergeLines;
};

/** What the service holds of a prompt, and what file and service come from. */
export type Theirs = {
  readonly fields: Pick<ObservedFields, FieldName>;
  /** Null where no text is to be taken over. */
  readonly content: Pick<Content, 'text' | 'metadata'> | null;
  /** The file as both come from it; null where that is not known. */
  readonly base: Pick<PromptFile, FieldName | 'content'> | null;
  /** The text as both come from it, where that is known without its file. */
  readonly baseContent: Pick<Content, 'text' | 'metadata'> | null;
  /** The newer states of the file, where the content may come from one of them; null where it does not. */
  readonly since: readonly Pick<Content, 'text' | 'metadata'>[] | null;
};

export type MergedPrompt = {
  readonly edits: readonly FileEdit[];
  readonly frontMatter: readonly FrontMatterEdit[];
  readonly text: Merged | null;
};

/** One field of a file that changes: as it is reported, and as it is edited. */
type Step = { readonly edit: FileEdit; readonly change: FrontMatterEdit };

/** Merges what was changed in the service into a prompt's file: its fields, its text, its metadata. */
export async function mergePrompt(file: PromptFile, theirs: Theirs, merging: Merging): Promise<MergedPrompt> {
  const text = await mergeContent(file, theirs, merging);
  const steps = [
    ...FIELDS.flatMap((field) => mergeField(file, field, theirs, merging)),
    ...mergeMetadata(file, theirs, merging),
    ...(text === null || text.conflicts > 0 ? [] : followVariables(file, text.text)),
  ];
  const from = merging.labels.theirs;
  const ofText = text === null ? [] : [{ kind: 'set-text' as const, from, conflicts: text.conflicts }];
  return { edits: [...steps.map(({ edit }) => edit), ...ofText], frontMatter: steps.map(({ change }) => change), text };
}

/** Null where the file's text stays. */
async function mergeContent({ content }: PromptFile, theirs: Theirs, merging: Merging): Promise<Merged | null> {
  if (theirs.content === null) return null;
  const texts = { base: theirs.baseContent?.text ?? null, ours: content.text, theirs: theirs.content.text };
  const merged = await mergeText(texts, theirs.since?.map(({ text }) => text) ?? null, merging);
  return merged.text === content.text ? null : merged;
}

/** Merges two texts line by line. What only one side has changed is taken from it. */
export async function mergeText(texts: ThreeTexts, since: readonly string[] | null, merging: Merging): Promise<Merged> {
  const { ours, theirs } = texts;
  // No file can hold it: whoever writes it says why.
  if (!isMergeable(theirs)) return { text: merging.side === 'ours' ? ours : theirs, conflicts: 0 };
  const base = texts.base !== null && isMergeable(texts.base) ? texts.base : null;
  if (ours === theirs || (theirs === base && since === null)) return { text: ours, conflicts: 0 };
  if (ours === base && (since ?? []).length === 0) return { text: theirs, conflicts: 0 };
  if (since !== null) return mergeDoubtful({ base, ours, theirs }, since, merging);
  return merging.mergeLines({ base, ours, theirs }, merging.side, merging.labels);
}

/**
 * Theirs may come from the base or from anything newer (`since`): what it has of an older text was never seen, or was
 * taken back, and nobody but the user knows. So both are merged over each; where it then still differs is a conflict.
 */
async function mergeDoubtful({ base, ours, theirs }: ThreeTexts, since: readonly string[], merging: Merging) {
  const { side, labels, mergeLines } = merging;
  let kept = theirs;
  for (const from of [base, ...since]) {
    kept = (await mergeLines({ base: from, ours, theirs: kept }, 'ours', labels)).text;
  }
  return mergeLines({ base: null, ours: kept, theirs }, side, labels);
}

/** Git merges no text with NUL, and half a character cannot be written to a file. */
function isMergeable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function mergeField(file: PromptFile, field: FieldName, service: Theirs, merging: Merging): readonly Step[] {
  const [ours, theirs] = [file[field], service.fields[field]];
  // A field that the file does not manage stays so.
  if (ours === undefined) return [];
  const base = service.base && { value: service.base[field] ?? '' };
  const { value, conflict } = mergeValue({ base, ours, theirs }, merging.side);
  if (conflict) return [stepOf([field], ours, theirs, merging.labels)];
  return value === ours ? [] : [stepOf([field], ours, value)];
}

/** Key by key; where any key is in conflict, the whole of it is. */
function mergeMetadata({ content }: PromptFile, theirs: Theirs, { side, labels }: Merging): readonly Step[] {
  const ours = content.metadata;
  const metadata = theirs.content?.metadata;
  if (ours === undefined || metadata === undefined) return [];
  const base = theirs.baseContent?.metadata;
  const since = (theirs.since ?? []).flatMap((one) => one.metadata ?? []);
  const isKnown = since.every((one) => isDeepStrictEqual(one, base) || isDeepStrictEqual(one, ours));
  const merged = [...new Set([...Object.keys(ours), ...Object.keys(metadata)])].map((key) => {
    const from = base === undefined || !isKnown ? null : { value: at(base, key) };
    const values = { base: from, ours: at(ours, key), theirs: at(metadata, key), doubtful: theirs.since !== null };
    return { key, before: values.ours, ...mergeValue(values, side) };
  });
  if (merged.some(({ conflict }) => conflict)) return [stepOf(['metadata'], ours, metadata, labels)];
  const changed = merged.filter(({ before, value }) => !isDeepStrictEqual(before, value));
  return changed.map(({ key, before, value }) => stepOf(['metadata', key], before, value));
}

/** `variables` lists the placeholders of the text exactly: those that stay keep their order. */
function followVariables({ variables }: PromptFile, text: string): readonly Step[] {
  if (variables === undefined) return [];
  const used = placeholdersOf(text);
  const after = [
    ...variables.filter((name) => used.includes(name)),
    ...used.filter((name) => !variables.includes(name)),
  ];
  return after.join('\n') === variables.join('\n') ? [] : [stepOf(['variables'], [...variables], after)];
}

/** Undefined: absent. */
type Maybe = JsonValue | undefined;

/** With labels as a conflict. */
function stepOf(path: readonly string[], before: Maybe, value: Maybe, labels?: Labels): Step {
  const field = path.join('.');
  const json = (one: Maybe) => (one === undefined ? null : JSON.stringify(one));
  const conflict = labels !== undefined;
  const edit = { kind: 'set-field' as const, field, before: json(before), after: json(value), conflict };
  return { edit, change: conflict ? { path, value, labels } : { path, value } };
}

/** Values of both sides and of what they come from; undefined: absent. */
type Values<Value> = {
  /** Null where what both come from is not known. */
  readonly base: { readonly value: Value } | null;
  readonly ours: Value;
  readonly theirs: Value;
  /** Whether both may come from something newer: then a value of the base may be an edit taken back. */
  readonly doubtful?: boolean;
};

/** Merges one value as a whole. In a conflict, where nobody says which side counts, it stays ours. */
export function mergeValue<Value>({ base, ours, theirs, doubtful = false }: Values<Value>, side: Side) {
  if (isDeepStrictEqual(ours, theirs)) return { value: ours, conflict: false };
  if (base !== null && !doubtful && isDeepStrictEqual(theirs, base.value)) return { value: ours, conflict: false };
  if (base !== null && isDeepStrictEqual(ours, base.value)) return { value: theirs, conflict: false };
  return { value: side === 'theirs' ? theirs : ours, conflict: side === null };
}

function at(object: JsonObject, key: string): Maybe {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
