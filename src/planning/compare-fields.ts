import { FIELDS, type FieldChange, type FieldName, type UpdatePrompt } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { RemotePrompt } from '../domain/prompt-service.ts';

/** The fields that the file manages and that differ in the service; no change when there are none. */
export function compareFields(file: PromptFile, prompt: Pick<RemotePrompt, FieldName>): readonly UpdatePrompt[] {
  const entries = FIELDS.flatMap((field): [FieldName, FieldChange][] => {
    const after = file[field];
    return after === undefined || after === prompt[field] ? [] : [[field, { before: prompt[field], after }]];
  });
  return entries.length === 0 ? [] : [{ kind: 'update-prompt', fields: Object.fromEntries(entries) }];
}
