import { isJsonObject, renderCanonicalJson, type JsonValue } from '../domain/json.ts';
import { type TextChange, compareMessages, listBreakingChanges } from '../domain/text-changes.ts';
import type { VersionWithMetadata } from '../domain/versions.ts';
import type { ReportChange, ReportEdit } from '../report/schema.ts';

/** The fields of a report that show the text, the metadata and the messages before and after a change. */
export type TextFields = Omit<NonNullable<Extract<ReportEdit, { readonly kind: 'set-text' }>['texts']>, 'environment'>;

/** Creates the fields that show the content before and after a change. By default, both are unknown. */
export function makeTextFields(
  texts: Pick<TextChange, 'before' | 'after'> = { before: 'unknown', after: 'unknown' },
): TextFields {
  const { before, after } = texts;
  return {
    before_text: getShownText(before),
    after_text: getShownText(after),
    // `omitLargeTexts` sets this field. It stands here, because reports have the order of their schema.
    text_omitted: undefined,
    ...makeMetadataFields(before, after),
    breaking: listBreakingChanges(texts),
    ...makeMessageFields(texts),
  };
}

function makeMessageFields(texts: Pick<TextChange, 'before' | 'after'>): Pick<TextFields, 'messages'> {
  const messages = compareMessages(texts);
  return messages === null ? {} : { messages };
}

function getShownText(side: TextChange['before']): string | null {
  return side === null || side === 'unknown' ? null : side.text;
}

/**
 * Returns the metadata before and after a change. Returns an empty object in these cases:
 *
 * - The content of one side is unknown.
 * - One side does not manage metadata.
 * - The metadata of both sides is empty.
 */
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
    ...(before && { before_metadata: renderMetadata(before.metadata) }),
    after_metadata: renderMetadata(after.metadata),
  };
}

/** Renders one line per metadata key, in alphabetical order. Renders metadata that is not a mapping as JSON. */
function renderMetadata(metadata: JsonValue = {}): string {
  if (!isJsonObject(metadata)) return renderCanonicalJson(metadata);
  const names = Object.keys(metadata).toSorted();
  return names.map((name) => `${escapeName(name)}: ${renderCanonicalJson(metadata[name] ?? null)}`).join('\n');
}

/**
 * Quotes a metadata key that contains special characters. For example, an unquoted key with a line feed would look like
 * two keys.
 */
function escapeName(name: string): string {
  const quoted = JSON.stringify(name);
  return quoted === `"${name}"` ? name : quoted;
}

/** Creates the report field for the metadata that a new version keeps from an earlier version. */
export function makeKeptMetadataFields({
  metadata,
}: Pick<VersionWithMetadata, 'metadata'>): Pick<CreateVersionReport, 'kept_metadata' | 'metadata_omitted'> {
  return { kept_metadata: renderMetadata(metadata), metadata_omitted: undefined };
}

type CreateVersionReport = Extract<ReportChange, { readonly kind: 'create-version' }>;
