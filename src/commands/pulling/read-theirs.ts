import { withLineFeeds } from '../../domain/digest.ts';
import type { FieldName, PromptPlan } from '../../domain/plan.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import type { Theirs } from '../../files/merge.ts';
import type { FormerFile } from '../past/former-pins.ts';
import type { OutsideEdit } from './outside-edits.ts';
import type { Prepared } from '../preparing/prepare-plan.ts';
import { readOrigin } from './read-origin.ts';

/** What the service holds of a prompt, with the text of one environment, and what file and service come from. */
export async function readTheirs(
  prompt: PromptPlan,
  edit: OutsideEdit | null,
  earlier: readonly FormerFile[],
  prepared: Prepared,
): Promise<Theirs> {
  const { file, observed } = prompt;
  const origin = await readOrigin(prompt, edit, earlier, prepared);
  const content = edit === null ? null : { text: withLineFeeds(edit.version.text), metadata: edit.version.metadata };
  return { fields: changedFields(observed?.prompt ?? file, file, earlier), content, ...origin };
}

/** A field that stands as an earlier commit had it was not changed by anybody: a sync has not got there yet. */
function changedFields(
  served: { readonly [Field in FieldName]?: string | null },
  file: PromptFile,
  earlier: readonly FormerFile[],
): Theirs['fields'] {
  const now = (field: FieldName): string => {
    const value = served[field] ?? '';
    return earlier.some((former) => (former.file[field] ?? '') === value) ? (file[field] ?? '') : value;
  };
  return { key: now('key'), name: now('name'), description: now('description') };
}
