import { isDeepStrictEqual } from 'node:util';
import type { FileEdit, ConflictLabels, MergedText, MergeLines, PreferredSide, ThreeTexts } from '../domain/edits.ts';
import type { JsonObject, JsonValue } from '../domain/json.ts';
import { listPlaceholders } from '../domain/text-changes.ts';
import { type FieldName, FIELDS } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { FileContent } from '../domain/content.ts';
import type { ObservedFields } from '../domain/observed-prompt.ts';
import type { FrontMatterEdit } from './edit-prompt-file.ts';

/** How to merge. Lines are merged by git, which another room starts. */
export type MergeOptions = {
  readonly side: PreferredSide;
  readonly labels: ConflictLabels;
  readonly mergeLines: MergeLines;
};

/** What the service holds of a prompt, and what file and service come from. */
export type ServiceSide = {
  readonly fields: Pick<ObservedFields, FieldName>;
  /** Null where no text is to be taken over. */
  readonly content: FileContent | null;
  /** The file as both come from it; null where that is not known. */
  readonly baseFile: Pick<PromptFile, FieldName | 'content'> | null;
  /** The text as both come from it, where that is known without its file. */
  readonly baseContent: FileContent | null;
  /** The newer states of the file, where the content may come from one of them; null where it does not. */
  readonly newerContents: readonly FileContent[] | null;
};

export type MergedPrompt = {
  readonly edits: readonly FileEdit[];
  readonly frontMatter: readonly FrontMatterEdit[];
  readonly text: MergedText | null;
};

/** One field of a file that changes: as it is reported, and as it is edited. */
type MergeStep = { readonly edit: FileEdit; readonly change: FrontMatterEdit };

/** Merges what was changed in the service into a prompt's file: its fields, its text, its metadata. */
export async function mergePrompt(file: PromptFile, theirs: ServiceSide, merging: MergeOptions): Promise<MergedPrompt> {
  const text = await mergeContent(file, theirs, merging);
  const steps = [
    ...FIELDS.flatMap((field) => mergeField(file, field, theirs, merging)),
    ...mergeMetadata(file, theirs, merging),
    ...(text === null || text.conflicts > 0 ? [] : updateVariables(file, text.text)),
  ];
  const from = merging.labels.theirs;
  const ofText = text === null ? [] : [{ kind: 'set-text' as const, from, conflicts: text.conflicts }];
  return { edits: [...steps.map(({ edit }) => edit), ...ofText], frontMatter: steps.map(({ change }) => change), text };
}

/** Null where the file's text stays. */
async function mergeContent(
  { content }: PromptFile,
  theirs: ServiceSide,
  merging: MergeOptions,
): Promise<MergedText | null> {
  if (theirs.content === null) return null;
  const texts = { base: theirs.baseContent?.text ?? null, ours: content.text, theirs: theirs.content.text };
  const merged = await mergeText(texts, theirs.newerContents?.map(({ text }) => text) ?? null, merging);
  return merged.text === content.text ? null : merged;
}

/** Merges two texts line by line. What only one side has changed is taken from it. */
export async function mergeText(
  texts: ThreeTexts,
  since: readonly string[] | null,
  merging: MergeOptions,
): Promise<MergedText> {
  const { ours, theirs } = texts;
  // No file can hold it: whoever writes it says why.
  if (!isMergeable(theirs)) return { text: merging.side === 'ours' ? ours : theirs, conflicts: 0 };
  const base = texts.base !== null && isMergeable(texts.base) ? texts.base : null;
  if (ours === theirs || (theirs === base && since === null)) return { text: ours, conflicts: 0 };
  if (ours === base && (since ?? []).length === 0) return { text: theirs, conflicts: 0 };
  if (since !== null) return mergeWithUncertainBase({ base, ours, theirs }, since, merging);
  return merging.mergeLines({ base, ours, theirs }, merging.side, merging.labels);
}

/**
 * Theirs may come from the base or from anything newer (`since`): what it has of an older text was never seen, or was
 * taken back, and nobody but the user knows. So both are merged over each; where it then still differs is a conflict.
 */
async function mergeWithUncertainBase(
  { base, ours, theirs }: ThreeTexts,
  since: readonly string[],
  merging: MergeOptions,
): Promise<MergedText> {
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

function mergeField(
  file: PromptFile,
  field: FieldName,
  service: ServiceSide,
  merging: MergeOptions,
): readonly MergeStep[] {
  const [ours, theirs] = [file[field], service.fields[field]];
  // A field that the file does not manage stays so.
  if (ours === undefined) return [];
  const base = service.baseFile && { value: service.baseFile[field] ?? '' };
  const { value, isConflict } = mergeValue({ base, ours, theirs, isBaseUncertain: false }, merging.side);
  if (isConflict) return [makeMergeStep([field], ours, theirs, merging.labels)];
  return value === ours ? [] : [makeMergeStep([field], ours, value)];
}

/** Key by key; where any key is in conflict, the whole of it is. */
function mergeMetadata(
  { content }: PromptFile,
  theirs: ServiceSide,
  { side, labels }: MergeOptions,
): readonly MergeStep[] {
  const ours = content.metadata;
  const metadata = theirs.content?.metadata;
  if (ours === undefined || metadata === undefined) return [];
  const base = theirs.baseContent?.metadata;
  const since = (theirs.newerContents ?? []).flatMap((one) => one.metadata ?? []);
  const isKnown = since.every((one) => isDeepStrictEqual(one, base) || isDeepStrictEqual(one, ours));
  const merged = [...new Set([...Object.keys(ours), ...Object.keys(metadata)])].map((key) => {
    const from = base === undefined || !isKnown ? null : { value: readKey(base, key) };
    const values = {
      base: from,
      ours: readKey(ours, key),
      theirs: readKey(metadata, key),
      isBaseUncertain: theirs.newerContents !== null,
    };
    return { key, before: values.ours, ...mergeValue(values, side) };
  });
  if (merged.some(({ isConflict }) => isConflict)) return [makeMergeStep(['metadata'], ours, metadata, labels)];
  const changed = merged.filter(({ before, value }) => !isDeepStrictEqual(before, value));
  return changed.map(({ key, before, value }) => makeMergeStep(['metadata', key], before, value));
}

/** `variables` lists the placeholders of the text exactly: those that stay keep their order. */
function updateVariables({ variables }: PromptFile, text: string): readonly MergeStep[] {
  if (variables === undefined) return [];
  const used = listPlaceholders(text);
  const after = [
    ...variables.filter((name) => used.includes(name)),
    ...used.filter((name) => !variables.includes(name)),
  ];
  return after.join('\n') === variables.join('\n') ? [] : [makeMergeStep(['variables'], [...variables], after)];
}

/** Undefined: absent. */
type OptionalJson = JsonValue | undefined;

/** With labels as a conflict. */
function makeMergeStep(
  path: readonly string[],
  before: OptionalJson,
  value: OptionalJson,
  labels?: ConflictLabels,
): MergeStep {
  const field = path.join('.');
  const json = (one: OptionalJson) => (one === undefined ? null : JSON.stringify(one));
  const conflict = labels !== undefined;
  const edit = { kind: 'set-field' as const, field, before: json(before), after: json(value), conflict };
  return { edit, change: conflict ? { path, value, labels } : { path, value } };
}

/** Values of both sides and of what they come from; undefined: absent. */
type ThreeValues<Value> = {
  /** Null where what both come from is not known. */
  readonly base: { readonly value: Value } | null;
  readonly ours: Value;
  readonly theirs: Value;
  /** Whether both may come from something newer: then a value of the base may be an edit taken back. */
  readonly isBaseUncertain: boolean;
};

type MergedValue<Value> = {
  readonly value: Value;
  /** Whether both sides changed the value and no option chooses a side. Then `value` is ours. */
  readonly isConflict: boolean;
};

/** Merges one value as a whole. */
export function mergeValue<Value>(
  { base, ours, theirs, isBaseUncertain }: ThreeValues<Value>,
  side: PreferredSide,
): MergedValue<Value> {
  if (isDeepStrictEqual(ours, theirs)) return { value: ours, isConflict: false };
  if (base !== null && !isBaseUncertain && isDeepStrictEqual(theirs, base.value))
    return { value: ours, isConflict: false };
  if (base !== null && isDeepStrictEqual(ours, base.value)) return { value: theirs, isConflict: false };
  return { value: side === 'theirs' ? theirs : ours, isConflict: side === null };
}

function readKey(object: JsonObject, key: string): OptionalJson {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
