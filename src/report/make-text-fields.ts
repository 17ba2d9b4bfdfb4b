import { isJsonObject, renderCanonicalJson, type JsonValue } from '../domain/json.ts';
import { type TextChange, compareMessages, listBreakingChanges } from '../domain/text-changes.ts';
import type { VersionWithMetadata } from '../domain/versions.ts';
import type { ReportChange, ReportEdit, ReportPrompt } from './schema/report-schema.ts';

/** The fields of a report that show the text, the metadata and the messages before and after a change. */
type TextFields = Omit<NonNullable<Extract<ReportEdit, { readonly kind: 'set-text' }>['texts']>, 'environment'>;

/** Creates the fields that show the content before and after a change. By default, both are unknown. */
export function makeTextFields(
  texts: Pick<TextChange, 'before' | 'after'> = { before: 'unknown', after: 'unknown' },
): TextFields {
  const { before, after } = texts;
  return {
    before_text: getShownText(before),
    after_text: getShownText(after),
    // Set by `omitLargeTexts`. Declared here because report fields appear in schema order.
    text_omitted: undefined,
    ...makeMetadataFields(before, after),
    breaking: listBreakingChanges(texts),
    messages: compareMessages(texts) ?? undefined,
  };
}

function getShownText(side: TextChange['before']): string | null {
  return side === null || side === 'unknown' ? null : side.text;
}

/** Returns no fields if one side is unknown or does not manage metadata, or if the metadata of both is empty. */
function makeMetadataFields(
  before: TextChange['before'],
  after: TextChange['after'],
): Pick<TextFields, 'before_metadata' | 'after_metadata'> {
  if (before === 'unknown' || after === 'unknown') return {};
  const sides = before === null ? [after] : [before, after];
  const isManaged = sides.every(({ metadata }) => metadata !== undefined);
  const hasMetadata = sides.some(({ metadata = {} }) => renderCanonicalJson(metadata) !== '{}');
  if (!isManaged || !hasMetadata) return {};
  return {
    before_metadata: before === null ? undefined : renderMetadata(before.metadata),
    after_metadata: renderMetadata(after.metadata),
  };
}

/** Renders one line per metadata key, in alphabetical order. Renders metadata that is not a mapping as JSON. */
function renderMetadata(metadata: JsonValue = {}): string {
  if (!isJsonObject(metadata)) return renderCanonicalJson(metadata);
  const names = Object.keys(metadata).toSorted();
  return names.map((name) => `${escapeName(name)}: ${renderCanonicalJson(metadata[name] ?? null)}`).join('\n');
}

/** Quotes special characters. For example, an unquoted key with a line feed would look like two keys. */
function escapeName(name: string): string {
  const quoted = JSON.stringify(name);
  return quoted === `"${name}"` ? name : quoted;
}

/** Makes the fields for the metadata that a new version keeps from an earlier version, if any. */
export function makeKeptMetadataFields(
  from: VersionWithMetadata | undefined,
): Pick<CreateVersionReport, 'metadata_from' | 'kept_metadata' | 'metadata_omitted'> {
  if (from === undefined) return {};
  const { id, number, metadata } = from;
  return {
    metadata_from: { id, version_number: number },
    kept_metadata: renderMetadata(metadata),
    metadata_omitted: undefined,
  };
}

type CreateVersionReport = Extract<ReportChange, { readonly kind: 'create-version' }>;

/** The maximum size of a single text in a report, in UTF-8 bytes. Metadata has the same limit. */
const MAX_TEXT_BYTES = 1_000_000;
/** The maximum total size of the texts and metadata in a report, in UTF-8 bytes. */
const MAX_REPORT_TEXT_BYTES = 32_000_000;

/** Returns true if all of these texts fit in the report. A missing text always fits. */
type FitsInReport = (...texts: readonly (string | null | undefined)[]) => boolean;

/**
 * Removes each text above `MAX_TEXT_BYTES`, and all texts from the first one that would make the total exceed
 * `MAX_REPORT_TEXT_BYTES`. Marks the changes that lost something with `text_omitted` or `metadata_omitted`.
 */
export function omitLargeTexts(prompts: readonly ReportPrompt[]): readonly ReportPrompt[] {
  const fits = makeSizeCheck();
  return prompts.map((prompt) => {
    const changes = prompt.changes.map((change) => omitFromChange(change, fits));
    return { ...prompt, changes, edits: prompt.edits?.map((edit) => omitFromEdit(edit, fits)) };
  });
}

function makeSizeCheck(): FitsInReport {
  let room = MAX_REPORT_TEXT_BYTES;
  return (...texts) => {
    const sizes = texts.map((text) => Buffer.byteLength(text ?? ''));
    const size = sizes.reduce((sum, one) => sum + one, 0);
    if (size === 0) return true;
    if (sizes.some((one) => one > MAX_TEXT_BYTES)) return false;
    room -= size;
    return room >= 0;
  };
}

function omitFromChange(change: ReportChange, fits: FitsInReport): ReportChange {
  if (change.kind === 'set-active') return { ...change, ...omitFromFields(change, fits) };
  if (change.kind !== 'create-version' || fits(change.kept_metadata)) return change;
  return { ...change, kept_metadata: undefined, metadata_omitted: true };
}

function omitFromEdit(edit: ReportEdit, fits: FitsInReport): ReportEdit {
  if (edit.kind === 'set-pin' && edit.serves) {
    return { ...edit, serves: { ...edit.serves, ...omitFromFields(edit.serves, fits) } };
  }
  if (edit.kind === 'set-text' && edit.texts) {
    return { ...edit, texts: { ...edit.texts, ...omitFromFields(edit.texts, fits) } };
  }
  return edit;
}

/** Removes the metadata of both sides if one side is too large, because half of a comparison would be misleading. */
function omitFromFields(fields: TextFields, fits: FitsInReport): Partial<TextFields> {
  const isBeforeShown = fits(fields.before_text, fields.before_metadata);
  const isAfterShown = fits(fields.after_text, fields.after_metadata);
  if (isBeforeShown && isAfterShown) return {};
  return {
    before_text: isBeforeShown ? fields.before_text : null,
    after_text: isAfterShown ? fields.after_text : null,
    text_omitted: true,
    before_metadata: undefined,
    after_metadata: undefined,
  };
}
