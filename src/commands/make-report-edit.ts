import type { FileEdit } from '../domain/edits.ts';
import type { ReportEdit } from '../report/schema.ts';
import { makeTextFields } from './make-text-fields.ts';
import { makeReportRef, makeServedFields } from './make-served-fields.ts';

/** Creates the report of one edit to a prompt file. */
export function makeReportEdit(edit: FileEdit): ReportEdit {
  if (edit.kind === 'set-pin') {
    const { serves, versionNumber, active, ...rest } = edit;
    return {
      ...rest,
      ...(versionNumber !== undefined && { version_number: versionNumber }),
      ...(active !== undefined && { active: active && makeReportRef(active) }),
      ...(serves !== undefined && { serves: makeServedFields(serves.change, serves) }),
    };
  }
  if (edit.kind !== 'set-text') return edit;
  const { texts, ...rest } = edit;
  return texts === undefined ? rest : { ...rest, texts: { environment: texts.environment, ...makeTextFields(texts) } };
}
