import { FIELDS, type FieldChange, type FieldName, type UpdatePrompt } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { ObservedFields } from '../domain/observed.ts';

/** The fields that the file manages and that differ in the service; no change when there are none. */
export function compareFields(file: PromptFile, fields: ObservedFields): readonly UpdatePrompt[] {
  const entries = FIELDS.flatMap((field): [FieldName, FieldChange][] => {
    const after = file[field];
    return after === undefined || after === fields[field] ? [] : [[field, { before: fields[field], after }]];
  });
  return entries.length === 0 ? [] : [{ kind: 'update-prompt', fields: Object.fromEntries(entries) }];
}
