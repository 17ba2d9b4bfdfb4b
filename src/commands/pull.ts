import type { PromptPlan } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { codePoint } from '../domain/text.ts';
import { mergePrompt, type MergedPrompt } from '../merging/merge-prompt.ts';
import type { Labels, Side } from '../merging/merge-text.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { commitMessage } from './commit-message.ts';
import { draftEdits, stays, type Draft } from './edit-files.ts';
import { environmentProblems } from './environment-option.ts';
import { readFormerFiles, pinsOf, type FormerFile } from './former-pins.ts';
import { findOutsideEdits, type OutsideEdit } from './outside-edits.ts';
import { contestedProblem, isContested, pinEdit, type PinEdit } from './outside-pins.ts';
import type { Prepared } from './prepare-plan.ts';
import { readTheirs } from './read-theirs.ts';
import type { CommandResult } from './result.ts';
import { runEdits, type Drafted, type EditPromptsOptions } from './run-edits.ts';
import type { World } from './world.ts';

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
        alsoRead: [environment ?? [], config.trackingEnvironment ?? []].flat(),
      }),
      draft: (prompt, prepared) => draftPull(prompt, options, prepared),
      messageFor: (edited) => commitMessage(edited, (names) => `Pull ${names} from the service`),
    },
    options,
    world,
  );
}

async function draftPull(prompt: PromptPlan, options: PullOptions, prepared: Prepared): Promise<Drafted> {
  const { environment, side } = options;
  const { file } = prompt;
  if (isInSync(prompt, environment)) return { draft: stays(file, 'unchanged'), texts: [] };
  const earlier = await earlierFiles(file, prepared);
  const found = findOutsideEdits(prompt, environment, await pinsOf(earlier, prepared.repository));
  const [edit = null, ...others] = distinctTexts(found, file);
  const complete = (await prepared.repository?.isShallow()) === false;
  const contested = found.filter((one) => isContested(one, { earlier, complete }));
  const obstacles = [
    ...(edit === null || others.length === 0 ? [] : [severalProblem([edit, ...others], file)]),
    ...(side === null ? contested.map((one) => contestedProblem(one, file)) : []),
  ];
  if (obstacles.length > 0) return { draft: stays(file, 'blocked', obstacles), texts: [] };
  const theirs = await readTheirs(prompt, edit, earlier, prepared);
  const pins = found.filter((one) => side !== 'ours' || !contested.includes(one)).flatMap(pinEdit);
  const merge = (whose: Side) => mergePrompt(file, theirs, whose, labelsOf(file, edit));
  const draft = await draftTakeable(file, merge, options, pins, prepared);
  const known = found.flatMap((one) => knownWarning(one, file));
  return {
    draft: { ...draft, problems: [...draft.problems, ...known] },
    texts: edit === null || draft.status === 'failed' ? [] : textsOf(file, merge(side), edit),
  };
}

/** Most prompts are, and git need not be asked for their history. */
function isInSync(prompt: PromptPlan, environment: string | undefined): boolean {
  const renamed = prompt.changes.some(({ kind }) => kind === 'update-prompt');
  return !renamed && findOutsideEdits(prompt, environment, new Map()).length === 0;
}

async function earlierFiles({ id, path }: PromptFile, { repository }: Prepared): Promise<readonly FormerFile[]> {
  const head = repository?.head ?? null;
  return repository === null || head === null ? [] : readFormerFiles({ id, path }, head, repository);
}

/** One environment for each text that somebody else has made, with its metadata where the file manages any. */
function distinctTexts(found: readonly OutsideEdit[], { content }: PromptFile): readonly OutsideEdit[] {
  const managed = content.metadata !== undefined;
  const contentOf = ({ version }: OutsideEdit) => `${version.digest} ${managed ? version.metadataDigest : ''}`;
  return [...new Map(found.flatMap((one) => (one.own ? [] : [[contentOf(one), one] as const]))).values()];
}

function severalProblem(edits: readonly OutsideEdit[], { path }: PromptFile): Problem {
  return makeProblem('pull/several', { environments: edits.map(({ environment }) => environment) }, { path });
}

/** A conflict is left to somebody only if the service's side of it can be taken: else it is a riddle without answer. */
async function draftTakeable(
  file: PromptFile,
  merge: (side: Side) => MergedPrompt,
  { side, dryRun }: PullOptions,
  pins: readonly PinEdit[],
  prepared: Prepared,
): Promise<Draft> {
  const merged = merge(side);
  const places = conflictsIn(merged);
  const taken = places === 0 ? null : await draftMerged(file, merge('theirs'), pins, prepared);
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

function knownWarning({ own, pin, environment, version }: OutsideEdit, { path }: PromptFile): readonly Problem[] {
  if (!own || pin?.pin.kind !== 'latest') return [];
  return [makeProblem('pull/known-version', { environment, serves: `v${version.number}` }, { path })];
}

function textsOf({ content }: PromptFile, { text }: MergedPrompt, { environment }: OutsideEdit): Drafted['texts'] {
  if (text === null || text.conflicts > 0) return [];
  const before = { label: 'the file', text: content.text };
  return [{ environment, before, after: { label: 'merged', text: text.text } }];
}

/** What stands behind git's markers: a path may hold whatever the file system allows, and stays on its line. */
function labelsOf({ path }: PromptFile, edit: OutsideEdit | null): Labels {
  const theirs = edit === null ? 'the service' : `${edit.environment} v${edit.version.number}`;
  return { ours: path.replaceAll(/\p{Cc}/gu, codePoint), theirs };
}
