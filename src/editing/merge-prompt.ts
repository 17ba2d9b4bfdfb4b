import { isDeepStrictEqual } from 'node:util';
import type { FileEdit, ConflictLabels, MergedText, MergeLines, PreferredSide, ThreeTexts } from '../domain/edits.ts';
import type { JsonObject, JsonValue } from '../domain/json.ts';
import { listVariables } from '../domain/text-changes.ts';
import { type FieldName, FIELDS } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { FileContent } from '../domain/content.ts';
import type { ObservedFields } from '../domain/observed-prompt.ts';
import { parseChatText, type PromptType } from '../domain/chat.ts';
import type { FrontMatterEdit } from './edit-prompt-file.ts';
import { findUnwritableReason } from './find-unwritable-reason.ts';
import { findConflictMarker } from '../workspace/front-matter.ts';
import { digestBody } from '../workspace/parse-body.ts';
import { CONFLICT_MARKERS_CODE } from '../workspace/yaml-shape.ts';

export type MergeOptions = {
  readonly side: PreferredSide;
  readonly labels: ConflictLabels;
  /** Callers pass in this function, because only the code in `src/git` may run git. */
  readonly mergeLines: MergeLines;
};

/** The service's side of a three-way merge, with the merge bases for the fields and for the content. */
export type ServiceSide = {
  readonly fields: Pick<ObservedFields, FieldName>;
  /** The service's content to merge into the file; null if there is none. */
  readonly content: FileContent | null;
  /** The prompt file whose fields are the merge base; null if there is none. */
  readonly baseFile: Pick<PromptFile, FieldName> | null;
  /**
   * The contents that may be the merge base of the service's content. If their results differ, or if there are none,
   * every difference is a conflict.
   */
  readonly baseContents: readonly FileContent[];
};

/** The edits that bring a file up to date with the service. */
export type MergedPrompt = {
  readonly edits: readonly FileEdit[];
  readonly frontMatter: readonly FrontMatterEdit[];
  /** The merged text; null if the text of the file stays unchanged. */
  readonly text: MergedText | null;
};

/** The edit that reports show, and the change that promptsync writes to the file. */
type MergeStep = { readonly edit: FileEdit; readonly change: FrontMatterEdit };

/** Merges the service's changes to fields, text and metadata into a prompt file. */
export async function mergePrompt(
  file: PromptFile,
  service: ServiceSide,
  options: MergeOptions,
): Promise<MergedPrompt> {
  const text = await mergeContent(file, service, options);
  const steps = [
    ...FIELDS.flatMap((field) => mergeField(file, field, service, options)),
    ...mergeMetadata(file, service, options),
    ...(text === null || text.conflicts > 0
      ? []
      : [...updateVariables(file, text.text), ...addAcceptedCode(file, text.text)]),
  ];
  const from = options.labels.theirs;
  const textEdits = text === null ? [] : [{ kind: 'set-text' as const, from, conflicts: text.conflicts }];
  return {
    edits: [...steps.map(({ edit }) => edit), ...textEdits],
    frontMatter: steps.map(({ change }) => change),
    text,
  };
}

/** Merges the service's text into the text of a file. Returns null if the text of the file stays unchanged. */
async function mergeContent(
  { content }: PromptFile,
  service: ServiceSide,
  options: MergeOptions,
): Promise<MergedText | null> {
  if (service.content === null) return null;
  // `pull` blocks such a prompt, unless the file wins.
  if (options.side === 'ours' && findUnwritableReason(service.content) !== null) return null;
  const texts = { ours: content.text, theirs: service.content.text };
  const bases = [...new Set(service.baseContents.map(({ text }) => text))];
  const results = await Promise.all(bases.map((base) => mergeValidText(content.type, { ...texts, base }, options)));
  const [first] = results;
  const isCertain = results.every((result) => isDeepStrictEqual(result, first));
  const merged = first !== undefined && isCertain ? first : await mergeText({ ...texts, base: null }, options);
  // A merge of chat prompts can leave blank lines that do not belong to any message.
  const text = merged.conflicts > 0 ? merged.text : digestBody(content.type, merged.text).text;
  return text === content.text ? null : { ...merged, text };
}

/**
 * Like `mergeText`, but treats every difference as a conflict if the result is an invalid chat prompt. git knows
 * nothing about messages, so it can leave a line below a placeholder.
 */
async function mergeValidText(type: PromptType, texts: ThreeTexts, options: MergeOptions): Promise<MergedText> {
  const merged = await mergeText(texts, options);
  const isValid = merged.conflicts > 0 || type === 'text' || parseChatText(merged.text).faults.length === 0;
  return isValid ? merged : options.mergeLines({ ...texts, base: null }, options.side, options.labels);
}

/** Merges the file (`ours`) and the service (`theirs`) line by line. If one side alone changed a line, it wins. */
export async function mergeText(texts: ThreeTexts, options: MergeOptions): Promise<MergedText> {
  const { ours, theirs } = texts;
  // Skip the merge if git cannot merge the service's text. If that text is chosen, `editPromptFile` reports why no
  // prompt file can contain it.
  if (!isMergeable(theirs)) return { text: options.side === 'ours' ? ours : theirs, conflicts: 0 };
  const base = texts.base !== null && isMergeable(texts.base) ? texts.base : null;
  if (ours === theirs || theirs === base) return { text: ours, conflicts: 0 };
  if (ours === base) return { text: theirs, conflicts: 0 };
  return options.mergeLines({ base, ours, theirs }, options.side, options.labels);
}

/** git does not merge text with a NUL character, and a lone surrogate cannot be written to a file. */
function isMergeable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function mergeField(
  file: PromptFile,
  field: FieldName,
  service: ServiceSide,
  options: MergeOptions,
): readonly MergeStep[] {
  const [ours, theirs] = [file[field], service.fields[field]];
  // Skip a field that the file does not manage.
  if (ours === undefined) return [];
  const base = service.baseFile && { value: service.baseFile[field] ?? '' };
  const { value, isConflict } = mergeValue({ base, ours, theirs }, options.side);
  if (isConflict) return [makeMergeStep([field], ours, theirs, options.labels)];
  return value === ours ? [] : [makeMergeStep([field], ours, value)];
}

/** Merges the metadata key by key. If any key has a conflict, treats the whole metadata as one conflict. */
function mergeMetadata(
  { content }: PromptFile,
  service: ServiceSide,
  { side, labels }: MergeOptions,
): readonly MergeStep[] {
  const ours = content.metadata;
  const metadata = service.content?.metadata;
  if (ours === undefined || metadata === undefined) return [];
  const merged = [...new Set([...Object.keys(ours), ...Object.keys(metadata)])].map((key) => {
    const values = {
      base: findBaseValue(service.baseContents, key),
      ours: getOwnValue(ours, key),
      theirs: getOwnValue(metadata, key),
    };
    return { key, before: values.ours, ...mergeValue(values, side) };
  });
  if (merged.some(({ isConflict }) => isConflict)) return [makeMergeStep(['metadata'], ours, metadata, labels)];
  const changed = merged.filter(({ before, value }) => !isDeepStrictEqual(before, value));
  return changed.map(({ key, before, value }) => makeMergeStep(['metadata', key], before, value));
}

/** Null if there is no merge base, or if the merge bases differ. */
function findBaseValue(bases: readonly FileContent[], key: string): { readonly value: OptionalJson } | null {
  const values = bases.map(({ metadata }) => metadata && { value: getOwnValue(metadata, key) });
  const [first] = values;
  return first !== undefined && values.every((one) => isDeepStrictEqual(one, first)) ? first : null;
}

/** Updates `variables` to list the variables of the merged text. Names that remain in the list keep their order. */
function updateVariables({ variables, type }: PromptFile, text: string): readonly MergeStep[] {
  if (variables === undefined) return [];
  const usedNames = new Set(listVariables({ type, text }));
  const updated = [...new Set([...variables.filter((name) => usedNames.has(name)), ...usedNames])];
  if (updated.join('\n') === variables.join('\n')) return [];
  return [makeMergeStep(['variables'], [...variables], updated)];
}

/** Adds `prompt/conflict-markers` to `accept_warnings` if the merged text contains markers. */
function addAcceptedCode(file: PromptFile, text: string): readonly MergeStep[] {
  if (file.acceptWarnings?.includes(CONFLICT_MARKERS_CODE) === true || findConflictMarker(text) === -1) return [];
  const codes = [...(file.acceptWarnings ?? []), CONFLICT_MARKERS_CODE];
  return [makeMergeStep(['accept_warnings'], file.acceptWarnings && [...file.acceptWarnings], codes)];
}

/** A JSON value; undefined if the field or key is absent. */
type OptionalJson = JsonValue | undefined;

/** Creates the step that changes one value. If `labels` is set, the step is a conflict. */
function makeMergeStep(
  path: readonly string[],
  before: OptionalJson,
  value: OptionalJson,
  labels?: ConflictLabels,
): MergeStep {
  const field = path.join('.');
  const toJson = (json: OptionalJson) => (json === undefined ? null : JSON.stringify(json));
  const conflict = labels !== undefined;
  const edit = { kind: 'set-field' as const, field, before: toJson(before), after: toJson(value), conflict };
  return { edit, change: conflict ? { path, value, labels } : { path, value } };
}

/** A value in the file (`ours`), the service (`theirs`) and the merge base (`base`). Undefined means absent. */
type ThreeValues<Value> = {
  /** The value in the merge base; null if the merge base is unknown. */
  readonly base: { readonly value: Value } | null;
  readonly ours: Value;
  readonly theirs: Value;
};

type MergedValue<Value> = {
  readonly value: Value;
  /**
   * Whether the two sides differ, the merge base does not show which side is right, and no preferred side is set. If
   * true, `value` is the value in the file.
   */
  readonly isConflict: boolean;
};

/** Merges one value as a whole. Does not merge the items of a list or the entries of an object separately. */
export function mergeValue<Value>({ base, ours, theirs }: ThreeValues<Value>, side: PreferredSide): MergedValue<Value> {
  if (isDeepStrictEqual(ours, theirs)) return { value: ours, isConflict: false };
  if (base !== null && isDeepStrictEqual(theirs, base.value)) return { value: ours, isConflict: false };
  if (base !== null && isDeepStrictEqual(ours, base.value)) return { value: theirs, isConflict: false };
  return { value: side === 'theirs' ? theirs : ours, isConflict: side === null };
}

function getOwnValue(object: JsonObject, key: string): OptionalJson {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
