import { type FormerFile, pinsOf, readFormerFiles } from '../desired/read-history.ts';
import { gitStartOf } from '../desired/workspace.ts';
import type { Labels, Side } from '../domain/edits.ts';
import type { FormerPin, FormerPins } from '../domain/history.ts';
import { isJsonObject } from '../domain/json.ts';
import type { FieldName, PromptPlan } from '../domain/plan.ts';
import { type EnvironmentPin, pinText, type PromptFile } from '../domain/prompt-file.ts';
import { codePoint } from '../domain/text.ts';
import { contentForFile, type KnownVersion } from '../domain/versions.ts';
import type { World } from '../domain/world.ts';
import { type MergedPrompt, mergePrompt, type Theirs } from '../files/merge.ts';
import { makeMerger } from '../git/merge-file.ts';
import { means } from '../planning/former-pins.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { type Draft, draftEdits, editFiles, type EditOptions, stays } from './edit-files.ts';
import { ownBefore, readMergeBase } from './merge-base.ts';
import { environmentProblems, type PinEdit, pinEdit } from './pin-edit.ts';
import type { CommandResult } from './result.ts';
import type { Walked } from './walk.ts';

type PullOptions = EditOptions & {
  /** By default all that the files pin. */
  readonly environment?: string | undefined;
  /** Which side counts in a conflict; null: the file gets both. */
  readonly side: Side;
  /** Leaves a file with conflicts as it is, where nobody would find them in it. */
  readonly unattended?: boolean;
};

/** Brings what was changed in the service into the prompt files, merged with what was changed in them. */
export async function pull(options: PullOptions, world: World): Promise<CommandResult> {
  const { environment } = options;
  return editFiles(
    {
      mode: 'pull',
      needs: (config) => ({
        problems: environment === undefined ? [] : environmentProblems('--environment', environment, config),
        environments: environment === undefined ? [] : [environment],
        whole: 'record' as const,
      }),
      draft: (prompt, walked) => draftPull(prompt, options, walked),
      subject: (names) => `Pull ${names} from the service`,
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
  const draft = await draftMerge(prompt, found, options, walked);
  const known = found.environments.flatMap((one) => knownWarning(one, file));
  return { ...draft, problems: [...draft.problems, ...known] };
}

/** Makes the edits of a merge, pins included. A conflict is left to somebody only if the service's side can be taken. */
async function draftMerge(prompt: PromptPlan, found: Changed, options: PullOptions, walked: Walked): Promise<Draft> {
  const { file } = prompt;
  const [edit = null] = found.edits;
  const theirs = await readTheirs(prompt, found, walked);
  const mergeLines = makeMerger(gitStartOf(walked.config).keyVariables);
  const draftFor = async (side: Side) => {
    const merged = await mergePrompt(file, theirs, { side, labels: labelsOf(file, edit), mergeLines });
    const draft = await draftMerged(file, merged, edit, pinEdits(found, options), walked);
    const fields = merged.edits.filter((one) => one.kind === 'set-field' && one.conflict);
    return { draft, places: (merged.text?.conflicts ?? 0) + fields.length };
  };
  const { draft, places } = await draftFor(options.side);
  if (places === 0) return draft;
  const taken = (await draftFor('theirs')).draft;
  if (taken.status === 'failed') return taken;
  if (draft.change === null) return draft;
  const code = options.dryRun || options.unattended ? 'pull/would-conflict' : 'pull/conflict';
  const left = options.unattended ? ({ status: 'failed', change: null } as const) : {};
  return { ...draft, ...left, problems: [...draft.problems, makeProblem(code, { places }, { path: file.path })] };
}

/** Whether nothing was changed. Most prompts are so, and git need not be asked for their history. */
function isInSync(prompt: PromptPlan, options: PullOptions): boolean {
  const renamed = prompt.changes.some(({ kind }) => kind === 'update-prompt');
  return !renamed && findOutsideEdits(prompt, options, new Map()).length === 0;
}

type Changed = {
  /** The states of the file in git, newest first. */
  readonly earlier: readonly FormerFile[];
  readonly environments: readonly OutsideEdit[];
  /** Those of which the text is to be taken over, one for each text. */
  readonly edits: readonly OutsideEdit[];
  /** Those of which the file may mean its pin all the same. */
  readonly contested: readonly OutsideEdit[];
};

/** An environment that serves what no commit has asked for: somebody has changed it in the service. */
type OutsideEdit = {
  readonly environment: string;
  readonly version: KnownVersion;
  /** Null where the file does not pin the environment. */
  readonly pin: EnvironmentPin | null;
  /** Whether promptsync made the version: then there is no text to take over. */
  readonly own: boolean;
};

/** Which environments somebody has changed in the service, after what git knows of the file. */
async function findChanged(prompt: PromptPlan, options: PullOptions, { repository }: Walked): Promise<Changed> {
  const { file } = prompt;
  const head = repository?.head ?? null;
  const earlier = repository === null || head === null ? [] : await readFormerFiles(file, head, repository);
  const environments = findOutsideEdits(prompt, options, await pinsOf(earlier, repository));
  const complete = repository?.shallow === false;
  const contested = environments.filter((one) => isContested(one, earlier, complete));
  return { earlier, environments, edits: distinctTexts(environments, file), contested };
}

/** Which environments were changed in the service, of those asked for: an environment that only lags behind is not. */
function findOutsideEdits({ file, observed, changes }: PromptPlan, { environment }: PullOptions, former: FormerPins) {
  const changing = new Set(changes.flatMap((change) => (change.kind === 'set-active' ? [change.environment] : [])));
  const known = observed?.known ?? [];
  const scope = environment === undefined ? file.pins.map((pin) => pin.environment) : [environment];
  return scope.flatMap((name): readonly OutsideEdit[] => {
    const version = observed?.active.get(name) ?? null;
    if (version === null || wasAskedFor(version, former.get(name) ?? [], known)) return [];
    const pin = file.pins.find((one) => one.environment === name) ?? null;
    // Nothing is planned for a number that is not known, as one is not that the file has from an earlier pull.
    const isOtherNumber = pin?.pin.kind === 'number' && pin.pin.number !== version.number;
    if (pin !== null && !changing.has(name) && !isOtherNumber) return [];
    return [{ environment: name, version, pin, own: isOwn(version, known) }];
  });
}

/**
 * Whether a commit has asked for a version. Where promptsync had made one of that content before, it is no commit's:
 * somebody has gone back to an older text.
 */
function wasAskedFor(version: KnownVersion, former: readonly FormerPin[], known: readonly KnownVersion[]): boolean {
  const before = isOwn(version, known) ? [] : ownBefore(version, known);
  const isRemade = (pin: FormerPin) => pin.content !== null && before.some((own) => means(pin, own));
  return former.some((pin) => means(pin, version) && !isRemade(pin));
}

/** Where it is served a version counts as promptsync's until it is known to be a copy; nothing is made of such a doubt. */
function isOwn(version: KnownVersion, known: readonly KnownVersion[]): boolean {
  return (known.find(({ id }) => id === version.id) ?? version).ours === true;
}

/**
 * One environment for each text that somebody else has made, with its metadata where the file manages any: the last one
 * that follows the file, where any does, because it is the file's text that was edited there.
 */
function distinctTexts(found: readonly OutsideEdit[], { content }: PromptFile): readonly OutsideEdit[] {
  const managed = content.metadata !== undefined;
  const contentOf = ({ version }: OutsideEdit) => `${version.digest} ${managed ? version.metadataDigest : ''}`;
  const follows = ({ pin }: OutsideEdit) => Number(pin?.pin.kind === 'latest');
  const edits = found.filter(({ own }) => !own).toSorted((a, b) => follows(a) - follows(b));
  return [...new Map(edits.map((one) => [contentOf(one), one])).values()];
}

/**
 * Whether the file may mean its pin although the environment serves something else: it was edited since the last
 * commit, or git does not know whether it was, and what is served may be what an earlier commit asked for.
 */
function isContested({ environment, pin, own }: OutsideEdit, earlier: readonly FormerFile[], complete: boolean) {
  if (pin === null || pin.pin.kind === 'latest') return false;
  const [last] = earlier;
  if (last === undefined) return own;
  const committed = last.file.pins.find((one) => one.environment === environment)?.pin;
  const edited = committed === undefined || pinText(committed) !== pinText(pin.pin);
  return edited || (own && !complete);
}

/** Why nobody but the user can say what is to be done. */
function obstaclesIn({ edits, contested }: Changed, file: PromptFile, { side }: PullOptions): readonly Problem[] {
  const environments = edits.map(({ environment }) => environment);
  const several = edits.length < 2 ? [] : [makeProblem('pull/several', { environments }, { path: file.path })];
  const pins = side === null ? contested.map((one) => contestedProblem(one, file)) : [];
  return [...several, ...pins, ...edits.flatMap((one) => notMappingProblems(one, file))];
}

/**
 * A file that manages metadata cannot hold metadata that is no mapping. If the pull took the text alone, the next sync
 * would make another version, with the file's metadata.
 */
function notMappingProblems({ environment, version }: OutsideEdit, { path, content }: PromptFile): readonly Problem[] {
  const isHeld = version.content === null || isJsonObject(version.content.metadata);
  if (content.metadata === undefined || isHeld) return [];
  const evidence = { environment, serves: `v${version.number}` };
  return [makeProblem('pull/config-not-mapping', evidence, { path })];
}

function contestedProblem({ environment, pin, version }: OutsideEdit, { path }: PromptFile): Problem {
  const evidence = { environment, pin: pin === null ? '' : pinText(pin.pin), serves: `v${version.number}` };
  const place = pin === null ? {} : { line: pin.line, column: pin.column };
  return makeProblem('pull/pin-conflict', evidence, { path, ...place });
}

/** What the service holds of a prompt, with the text of one environment, and what file and service come from. */
async function readTheirs(prompt: PromptPlan, found: Changed, { repository }: Walked): Promise<Theirs> {
  const { earlier, edits } = found;
  const [edit = null] = edits;
  const origin = await readMergeBase(prompt, edit, earlier, repository);
  const held = edit?.version.content ?? null;
  return { fields: changedFields(prompt, earlier), content: held && contentForFile(held), ...origin };
}

/** A field that stands as an earlier commit had it was not changed by anybody: a sync has not got there yet. */
function changedFields({ file, observed }: PromptPlan, earlier: readonly FormerFile[]): Theirs['fields'] {
  const served = observed?.fields ?? file;
  const now = (field: FieldName): string => {
    const value = served[field] ?? '';
    return earlier.some((former) => (former.file[field] ?? '') === value) ? (file[field] ?? '') : value;
  };
  return { key: now('key'), name: now('name'), description: now('description') };
}

/** What stands behind git's markers: a path may hold whatever the file system allows, and stays on its line. */
function labelsOf({ path }: PromptFile, edit: OutsideEdit | null): Labels {
  const theirs = edit === null ? 'the service' : `${edit.environment} v${edit.version.number}`;
  return { ours: path.replaceAll(/\p{Cc}/gu, codePoint), theirs };
}

/** An environment that is pinned to a version of its own is pinned to the one that it serves; not where `--ours` wins. */
function pinEdits({ environments, contested }: Changed, { side }: PullOptions): readonly PinEdit[] {
  return environments.flatMap((one): readonly PinEdit[] => {
    const { environment, pin, version } = one;
    const keeps = pin === null || pin.pin.kind === 'latest' || (side === 'ours' && contested.includes(one));
    return keeps ? [] : [pinEdit({ environment, version }, pin.pin)];
  });
}

async function draftMerged(
  file: PromptFile,
  { edits, frontMatter, text }: MergedPrompt,
  edit: OutsideEdit | null,
  pins: readonly PinEdit[],
  walked: Walked,
): Promise<Draft> {
  const all = [...edits, ...pins.map((pin) => pin.edit)];
  if (all.length === 0) return stays(file, 'unchanged');
  if (text?.text.includes('\r\n') === true) {
    // In a file a carriage return at the end of a line would be none of the text.
    const reason = 'a line of its text ends with a carriage return, which a file cannot hold';
    return stays(file, 'failed', [makeProblem('edit/not-kept', { reason }, { path: file.path })]);
  }
  const changes = { frontMatter: [...frontMatter, ...pins.map(({ change }) => change)] };
  const wanted = text === null ? changes : { ...changes, text: text.text, conflicted: text.conflicts > 0 };
  const draft = await draftEdits(file, all, wanted, walked);
  if (edit === null || text === null || text.conflicts > 0 || draft.status === 'failed') return draft;
  const texts = { environment: edit.environment, before: { text: file.content.text }, after: { text: text.text } };
  return { ...draft, edits: draft.edits.map((one) => (one.kind === 'set-text' ? { ...one, texts } : one)) };
}

function knownWarning({ own, pin, environment, version }: OutsideEdit, { path }: PromptFile): readonly Problem[] {
  if (!own || pin?.pin.kind !== 'latest') return [];
  return [makeProblem('pull/known-version', { environment, serves: `v${version.number}` }, { path })];
}
