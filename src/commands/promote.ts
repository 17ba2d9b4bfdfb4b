import type { Config } from '../workspace/config.ts';
import { toStoredContent } from '../domain/content.ts';
import { getContentsAtRefs } from '../domain/desired-state.ts';
import { isNewVersionRef, listChangingEnvironments, type ObservedPromptPlan, type SetActive } from '../domain/plan.ts';
import { findPin, type PromptFile } from '../domain/prompt-file.ts';
import { findVersionWithContent, type KnownVersion } from '../domain/versions.ts';
import type { System } from '../domain/system.ts';
import { wasReplaced } from '../history/line-of-states.ts';
import { MAX_DRIFT_STATES } from '../history/prompt-history.ts';
import { readPromptLine } from '../history/read-line-of-states.ts';
import { findNewerVersion } from '../planning/find-newer-version.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { type PromptDraft, editFiles, type EditOptions, makeDraftWithoutEdits } from '../editing/edit-files.ts';
import { draftContentPin, readOtherWantedContent, wantVersion } from '../editing/content-pin.ts';
import {
  draftPinEdit,
  findPreviousEnvironment,
  checkEnvironmentFlag,
  listEnvironmentsToRead,
  findServedVersion,
  type RequestedPin,
} from '../editing/pin-edit.ts';
import { listKnownEnvironments, makeMissingEnvironmentResult } from '../run/require-environment.ts';
import { type CommandResult, makeStoppedResult } from '../run/command-result.ts';
import type { PlannedWorkspace } from '../run/run-with-plan.ts';

type PromoteOptions = EditOptions & {
  /** Whether to promote all prompts. If false, the user must specify at least one prompt. */
  readonly all: boolean;
  /** Whether to also promote a version that is older than the one that the environment `to` serves or pins. */
  readonly allowOlder: boolean;
  /** Defaults to the `promote_from` setting of the environment `to`. */
  readonly from?: string | undefined;
  /** The environment to pin to the promoted versions. The command requires it. */
  readonly to?: string | undefined;
};

/** Pins an environment of each selected prompt to the version that is active in another environment. */
export async function promotePrompts(options: PromoteOptions, system: System): Promise<CommandResult> {
  const { to, allowOlder, only } = options;
  if (to === undefined) return makeMissingEnvironmentResult('promote', '--to', options, system);
  const problem = checkPromptSelection(options);
  if (problem !== null) return makeStoppedResult('promote', problem);
  const chooseSource = (config: Config) => options.from ?? findPreviousEnvironment(to, config);
  const findNeeds = (config: Config, files: readonly PromptFile[]) => {
    const from = chooseSource(config);
    return {
      problems: checkPromotionEnvironments(from, to, config, files),
      environments: [...listOwnSource(from, config), ...listEnvironmentsToRead(to, config)],
      readDepth: 'listed' as const,
    };
  };
  // `findNeeds` has already refused a missing source, so `to` is never used in its place.
  const makeDraft = (prompt: ObservedPromptPlan, workspace: PlannedWorkspace) =>
    draftPromotion(prompt, { from: chooseSource(workspace.config) ?? to, to, allowOlder, only }, workspace);
  const renderSubject = (names: string) => `Promote ${names} to ${to}`;
  return editFiles({ mode: 'promote', findNeeds, makeDraft, renderSubject }, options, system);
}

function checkPromptSelection({ only, all }: PromoteOptions): Problem | null {
  const hasNames = only.length > 0;
  if (all && hasNames) return makeProblem('usage/invalid', { reason: 'Specify prompts or use `--all`, but not both.' });
  return hasNames || all ? null : makeProblem('usage/nothing-named');
}

function checkPromotionEnvironments(
  from: string | undefined,
  to: string,
  config: Config,
  files: readonly PromptFile[],
): readonly Problem[] {
  if (from === undefined) {
    const unknown = checkEnvironmentFlag('--to', to, config);
    return unknown.length > 0 ? unknown : [makeMissingSourceProblem(to, config, files)];
  }
  if (from === to) return [makeProblem('usage/same-environment', { environment: to })];
  const isOtherSource = config.otherEnvironments.includes(from);
  const sourceProblems = isOtherSource ? [] : checkEnvironmentFlag('--from', from, config);
  return [...sourceProblems, ...checkEnvironmentFlag('--to', to, config)];
}

/** Returns the problem for a promotion without a source. Suggests only environments that come before the target. */
function makeMissingSourceProblem(to: string, config: Config, files: readonly PromptFile[]): Problem {
  const names = listKnownEnvironments(config, files);
  const isOrdered = config.environments !== null;
  const known = isOrdered ? names.slice(0, names.indexOf(to)) : names.filter((name) => name !== to);
  const isFirst = isOrdered && known.length === 0;
  const reason = isFirst
    ? `"${to}" is the first environment in promotion order`
    : `\`promptsync.yaml\` does not set \`promote_from\` for "${to}"`;
  return makeProblem('usage/needs-environment', { option: '--from', reason, known });
}

/** Returns the source environment, unless another configuration manages it or the user named none. */
function listOwnSource(from: string | undefined, { otherEnvironments }: Config): readonly string[] {
  return from === undefined || otherEnvironments.includes(from) ? [] : [from];
}

type PromotionRequest = Pick<PromoteOptions, 'allowOlder' | 'only'> & { readonly from: string; readonly to: string };

async function draftPromotion(
  prompt: ObservedPromptPlan,
  promotion: PromotionRequest,
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  const { from, to, only } = promotion;
  if (workspace.config.otherEnvironments.includes(from)) return draftOtherPromotion(prompt, promotion, workspace);
  const { file, changes } = prompt;
  const served = findServedVersion(prompt, from);
  if (served === null) return makeDraftWithoutEdits(file, 'blocked', [makeNothingServedProblem(from, file, workspace)]);
  const draft = await draftPromotedPin({ environment: to, version: served }, from, prompt, workspace);
  const kept = keepNewerVersion(draft, { ...promotion, version: served, verb: 'serves' }, prompt, workspace);
  if (kept !== draft || draft.status === 'blocked') return kept;
  // The key of a prompt, unlike a pattern, shows that the user means exactly this prompt.
  const isNamed = only.includes(file.key);
  const refusal =
    draft.status === 'pending' && !isNamed
      ? await findRollback({ environment: to, version: served }, from, prompt, workspace)
      : null;
  if (refusal !== null) return makeDraftWithoutEdits(file, 'unchanged', [refusal]);
  const change = changes.find((one) => one.kind === 'set-active' && one.environment === from);
  if (change?.kind !== 'set-active') return draft;
  const warning = warnAboutUnsyncedSource({ environment: from, version: served }, change, file);
  return { ...draft, problems: [...draft.problems, warning] };
}

/** Warns that a promotion takes what the source environment serves, which is not what the file asks for there. */
function warnAboutUnsyncedSource(
  { environment, version }: RequestedPin,
  { after }: SetActive,
  { path, key }: PromptFile,
): Problem {
  const evidence = { environment, serves: `v${version.number}`, wanted: nameWantedVersion(after), key };
  return makeProblem('promote/source-drifted', evidence, { path });
}

/** Warns if a later commit replaced the promoted version with an older one, usually because the former was bad. */
async function findRollback(
  { environment, version }: RequestedPin,
  from: string,
  { file, observed }: ObservedPromptPlan,
  { repository }: PlannedWorkspace,
): Promise<Problem | null> {
  const head = repository?.head ?? null;
  const current = observed.active.get(environment) ?? null;
  const isForward =
    findPin(file.pins, environment) !== undefined && current !== null && current.number < version.number;
  if (repository === null || head === null || !isForward) return null;
  const line = await readPromptLine(file, head, repository, MAX_DRIFT_STATES);
  if (!wasReplaced(line, environment, version, observed.metadata)) return null;
  const evidence = { environment, from, number: version.number, key: file.key };
  return makeProblem('promote/rolled-back', evidence, { path: file.path });
}

/** A promotion of a version that the source environment serves, or that the file pins there. */
type VersionPromotion = PromotionRequest & { readonly version: KnownVersion; readonly verb: 'serves' | 'pins' };

/** Instead of replacing a newer version, leaves the file unchanged and warns, unless older versions are allowed. */
function keepNewerVersion(
  draft: PromptDraft,
  { from, to, allowOlder, version, verb }: VersionPromotion,
  { file, observed, changes }: ObservedPromptPlan,
  workspace: PlannedWorkspace,
): PromptDraft {
  if (allowOlder || draft.status === 'unchanged') return draft;
  const newer = findNewerVersion(to, version, file, observed, getContentsAtRefs(workspace, file.id));
  if (newer === null) return draft;
  const changing = listChangingEnvironments(changes);
  const unsynced = {
    isSourceUnsynced: changing.has(from),
    isTargetUnsynced: newer.verb === 'serves' && changing.has(to),
  };
  const evidence = { to, newer, from, promoted: { verb, number: version.number }, ...unsynced, key: file.key };
  return makeDraftWithoutEdits(file, 'unchanged', [makeProblem('promote/older', evidence, { path: file.path })]);
}

function makeNothingServedProblem(environment: string, file: PromptFile, { config }: PlannedWorkspace): Problem {
  const { path, pins } = file;
  if (findPin(pins, environment)) return makeProblem('promote/nothing-active', { environment }, { path });
  const allowsLatest = config.environments?.find(({ name }) => name === environment)?.allowLatest ?? true;
  return makeProblem('promote/not-pinned', { environment, allowsLatest }, { path });
}

/** Returns null if the sync would create the version from the file's own text. */
function nameWantedVersion(after: SetActive['after']): string | null {
  if (isNewVersionRef(after)) return after.ref === undefined ? null : `\`git:${after.ref}\``;
  return after.number === null ? `version "${after.id}"` : `v${after.number}`;
}

/** With `portable_pins`, pins the commit that introduced the content, because numbers differ between services. */
function draftPromotedPin(
  { environment, version }: RequestedPin,
  from: string,
  prompt: ObservedPromptPlan,
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  if (!workspace.config.portablePins) return draftPinEdit({ environment, version }, prompt, workspace);
  const description = `the text that "${from}" serves (v${version.number})`;
  const wanted = { ...wantVersion(version, prompt.observed), description };
  return draftContentPin(environment, wanted, prompt, workspace);
}

/** Promotes what the file pins, because promptsync cannot ask a service that another configuration manages. */
async function draftOtherPromotion(
  prompt: ObservedPromptPlan,
  promotion: PromotionRequest,
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  const { file, observed } = prompt;
  const { from, to } = promotion;
  const wanted = await readOtherWantedContent(from, file, workspace);
  if (!wanted.isSuccess) return makeDraftWithoutEdits(file, 'blocked', wanted.problems);
  const drafted = await draftContentPin(to, wanted.value, prompt, workspace);
  const version = findVersionWithContent(observed.known, toStoredContent(wanted.value.content, observed.metadata));
  const draft =
    version === undefined
      ? drafted
      : keepNewerVersion(drafted, { ...promotion, version, verb: 'pins' }, prompt, workspace);
  // The plan of the edited file may already contain this warning.
  const isReported = draft.problems.some(({ code }) => code === 'pin/source-not-asked');
  if (isReported || draft.status === 'blocked') return draft;
  const notice = makeProblem('pin/source-not-asked', { from }, { path: file.path });
  return { ...draft, problems: [...draft.problems, notice] };
}
