import type { FormerStates, UnmetWants, WantedSinceByEnvironment } from '../domain/desired-state.ts';
import { meansVersion } from '../domain/history.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import {
  type Change,
  type ChangeAnnotation,
  type Drift,
  FIELDS,
  type ServedVersion,
  type SetActive,
  type UpdatePrompt,
  isSameTarget,
  listChangingEnvironments,
} from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { makeVersionRef, type KnownVersion, type VersionSource } from '../domain/versions.ts';
import type { UnmetWant } from '../domain/wanted-since.ts';
import { makeMoveEvidence, wasMovedAfterSync } from './was-moved-after-sync.ts';

/** The data from which promptsync finds the drift of one prompt. */
type DriftInput = {
  readonly headFile: PromptFile;
  readonly baseFile: PromptFile;
  /** The changes that make the service match the head. */
  readonly head: readonly Change[];
  /** The changes that would make the service match the base. */
  readonly base: readonly Change[];
  readonly observed: ObservedPrompt;
  /** The earlier states of the file. */
  readonly former: FormerStates;
  /** For each environment, the commit of the live branch that first wanted what the pin at the base wants. */
  readonly wantedSince: WantedSinceByEnvironment;
  /** The states that the base wants and the service does not have. */
  readonly unmetWants: UnmetWants;
  /** The commits that the records of active versions name and that the clone does not have. */
  readonly missingCommits: ReadonlySet<string>;
  /** The git sources of active versions without a version record, by version id. */
  readonly messageSources: ReadonlyMap<string, VersionSource>;
  /** True if the user specified no base. */
  readonly isDefaultBase: boolean;
};

/** The drift of one prompt, and the annotations. With a default base, annotations replace `unfinished` drift. */
export type DriftResult = { readonly drift: readonly Drift[]; readonly annotations: readonly ChangeAnnotation[] };

export const NO_DRIFT: DriftResult = { drift: [], annotations: [] };

/**
 * Finds the environments and fields whose current state differs from both the base and the head. If the current state
 * differs only from the head, the head requests a change, and there is no drift.
 */
export function findDrift(compared: DriftInput): DriftResult {
  const activations = compared.head.filter((change) => change.kind === 'set-active');
  const drift = [
    ...activations.flatMap((change) => findEnvironmentDrift(change, compared)),
    ...findFieldDrift(compared),
  ];
  if (!compared.isDefaultBase) return { drift, annotations: [] };
  const { outside = [], unfinished = [] } = Object.groupBy(drift, ({ kind }) => kind);
  return { drift: outside, annotations: unfinished.flatMap((one) => annotate(one, compared.unmetWants)) };
}

/**
 * Makes the annotation of a change that an earlier commit requested. Returns an empty list if promptsync does not know
 * this commit. Also returns an empty list if the base and the head want different states, because the change then comes
 * from the head.
 */
function annotate(drift: Drift, { environments, fields }: UnmetWants): readonly ChangeAnnotation[] {
  if (!drift.restoresBase) return [];
  if (drift.subject === 'field') {
    const want = fields.get(drift.field);
    return want === undefined ? [] : [{ subject: 'field', field: drift.field, want }];
  }
  const want = environments.get(drift.environment);
  return want === undefined ? [] : [{ subject: 'environment', environment: drift.environment, want }];
}

function findEnvironmentDrift({ environment, after }: SetActive, compared: DriftInput): readonly Drift[] {
  const { base, former } = compared;
  const baseChange = base
    .filter((change) => change.kind === 'set-active')
    .find((change) => change.environment === environment);
  if (baseChange === undefined) return [];
  const version = compared.observed.active.get(environment) ?? null;
  const formerPins = former.pins.get(environment) ?? [];
  const want = compared.unmetWants.environments.get(environment);
  const isFormer = want?.wasCurrentWanted === true || formerPins.some((pin) => version && meansVersion(pin, version));
  const wasWanted = version === null || isFormer;
  const isMoved = showsMoveAfterSync(baseChange, compared) || showsMoveInRecords(want);
  const kind = !isMoved && (wasWanted || isFirstWant(want, compared)) ? 'unfinished' : 'outside';
  const observed = version && makeServedVersion(version, compared);
  const expected = baseChange.after;
  return [
    { subject: 'environment', environment, kind, restoresBase: isSameTarget(after, expected), expected, observed },
  ];
}

/**
 * Returns true if the times of the versions show that the environment served what the base wants, and that somebody
 * moved it afterward.
 */
function showsMoveAfterSync(
  baseChange: SetActive,
  { headFile, baseFile, head, observed, wantedSince }: DriftInput,
): boolean {
  const activeAsWanted = listActiveAsWanted(headFile, head, observed);
  const evidence = makeMoveEvidence(baseChange, { file: baseFile, observed, wantedSince, activeAsWanted });
  return evidence !== null && wasMovedAfterSync(evidence);
}

/**
 * Returns true if the version records show that the environment served what the base wants. Somebody must then have
 * moved the environment. Returns false if another commit wants the version that the environment serves now, because
 * that commit may explain the move.
 */
function showsMoveInRecords(want: UnmetWant | undefined): boolean {
  return want !== undefined && want.wasLive && want.rival === null;
}

/**
 * Returns true if the file has never wanted another state, and no version record shows that the service ever had the
 * wanted state. For example, a file that somebody wrote by hand does not drift before its first sync. Returns false for
 * a base that the user specified, because such a base declares what was synced.
 */
function isFirstWant(want: UnmetWant | undefined, { isDefaultBase }: DriftInput): boolean {
  return isDefaultBase && want !== undefined && want.isFirst && !want.isRecorded;
}

/** Returns the active version of each environment that the file pins and in which nothing has to change. */
export function listActiveAsWanted(
  { pins }: PromptFile,
  changes: readonly Change[],
  { active }: ObservedPrompt,
): ReadonlyMap<string, KnownVersion> {
  const changing = listChangingEnvironments(changes);
  const entries = pins.flatMap(({ environment }): readonly [string, KnownVersion][] => {
    const version = active.get(environment) ?? null;
    return version === null || changing.has(environment) ? [] : [[environment, version]];
  });
  return new Map(entries);
}

/**
 * Describes the version that a drifted environment serves. Includes the commit only if promptsync created the version,
 * or if git has the version's text at the commit named in its message.
 */
function makeServedVersion(
  { isManaged, source, ...version }: KnownVersion,
  { missingCommits, messageSources }: Pick<DriftInput, 'missingCommits' | 'messageSources'>,
): ServedVersion {
  const commit = (isManaged ? source : messageSources.get(version.id))?.commit;
  return {
    ...makeVersionRef(version),
    isManaged: isManaged === true,
    ...(commit === undefined ? {} : { commit }),
    ...(commit !== undefined && missingCommits.has(commit) && { isCommitMissing: true }),
    ...(version.staysKnown && { pin: String(version.number) }),
  };
}

function findFieldDrift(compared: DriftInput): readonly Drift[] {
  const { head, base, former, unmetWants } = compared;
  const headFields = collectFieldChanges(head);
  const baseFields = collectFieldChanges(base);
  return FIELDS.flatMap((field): readonly Drift[] => {
    const expected = baseFields[field]?.after;
    const observed = headFields[field]?.before;
    if (expected === undefined || observed === undefined) return [];
    const want = unmetWants.fields.get(field);
    const isFormer =
      want?.wasCurrentWanted === true || former.fields.some((earlier) => (earlier[field] ?? '') === observed);
    const kind = isFormer || isFirstWant(want, compared) ? 'unfinished' : 'outside';
    const restoresBase = headFields[field]?.after === expected;
    return [{ subject: 'field', field, kind, restoresBase, expected, observed }];
  });
}

function collectFieldChanges(changes: readonly Change[]): UpdatePrompt['fields'] {
  return changes.find((change) => change.kind === 'update-prompt')?.fields ?? {};
}
