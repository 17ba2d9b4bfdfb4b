import type { FormerStates, WantedSinceByEnvironment } from '../domain/desired-state.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import {
  type Change,
  type Drift,
  FIELDS,
  type ServedVersion,
  type SetActive,
  type UpdatePrompt,
  isSameTarget,
  listChangingEnvironments,
} from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { makeVersionRef, type KnownVersion } from '../domain/versions.ts';
import { meansVersion } from './former-pins.ts';
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
};

/**
 * Returns the environments and fields whose current state differs from both the base and the head. If the current state
 * differs only from the head, the head requests a change, and there is no drift.
 */
export function findDrift(compared: DriftInput): readonly Drift[] {
  const activations = compared.head.filter((change) => change.kind === 'set-active');
  return [...activations.flatMap((change) => findEnvironmentDrift(change, compared)), ...findFieldDrift(compared)];
}

function findEnvironmentDrift({ environment, after }: SetActive, compared: DriftInput): readonly Drift[] {
  const { base, former } = compared;
  const baseChange = base
    .filter((change) => change.kind === 'set-active')
    .find((change) => change.environment === environment);
  if (baseChange === undefined) return [];
  const version = compared.observed.active.get(environment) ?? null;
  const formerPins = former.pins.get(environment) ?? [];
  const wasWanted = version === null || formerPins.some((pin) => meansVersion(pin, version));
  const kind = wasWanted && !showsMoveAfterSync(baseChange, compared) ? 'unfinished' : 'outside';
  const observed = version && makeServedVersion(version);
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
 * Describes the version that a drifted environment serves. Includes the commit only if promptsync created the version.
 */
function makeServedVersion({ isManaged, source, ...version }: KnownVersion): ServedVersion {
  const commit = isManaged ? source?.commit : undefined;
  return {
    ...makeVersionRef(version),
    ...(commit === undefined ? {} : { commit }),
    ...(version.staysKnown && { pin: String(version.number) }),
  };
}

function findFieldDrift({ head, base, former }: DriftInput): readonly Drift[] {
  const headFields = collectFieldChanges(head);
  const baseFields = collectFieldChanges(base);
  return FIELDS.flatMap((field): readonly Drift[] => {
    const expected = baseFields[field]?.after;
    const observed = headFields[field]?.before;
    if (expected === undefined || observed === undefined) return [];
    const isUnfinished = former.fields.some((earlier) => (earlier[field] ?? '') === observed);
    const kind = isUnfinished ? 'unfinished' : 'outside';
    const restoresBase = headFields[field]?.after === expected;
    return [{ subject: 'field', field, kind, restoresBase, expected, observed }];
  });
}

function collectFieldChanges(changes: readonly Change[]): UpdatePrompt['fields'] {
  return changes.find((change) => change.kind === 'update-prompt')?.fields ?? {};
}
