import { type FormerFile, collectFormerPins, readFormerFiles } from '../desired/read-history.ts';
import { titleOfService } from '../config/service.ts';
import { makeGitSettings } from '../desired/open-workspace.ts';
import type { ConflictLabels, PreferredSide } from '../domain/edits.ts';
import type { FormerPin, FormerPins } from '../domain/history.ts';
import { isJsonObject } from '../domain/json.ts';
import type { FieldName, PromptPlan } from '../domain/plan.ts';
import { type EnvironmentPin, formatPin, type PromptFile } from '../domain/prompt-file.ts';
import type { TextChange } from '../domain/text-changes.ts';
import { formatCodePoint } from '../text.ts';
import type { KnownVersion } from '../domain/versions.ts';
import { toFileContent, type StoredContent, makeContentKey, omitDigests } from '../domain/content.ts';
import type { World } from '../domain/world.ts';
import { type MergedPrompt, mergePrompt, type ServiceSide } from '../files/merge-prompt.ts';
import { makeMerger } from '../git/make-merger.ts';
import { meansVersion } from '../planning/former-pins.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { type PromptDraft, draftEdits, editFiles, type EditOptions, makeDraftWithoutEdits } from './edit-files.ts';
import { listManagedBefore, readMergeBase } from './merge-base.ts';
import { checkEnvironmentFlag, type PinEdit, makePinEdit } from './pin-edit.ts';
import type { CommandResult } from './result.ts';
import type { PlannedWorkspace } from './run-with-plan.ts';

type PullOptions = EditOptions & {
  /** By default all that the files pin. */
  readonly environment?: string | undefined;
  /** Which side counts in a conflict; null: the file gets both. */
  readonly side: PreferredSide;
  /** Leaves a file with conflicts as it is, where nobody would find them in it. */
  readonly unattended?: boolean;
};

/** Brings what was changed in the service into the prompt files, merged with what was changed in them. */
export async function pullEdits(options: PullOptions, world: World): Promise<CommandResult> {
  const { environment } = options;
  return editFiles(
    {
      mode: 'pull',
      findNeeds: (config) => ({
        problems: environment === undefined ? [] : checkEnvironmentFlag('--environment', environment, config),
        environments: environment === undefined ? [] : [environment],
        readDepth: 'listed' as const,
      }),
      makeDraft: (prompt, workspace) => draftPull(prompt, options, workspace),
      renderSubject: (names) => `Pull ${names} from the service`,
    },
    options,
    world,
  );
}

async function draftPull(prompt: PromptPlan, options: PullOptions, workspace: PlannedWorkspace): Promise<PromptDraft> {
  const { file } = prompt;
  if (hasNothingToPull(prompt, options)) return makeDraftWithoutEdits(file, 'unchanged');
  const found = await findServiceChanges(prompt, options, workspace);
  const obstacles = findPullObstacles(found, file, options, titleOfService(workspace.config));
  if (obstacles.length > 0) return makeDraftWithoutEdits(file, 'blocked', obstacles);
  const draft = await draftMerge(prompt, found, options, workspace);
  const known = found.environments.flatMap((one) => warnAboutUnpinnedVersion(one, file));
  return { ...draft, problems: [...draft.problems, ...known] };
}

/** Makes the edits of a merge, pins included. A conflict is left to somebody only if the service's side can be taken. */
async function draftMerge(
  prompt: PromptPlan,
  found: ServiceChanges,
  options: PullOptions,
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  const { file } = prompt;
  const [edit = null] = found.edits;
  const theirs = await readServiceSide(prompt, found, workspace);
  const mergeLines = makeMerger(makeGitSettings(workspace.config).keyVariables);
  const draftFor = async (side: PreferredSide) => {
    const merged = await mergePrompt(file, theirs, { side, labels: makeConflictLabels(file, edit), mergeLines });
    const draft = await draftMerged(file, merged, edit, makePinEdits(found, options), workspace);
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
function hasNothingToPull(prompt: PromptPlan, options: PullOptions): boolean {
  const renamed = prompt.changes.some(({ kind }) => kind === 'update-prompt');
  return !renamed && listOutsideEdits(prompt, options, new Map()).length === 0;
}

type ServiceChanges = {
  /** The states of the file in git, newest first. */
  readonly formerFiles: readonly FormerFile[];
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
  readonly isManaged: boolean;
};

/** Which environments somebody has changed in the service, after what git knows of the file. */
async function findServiceChanges(
  prompt: PromptPlan,
  options: PullOptions,
  { repository }: PlannedWorkspace,
): Promise<ServiceChanges> {
  const { file } = prompt;
  const head = repository?.head ?? null;
  const earlier = repository === null || head === null ? [] : await readFormerFiles(file, head, repository);
  const environments = listOutsideEdits(prompt, options, await collectFormerPins(earlier, repository));
  const complete = repository?.isShallow === false;
  const contested = environments.filter((one) => isPinContested(one, earlier, complete));
  return { formerFiles: earlier, environments, edits: keepDistinctTexts(environments, file), contested };
}

/** Which environments were changed in the service, of those asked for: an environment that only lags behind is not. */
function listOutsideEdits(
  { file, observed, changes }: PromptPlan,
  { environment }: PullOptions,
  former: FormerPins,
): readonly OutsideEdit[] {
  const changing = new Set(changes.flatMap((change) => (change.kind === 'set-active' ? [change.environment] : [])));
  const known = observed?.known ?? [];
  const scope = environment === undefined ? file.pins.map((pin) => pin.environment) : [environment];
  return scope.flatMap((name): readonly OutsideEdit[] => {
    const version = observed?.active.get(name) ?? null;
    if (version === null || wasPinnedEarlier(version, former.get(name) ?? [], known)) return [];
    const pin = file.pins.find((one) => one.environment === name) ?? null;
    // Nothing is planned for a number that is not known, as one is not that the file has from an earlier pull.
    const isOtherNumber = pin?.pin.kind === 'number' && pin.pin.number !== version.number;
    if (pin !== null && !changing.has(name) && !isOtherNumber) return [];
    return [{ environment: name, version, pin, isManaged: isKnownAsManaged(version, known) }];
  });
}

/**
 * Whether a commit has asked for a version. Where promptsync had made one of that content before, it is no commit's:
 * somebody has gone back to an older text.
 */
function wasPinnedEarlier(
  version: KnownVersion,
  former: readonly FormerPin[],
  known: readonly KnownVersion[],
): boolean {
  const before = isKnownAsManaged(version, known) ? [] : listManagedBefore(version, known);
  const isRemade = (pin: FormerPin) => pin.content !== null && before.some((own) => meansVersion(pin, own));
  return former.some((pin) => meansVersion(pin, version) && !isRemade(pin));
}

/** Where it is served a version counts as promptsync's until it is known to be a copy; nothing is made of such a doubt. */
function isKnownAsManaged(version: KnownVersion, known: readonly KnownVersion[]): boolean {
  return (known.find(({ id }) => id === version.id) ?? version).isManaged === true;
}

/**
 * One environment for each text that somebody else has made, with its metadata where the file manages any: the last one
 * that follows the file, where any does, because it is the file's text that was edited there.
 */
function keepDistinctTexts(found: readonly OutsideEdit[], { content }: PromptFile): readonly OutsideEdit[] {
  const managed = content.metadata !== undefined;
  const keyOf = ({ version: { digest, metadataDigest } }: OutsideEdit) =>
    makeContentKey({ digest, metadataDigest: managed ? metadataDigest : undefined });
  const follows = ({ pin }: OutsideEdit) => Number(pin?.pin.kind === 'latest');
  const edits = found.filter(({ isManaged: own }) => !own).toSorted((a, b) => follows(a) - follows(b));
  return [...new Map(edits.map((one) => [keyOf(one), one])).values()];
}

/**
 * Whether the file may mean its pin although the environment serves something else: it was edited since the last
 * commit, or git does not know whether it was, and what is served may be what an earlier commit asked for.
 */
function isPinContested(
  { environment, pin, isManaged: own }: OutsideEdit,
  earlier: readonly FormerFile[],
  complete: boolean,
): boolean {
  if (pin === null || pin.pin.kind === 'latest') return false;
  const [last] = earlier;
  if (last === undefined) return own;
  const committed = last.file.pins.find((one) => one.environment === environment)?.pin;
  const edited = committed === undefined || formatPin(committed) !== formatPin(pin.pin);
  return edited || (own && !complete);
}

/** Why nobody but the user can say what is to be done. */
function findPullObstacles(
  { edits, contested }: ServiceChanges,
  file: PromptFile,
  { side }: PullOptions,
  service: string,
): readonly Problem[] {
  const environments = edits.map(({ environment }) => environment);
  const several = edits.length < 2 ? [] : [makeProblem('pull/several', { environments }, { path: file.path })];
  const pins = side === null ? contested.map((one) => makeContestedProblem(one, file)) : [];
  return [...several, ...pins, ...edits.flatMap((one) => checkMetadataIsMapping(one, file, service))];
}

/**
 * A file that manages metadata cannot hold metadata that is no mapping. If the pull took the text alone, the next sync
 * would make another version, with the file's metadata.
 */
function checkMetadataIsMapping(
  { environment, version }: OutsideEdit,
  { path, content }: PromptFile,
  service: string,
): readonly Problem[] {
  const isHeld = version.content === null || isJsonObject(version.content.metadata);
  if (content.metadata === undefined || isHeld) return [];
  const evidence = { environment, serves: `v${version.number}`, service };
  return [makeProblem('pull/config-not-mapping', evidence, { path })];
}

function makeContestedProblem({ environment, pin, version }: OutsideEdit, { path }: PromptFile): Problem {
  const evidence = { environment, pin: pin === null ? '' : formatPin(pin.pin), serves: `v${version.number}` };
  const place = pin === null ? {} : { line: pin.line, column: pin.column };
  return makeProblem('pull/pin-conflict', evidence, { path, ...place });
}

/** What the service holds of a prompt, with the text of one environment, and what file and service come from. */
async function readServiceSide(
  prompt: PromptPlan,
  found: ServiceChanges,
  { repository }: PlannedWorkspace,
): Promise<ServiceSide> {
  const { formerFiles: earlier, edits } = found;
  const [edit = null] = edits;
  const origin = await readMergeBase(prompt, edit, earlier, repository);
  const held = edit?.version.content ?? null;
  return { fields: readServiceFields(prompt, earlier), content: held && toFileContent(held), ...origin };
}

/** A field that stands as an earlier commit had it was not changed by anybody: a sync has not got there yet. */
function readServiceFields({ file, observed }: PromptPlan, earlier: readonly FormerFile[]): ServiceSide['fields'] {
  const served = observed?.fields ?? file;
  const now = (field: FieldName): string => {
    const value = served[field] ?? '';
    return earlier.some((former) => (former.file[field] ?? '') === value) ? (file[field] ?? '') : value;
  };
  return { key: now('key'), name: now('name'), description: now('description') };
}

/** What stands behind git's markers: a path may hold whatever the file system allows, and stays on its line. */
function makeConflictLabels({ path }: PromptFile, edit: OutsideEdit | null): ConflictLabels {
  const theirs = edit === null ? 'the service' : `${edit.environment} v${edit.version.number}`;
  return { ours: path.replaceAll(/\p{Cc}/gu, formatCodePoint), theirs };
}

/** An environment that is pinned to a version of its own is pinned to the one that it serves; not where `--ours` wins. */
function makePinEdits({ environments, contested }: ServiceChanges, { side }: PullOptions): readonly PinEdit[] {
  return environments.flatMap((one): readonly PinEdit[] => {
    const { environment, pin, version } = one;
    const keeps = pin === null || pin.pin.kind === 'latest' || (side === 'ours' && contested.includes(one));
    return keeps ? [] : [makePinEdit({ environment, version }, pin.pin)];
  });
}

async function draftMerged(
  file: PromptFile,
  { edits, frontMatter, text }: MergedPrompt,
  edit: OutsideEdit | null,
  pins: readonly PinEdit[],
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  const all = [...edits, ...pins.map((pin) => pin.edit)];
  if (all.length === 0) return makeDraftWithoutEdits(file, 'unchanged');
  if (text?.text.includes('\r\n') === true) {
    // In a file a carriage return at the end of a line would be none of the text.
    const reason = 'a line of its text ends with a carriage return, which a file cannot hold';
    return makeDraftWithoutEdits(file, 'failed', [makeProblem('edit/not-kept', { reason }, { path: file.path })]);
  }
  const changes = { frontMatter: [...frontMatter, ...pins.map(({ change }) => change)] };
  const wanted = text === null ? changes : { ...changes, text: text.text, conflicted: text.conflicts > 0 };
  const draft = await draftEdits(file, all, wanted, workspace);
  if (edit === null || text === null || text.conflicts > 0 || draft.status === 'failed') return draft;
  // The report shows metadata of a pull as fields, so the texts leave it out.
  const before: StoredContent = { ...omitDigests(file.content), metadata: undefined };
  const texts: TextChange = { environment: edit.environment, before, after: { ...before, text: text.text } };
  return { ...draft, edits: draft.edits.map((one) => (one.kind === 'set-text' ? { ...one, texts } : one)) };
}

function warnAboutUnpinnedVersion(
  { isManaged: own, pin, environment, version }: OutsideEdit,
  { path }: PromptFile,
): readonly Problem[] {
  if (!own || pin?.pin.kind !== 'latest') return [];
  return [makeProblem('pull/known-version', { environment, serves: `v${version.number}` }, { path })];
}
