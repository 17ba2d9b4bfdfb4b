import {
  findContestedPins,
  findServiceChanges,
  type OutsideEdit,
  type ServiceChanges,
} from './find-service-changes.ts';
import { makeGitSettings } from '../../workspace/config.ts';
import type { ConflictLabels, PreferredSide } from '../../domain/edits.ts';
import { isJsonObject } from '../../domain/json.ts';
import type { FieldName, ObservedPromptPlan } from '../../domain/plan.ts';
import { locateEnvironment, formatPin, type PromptFile } from '../../domain/prompt-file.ts';
import type { TextChange } from '../../domain/text-changes.ts';
import { formatCodePoint } from '../../text.ts';
import { toFileContent, type StoredContent, omitDigests } from '../../domain/content.ts';
import type { System } from '../../domain/system.ts';
import { findUnwritableReason } from '../../editing/find-unwritable-reason.ts';
import { findConflictMarker } from '../../workspace/front-matter.ts';
import { type MergedPrompt, mergePrompt, type ServiceSide } from '../../editing/merge-prompt.ts';
import { CONFLICT_MARKERS_CODE } from '../../workspace/yaml-shape.ts';
import { makeMerger } from '../../git/make-merger.ts';
import { EMPTY_LINE, type Line } from '../../history/line-of-states.ts';
import { MAX_DRIFT_STATES } from '../../history/prompt-history.ts';
import { readPromptLine } from '../../history/read-line-of-states.ts';
import { makeProblem, type Problem } from '../../problem.ts';
import {
  type PromptDraft,
  draftEdits,
  editFiles,
  type EditOptions,
  makeDraftWithoutEdits,
} from '../../editing/edit-files.ts';
import { readMergeBases } from './list-merge-bases.ts';
import { checkEnvironmentFlag, type PinEdit, makePinEdit } from '../../editing/pin-edit.ts';
import type { CommandResult } from '../../run/command-result.ts';
import type { PlannedWorkspace } from '../../run/run-with-plan.ts';
import type { Words } from '../../service-words.ts';
import { getProviderWords } from '../../workspace/service-settings.ts';

type PullOptions = EditOptions & {
  /** If undefined, promptsync pulls from all environments that the prompt files pin. */
  readonly environment?: string | undefined;
  /** The side that wins in a conflict. If null, the file gets conflict markers, unless its text may contain some. */
  readonly side: PreferredSide;
  /** Whether to leave a file with conflicts unchanged. In the action's clone, nobody would see conflict markers. */
  readonly unattended?: boolean;
};

/** Merges the changes that somebody made in the service into the prompt files. */
export async function pullEdits(options: PullOptions, system: System): Promise<CommandResult> {
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
      renderSubject: (names, service) => `Pull ${names} from ${service}`,
    },
    { ...options, defaultBase: 'head' },
    system,
  );
}

async function draftPull(
  prompt: ObservedPromptPlan,
  options: PullOptions,
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  const { file } = prompt;
  if (prompt.status === 'unchanged' && options.environment === undefined)
    return makeDraftWithoutEdits(file, 'unchanged');
  const { repository, config } = workspace;
  const head = repository?.head ?? null;
  const line =
    repository === null || head === null ? EMPTY_LINE : await readPromptLine(file, head, repository, MAX_DRIFT_STATES);
  // HEAD cannot be the base for a file that it does not contain.
  const hasBase = !workspace.lacksBase && line.states.length > 0;
  const unknownVersions = hasBase ? warnAboutMissingCommits(prompt, options) : [];
  if (unknownVersions.length > 0) return makeDraftWithoutEdits(file, 'unchanged', unknownVersions);
  const rules = { hasBase, portablePins: config.portablePins, environment: options.environment };
  const serviceChanges = findServiceChanges(prompt, line, rules);
  const obstacles = findPullObstacles(serviceChanges, file, line, options);
  if (obstacles.length > 0) return makeDraftWithoutEdits(file, 'blocked', obstacles);
  const draft = await draftMerge(prompt, serviceChanges, line, options, workspace);
  const warnings = [
    ...serviceChanges.textsInGit.map((edit) => warnAboutKnownVersion(edit, null, file)),
    ...serviceChanges.leftAlone.map((edit) => makePinProblem('pull/kept-pin', edit, file)),
    ...serviceChanges.deactivated.map(({ environment, wantedNumber }) => {
      const evidence = { environment, served: `v${wantedNumber}` };
      return makeProblem('pull/nothing-active', evidence, locateEnvironment(environment, file));
    }),
  ];
  return { ...draft, problems: [...draft.problems, ...warnings] };
}

/**
 * If there are conflicts, also drafts the merge that resolves all of them in favor of the service, because the user may
 * choose it. If that second draft fails, returns it instead.
 */
async function draftMerge(
  prompt: ObservedPromptPlan,
  serviceChanges: ServiceChanges,
  line: Line,
  options: PullOptions,
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  const { file } = prompt;
  const [textEdit = null] = serviceChanges.textEdits;
  const labels = makeConflictLabels(file, textEdit, getProviderWords(workspace.config));
  const theirs = await readServiceSide(prompt, serviceChanges, line, workspace);
  const mergeLines = makeMerger(makeGitSettings(workspace.config).keyVariables);
  const pinEdits = makePinEdits(serviceChanges, line, options);
  const draftWithSide = async (side: PreferredSide) => {
    const merged = await mergePrompt(file, theirs, { side, labels, mergeLines });
    const conflictingFields = merged.edits.filter((edit) => edit.kind === 'set-field' && edit.conflict);
    const conflictCount = (merged.text?.conflicts ?? 0) + conflictingFields.length;
    return { draft: await draftMergedFile(file, merged, textEdit, pinEdits, workspace), conflictCount };
  };
  const { draft, conflictCount } = await draftWithSide(options.side);
  if (conflictCount === 0) return draft;
  const { draft: draftOfTheirs } = await draftWithSide('theirs');
  if (draftOfTheirs.status === 'failed') return draftOfTheirs;
  if (mayContainMarkers(file, theirs)) {
    const problem = makeProblem('pull/side-needed', { places: conflictCount }, { path: file.path });
    return makeDraftWithoutEdits(file, 'blocked', [problem]);
  }
  if (draft.change === null) return draft;
  const code = options.dryRun || options.unattended ? 'pull/would-conflict' : 'pull/conflict';
  const problems = [...draft.problems, makeProblem(code, { places: conflictCount }, { path: file.path })];
  if (options.unattended) return { ...draft, status: 'failed', change: null, problems };
  return { ...draft, problems };
}

/** If the file accepts markers or the service's text has some, nobody could distinguish promptsync's markers. */
function mayContainMarkers({ acceptWarnings = [] }: PromptFile, { content }: ServiceSide): boolean {
  return acceptWarnings.includes(CONFLICT_MARKERS_CODE) || findConflictMarker(content?.text ?? '') !== -1;
}

/** Returns the problems that only the user can solve. If there are any, promptsync does not edit the file. */
function findPullObstacles(
  serviceChanges: ServiceChanges,
  file: PromptFile,
  line: Line,
  { side }: PullOptions,
): readonly Problem[] {
  const { textEdits } = serviceChanges;
  const contested = findContestedPins(serviceChanges, line);
  const environments = textEdits.map(({ environment }) => environment);
  const severalContents =
    textEdits.length < 2 ? [] : [makeProblem('pull/several', { environments }, { path: file.path })];
  const pinConflicts = side === null ? contested.map((edit) => makePinProblem('pull/pin-conflict', edit, file)) : [];
  return [
    ...severalContents,
    ...pinConflicts,
    ...textEdits.flatMap((edit) => checkMetadataIsMapping(edit, file)),
    ...(side === 'ours' ? [] : textEdits.flatMap((edit) => checkTextIsWritable(edit, file))),
  ];
}

function checkTextIsWritable(
  { environment, version: { content, number } }: OutsideEdit,
  { path }: PromptFile,
): readonly Problem[] {
  const reason = content === null ? null : findUnwritableReason(content);
  if (reason === null) return [];
  return [makeProblem('pull/not-writable', { environment, serves: `v${number}`, reason }, { path })];
}

/**
 * A prompt file can contain only a mapping. Pulling only the text would not help, because the next sync would create a
 * version with the metadata of the file.
 */
function checkMetadataIsMapping(
  { environment, version }: OutsideEdit,
  { path, content }: PromptFile,
): readonly Problem[] {
  const canBeHeld = version.content === null || isJsonObject(version.content.metadata);
  if (content.metadata === undefined || canBeHeld) return [];
  const evidence = { environment, serves: `v${version.number}` };
  return [makeProblem('pull/config-not-mapping', evidence, { path })];
}

/** Makes a problem about a pin that does not select the version that the environment serves. */
function makePinProblem(
  code: 'pull/pin-conflict' | 'pull/kept-pin',
  { environment, pin, version }: OutsideEdit,
  file: PromptFile,
): Problem {
  const evidence = { environment, pin: pin === null ? '' : formatPin(pin.pin), serves: `v${version.number}` };
  return makeProblem(code, evidence, locateEnvironment(environment, file));
}

async function readServiceSide(
  prompt: ObservedPromptPlan,
  { fields, textEdits }: ServiceChanges,
  line: Line,
  { repository }: PlannedWorkspace,
): Promise<ServiceSide> {
  const { file, observed } = prompt;
  const [textEdit = null] = textEdits;
  const versionContent = textEdit?.version.content ?? null;
  const baseContents =
    textEdit === null || repository === null ? [] : await readMergeBases(prompt, textEdit, line, repository);
  // A field that nobody changed in the service has the file's value on both sides of the merge.
  const chooseValue = (field: FieldName) => (fields.includes(field) ? observed.fields?.[field] : file[field]) ?? '';
  return {
    fields: { key: chooseValue('key'), name: chooseValue('name'), description: chooseValue('description') },
    content: versionContent === null ? null : toFileContent(versionContent),
    // The base is the committed file, so the service wins, unless an uncommitted edit changed the same field.
    baseFile: line.states[0]?.file ?? null,
    baseContents,
  };
}

/** Escapes control characters in the path. A path may contain a line break, but a label must fit on one line. */
function makeConflictLabels({ path }: PromptFile, textEdit: OutsideEdit | null, { service }: Words): ConflictLabels {
  const theirs = textEdit === null ? service : `${textEdit.environment} v${textEdit.version.number}`;
  return { ours: path.replaceAll(/\p{Cc}/gu, formatCodePoint), theirs };
}

/** Creates the edits that pin environments to the versions that they serve. With `--ours`, skips contested pins. */
function makePinEdits(serviceChanges: ServiceChanges, line: Line, { side }: PullOptions): readonly PinEdit[] {
  const contested = side === 'ours' ? findContestedPins(serviceChanges, line) : [];
  return serviceChanges.pinEdits
    .filter((edit) => !contested.includes(edit))
    .map((edit) => makePinEdit(edit, edit.pin?.pin ?? null));
}

async function draftMergedFile(
  file: PromptFile,
  { edits, frontMatter, text }: MergedPrompt,
  textEdit: OutsideEdit | null,
  pinEdits: readonly PinEdit[],
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  const fileEdits = [...edits, ...pinEdits.map(({ edit }) => edit)];
  if (fileEdits.length === 0) return makeDraftWithoutEdits(file, 'unchanged');
  const frontMatterEdits = { frontMatter: [...frontMatter, ...pinEdits.map(({ change }) => change)] };
  const promptEdits =
    text === null ? frontMatterEdits : { ...frontMatterEdits, text: text.text, conflicted: text.conflicts > 0 };
  const draft = await draftEdits(file, fileEdits, promptEdits, workspace);
  if (textEdit === null || text === null || text.conflicts > 0 || draft.status === 'failed') return draft;
  // The report shows pulled metadata as edits to fields, so the text change omits metadata.
  const before: StoredContent = { ...omitDigests(file.content), metadata: undefined };
  const texts: TextChange = { environment: textEdit.environment, before, after: { ...before, text: text.text } };
  return { ...draft, edits: draft.edits.map((edit) => (edit.kind === 'set-text' ? { ...edit, texts } : edit)) };
}

/** Warns about versions from commits that this clone lacks, because pulled edits would conflict with these commits. */
function warnAboutMissingCommits(
  { drift, observed, file }: ObservedPromptPlan,
  { environment: selected }: PullOptions,
): readonly Problem[] {
  return drift.flatMap((one) => {
    if (one.subject === 'field' || one.observed?.isCommitMissing !== true) return [];
    const { environment } = one;
    const version = observed.active.get(environment) ?? null;
    if (version === null || (selected !== undefined && selected !== environment)) return [];
    return [warnAboutKnownVersion({ environment, version }, one.observed.commit ?? null, file)];
  });
}

/** `missingCommit` is the commit that contains the served text if this clone lacks it, otherwise null. */
function warnAboutKnownVersion(
  { environment, version: { number } }: Pick<OutsideEdit, 'environment' | 'version'>,
  missingCommit: string | null,
  { path, key }: PromptFile,
): Problem {
  return makeProblem('pull/known-version', { environment, number, missingCommit, key }, { path });
}
