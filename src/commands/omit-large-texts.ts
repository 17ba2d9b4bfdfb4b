import type { ReportChange, ReportEdit, ReportPrompt } from '../report/schema.ts';
import type { TextFields } from './make-text-fields.ts';

/** The maximum size of one text in a report, in UTF-8 bytes. Metadata has the same limit. */
const MAX_TEXT_BYTES = 1_000_000;
/** The maximum size of all texts and metadata in a report together, in UTF-8 bytes. */
const MAX_REPORT_TEXT_BYTES = 32_000_000;

/** Returns true if a report can contain all of these texts. A missing text always fits. */
type FitsInReport = (...texts: readonly (string | null | undefined)[]) => boolean;

/**
 * Removes each text that is larger than `MAX_TEXT_BYTES`. As soon as a text would exceed `MAX_REPORT_TEXT_BYTES`,
 * removes that text and all later texts. Marks each change that lost a text with `text_omitted` or `metadata_omitted`.
 */
export function omitLargeTexts(prompts: readonly ReportPrompt[]): readonly ReportPrompt[] {
  const fits = makeSizeCheck();
  return prompts.map((prompt) => {
    const changes = prompt.changes.map((change) => omitFromChange(change, fits));
    return { ...prompt, changes, ...(prompt.edits && { edits: prompt.edits.map((edit) => omitFromEdit(edit, fits)) }) };
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
