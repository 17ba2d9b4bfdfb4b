import type { FileEdit } from '../domain/edits.ts';
import type { PromptPlan } from '../domain/plan.ts';
import { pinText, type PromptFile } from '../domain/prompt-file.ts';
import { withLineFeeds } from '../domain/digest.ts';
import { mergePrompt, type MergedPrompt } from '../merging/merge-prompt.ts';
import type { Side } from '../merging/merge-text.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { FrontMatterEdit } from '../prompts/edit.ts';
import { commitMessage } from './commit-message.ts';
import { draftEdits, stays, type Draft } from './edit-files.ts';
import { environmentProblems } from './environment-option.ts';
import { readFormerFiles, pinsOf, type FormerFile } from './former-pins.ts';
import { findOutsideEdits, type OutsideEdit } from './outside-edits.ts';
import type { Prepared } from './prepare-plan.ts';
import { readOrigin } from './read-origin.ts';
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

async function draftPull(prompt: PromptPlan, { environment, side }: PullOptions, prepared: Prepared): Promise<Drafted> {
  const { file } = prompt;
  const earlier = await earlierFiles(file, prepared);
  const found = findOutsideEdits(prompt, environment, await pinsOf(earlier, prepared.repository));
  const texts = found.filter(({ own }) => !own);
  const distinct = new Set(texts.map(({ version }) => version.digest));
  if (distinct.size > 1) {
    const environments = texts.map((one) => one.environment);
    return {
      draft: stays(file, 'blocked', [makeProblem('pull/several', { environments }, { path: file.path })]),
      texts: [],
    };
  }
  const merged = await merge(prompt, texts[0] ?? null, side, earlier, prepared);
  const draft = await draftMerged(file, merged, found.flatMap(pinEdit), prepared);
  return {
    draft: { ...draft, problems: [...draft.problems, ...found.flatMap((one) => knownWarning(one, file))] },
    texts: textsOf(file, merged, texts[0]),
  };
}

async function earlierFiles({ id, path }: PromptFile, { repository }: Prepared): Promise<readonly FormerFile[]> {
  const head = repository?.head ?? null;
  return repository === null || head === null ? [] : readFormerFiles({ id, path }, head, repository);
}

async function merge(
  prompt: PromptPlan,
  edit: OutsideEdit | null,
  side: Side,
  earlier: readonly FormerFile[],
  prepared: Prepared,
): Promise<MergedPrompt> {
  const { file, observed } = prompt;
  const { key, name, description } = observed?.prompt ?? file;
  const labels = { ours: file.path, theirs: edit === null ? 'the service' : labelOf(edit) };
  const origin = await readOrigin(prompt, edit, earlier, prepared);
  const content = edit === null ? null : { text: withLineFeeds(edit.version.text), metadata: edit.version.metadata };
  const fields = { key, name, description: description ?? '' };
  return mergePrompt(file, { fields: withoutFormer(fields, file, earlier), content, ...origin }, side, labels);
}

/** A field that stands as an earlier commit had it was not changed by anybody: a sync has not got there yet. */
function withoutFormer<Fields extends Record<'key' | 'name' | 'description', string>>(
  fields: Fields,
  file: PromptFile,
  earlier: readonly FormerFile[],
) {
  const now = (field: 'key' | 'name' | 'description') =>
    earlier.some((former) => (former.file[field] ?? '') === fields[field]) ? (file[field] ?? '') : fields[field];
  return { key: now('key'), name: now('name'), description: now('description') };
}

/** An environment that is pinned to a version of its own is pinned to the one that it serves. */
function pinEdit({ environment, pin, version }: OutsideEdit): readonly { edit: FileEdit; change: FrontMatterEdit }[] {
  if (pin === null || pin.pin.kind === 'latest') return [];
  const { number } = version;
  const edit = { kind: 'set-pin' as const, environment, before: pinText(pin.pin), after: String(number) };
  return [{ edit, change: { kind: 'set', path: ['pins', environment], value: number } }];
}

async function draftMerged(
  file: PromptFile,
  { edits, frontMatter, text }: MergedPrompt,
  pins: ReturnType<typeof pinEdit>,
  prepared: Prepared,
): Promise<Draft> {
  const all = [...edits, ...pins.map(({ edit }) => edit)];
  if (all.length === 0) return stays(file, 'unchanged');
  const changes = [...frontMatter, ...pins.map(({ change }) => change)];
  const wanted =
    text === null
      ? { frontMatter: changes }
      : { frontMatter: changes, text: text.text, conflicted: text.conflicts > 0 };
  const draft = await draftEdits(file, all, wanted, prepared);
  const places = (text?.conflicts ?? 0) + edits.filter((edit) => edit.kind === 'set-field' && edit.conflict).length;
  if (places === 0 || draft.change === null) return draft;
  return { ...draft, problems: [makeProblem('pull/conflict', { places }, { path: file.path })] };
}

function knownWarning({ own, pin, environment, version }: OutsideEdit, { path }: PromptFile): readonly Problem[] {
  if (!own || pin?.pin.kind !== 'latest') return [];
  return [makeProblem('pull/known-version', { environment, serves: `v${version.number}` }, { path })];
}

function textsOf({ content }: PromptFile, { text }: MergedPrompt, edit: OutsideEdit | undefined): Drafted['texts'] {
  if (text === null || edit === undefined || text.conflicts > 0) return [];
  const before = { label: 'the file', text: content.text };
  return [{ environment: edit.environment, before, after: { label: 'merged', text: text.text } }];
}

function labelOf({ environment, version }: OutsideEdit): string {
  return `${environment} v${version.number}`;
}
