import type { PromptFile } from '../../domain/prompt-file.ts';
import type { MergedPrompt, Side } from '../../files/merge.ts';
import { makeProblem } from '../../problem.ts';
import { draftEdits, stays, type Draft } from '../editing/draft-edits.ts';
import type { PinEdit } from '../editing/pin-edit.ts';
import type { Prepared } from '../preparing/prepare-plan.ts';

type Asked = { readonly side: Side; readonly dryRun: boolean };

/** Makes the edits of a merge, pins included. A conflict is left to somebody only if the service's side can be taken. */
export async function draftMerge(
  file: PromptFile,
  merge: (side: Side) => Promise<MergedPrompt>,
  pins: readonly PinEdit[],
  { side, dryRun }: Asked,
  prepared: Prepared,
): Promise<Draft> {
  const merged = await merge(side);
  const places = conflictsIn(merged);
  const taken = places === 0 ? null : await draftMerged(file, await merge('theirs'), pins, prepared);
  if (taken?.status === 'failed') return taken;
  const draft = await draftMerged(file, merged, pins, prepared);
  if (places === 0 || draft.change === null) return draft;
  const code = dryRun ? 'pull/would-conflict' : 'pull/conflict';
  return { ...draft, problems: [...draft.problems, makeProblem(code, { places }, { path: file.path })] };
}

function conflictsIn({ edits, text }: MergedPrompt): number {
  return (text?.conflicts ?? 0) + edits.filter((edit) => edit.kind === 'set-field' && edit.conflict).length;
}

async function draftMerged(
  file: PromptFile,
  { edits, frontMatter, text }: MergedPrompt,
  pins: readonly PinEdit[],
  prepared: Prepared,
): Promise<Draft> {
  const all = [...edits, ...pins.map(({ edit }) => edit)];
  if (all.length === 0) return stays(file, 'unchanged');
  if (text?.text.includes('\r\n') === true) return unwritable(file);
  const changes = [...frontMatter, ...pins.map(({ change }) => change)];
  const wanted =
    text === null
      ? { frontMatter: changes }
      : { frontMatter: changes, text: text.text, conflicted: text.conflicts > 0 };
  return draftEdits(file, all, wanted, prepared);
}

/** In a file a carriage return at the end of a line would be none of the text. */
function unwritable(file: PromptFile): Draft {
  const reason = 'a line of its text ends with a carriage return, which a file cannot hold';
  return stays(file, 'failed', [makeProblem('edit/not-kept', { reason }, { path: file.path })]);
}
