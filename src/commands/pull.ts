import type { PromptPlan } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { TextChange } from '../domain/text-changes.ts';
import { codePoint } from '../domain/text.ts';
import type { Labels } from '../files/edit.ts';
import { type MergedPrompt, mergePrompt, type Side } from '../files/merge.ts';
import { makeMerger } from '../git/merge-file.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { commitMessage, type Draft, type EditPromptsOptions, runEdits, stays } from './edit-files.ts';
import { draftMerge, readTheirs } from './pull-merge.ts';
import { environmentProblems } from './pin-edit.ts';
import { findChanged, isInSync, obstaclesIn, type OutsideEdit, pinEdits } from './outside-edits.ts';
import type { Walked } from './walk.ts';
import type { CommandResult } from './result.ts';
import type { World } from '../domain/world.ts';
import { gitStartOf } from '../desired/workspace.ts';

export type PullOptions = EditPromptsOptions & {
  /** By default all that the files pin. */
  readonly environment?: string | undefined;
  /** Which side counts in a conflict; null: the file gets both. */
  readonly side: Side;
};

/** Brings what was changed in the service into the prompt files, merged with what was changed in them. */
export async function pull(options: PullOptions, world: World): Promise<CommandResult> {
  const { environment } = options;
  return runEdits(
    {
      mode: 'pull',
      needs: (config) => ({
        problems: environment === undefined ? [] : environmentProblems('--environment', environment, config),
        environments: environment === undefined ? [] : [environment],
        whole: true,
      }),
      draft: (prompt, walked) => draftPull(prompt, options, walked),
      messageFor: (edited) => commitMessage(edited, (names) => `Pull ${names} from the service`),
    },
    options,
    world,
  );
}

async function draftPull(prompt: PromptPlan, options: PullOptions, walked: Walked): Promise<Draft> {
  const { file } = prompt;
  if (isInSync(prompt, options)) return stays(file, 'unchanged');
  const found = await findChanged(prompt, options, walked);
  const obstacles = obstaclesIn(found, file, options);
  if (obstacles.length > 0) return stays(file, 'blocked', obstacles);
  const [edit = null] = found.edits;
  const theirs = await readTheirs(prompt, edit, found.earlier, walked);
  const mergeLines = makeMerger(gitStartOf(walked.config).keyVariables);
  const merge = (side: Side) => mergePrompt(file, theirs, { side, labels: labelsOf(file, edit), mergeLines });
  const draft = await draftMerge(file, merge, pinEdits(found, options), options, walked);
  const known = found.environments.flatMap((one) => knownWarning(one, file));
  const texts = edit === null || draft.status === 'failed' ? null : textsOf(file, await merge(options.side), edit);
  const edits = draft.edits.map((one) => (texts !== null && one.kind === 'set-text' ? { ...one, texts } : one));
  return { ...draft, edits, problems: [...draft.problems, ...known] };
}

function knownWarning({ own, pin, environment, version }: OutsideEdit, { path }: PromptFile): readonly Problem[] {
  if (!own || pin?.pin.kind !== 'latest') return [];
  return [makeProblem('pull/known-version', { environment, serves: `v${version.number}` }, { path })];
}

function textsOf({ content }: PromptFile, { text }: MergedPrompt, { environment }: OutsideEdit): TextChange | null {
  if (text === null || text.conflicts > 0) return null;
  return { environment, before: { text: content.text }, after: { text: text.text } };
}

/** What stands behind git's markers: a path may hold whatever the file system allows, and stays on its line. */
function labelsOf({ path }: PromptFile, edit: OutsideEdit | null): Labels {
  const theirs = edit === null ? 'the service' : `${edit.environment} v${edit.version.number}`;
  return { ours: path.replaceAll(/\p{Cc}/gu, codePoint), theirs };
}
