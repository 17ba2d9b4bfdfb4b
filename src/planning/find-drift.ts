import type { FormerStates } from '../domain/desired-state.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import {
  type Change,
  type Drift,
  FIELDS,
  type ServedVersion,
  type SetActive,
  type UpdatePrompt,
  isSameTarget,
} from '../domain/plan.ts';
import { makeVersionRef, type KnownVersion } from '../domain/versions.ts';
import { meansVersion } from './former-pins.ts';

/**
 * The data from which promptsync finds the drift of one prompt: the changes planned from the head and from the base,
 * the state of the prompt as observed in the service, and the earlier states of its file.
 */
type DriftInput = {
  readonly head: readonly Change[];
  readonly base: readonly Change[];
  readonly observed: ObservedPrompt;
  readonly former: FormerStates;
};

/**
 * Returns the environments and fields whose current state differs from both the base and the head. If the current state
 * differs only from the head, the head requests a change, and there is no drift.
 */
export function findDrift(compared: DriftInput): readonly Drift[] {
  const activations = compared.head.filter((change) => change.kind === 'set-active');
  return [...activations.flatMap((change) => findEnvironmentDrift(change, compared)), ...findFieldDrift(compared)];
}

function findEnvironmentDrift(
  { environment, after }: SetActive,
  { base, observed: { active }, former }: DriftInput,
): readonly Drift[] {
  const baseChange = base
    .filter((change) => change.kind === 'set-active')
    .find((change) => change.environment === environment);
  if (baseChange === undefined) return [];
  const version = active.get(environment) ?? null;
  const formerPins = former.pins.get(environment) ?? [];
  const isUnfinished = version === null || formerPins.some((pin) => meansVersion(pin, version));
  const kind = isUnfinished ? 'unfinished' : 'outside';
  const observed = version && makeServedVersion(version);
  const expected = baseChange.after;
  return [
    { subject: 'environment', environment, kind, restoresBase: isSameTarget(after, expected), expected, observed },
  ];
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
