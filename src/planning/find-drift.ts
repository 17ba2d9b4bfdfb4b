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

/** The changes that the head and the base plan for one prompt, its observation, and what earlier commits wanted. */
export type DriftInput = {
  readonly head: readonly Change[];
  readonly base: readonly Change[];
  readonly observed: ObservedPrompt;
  readonly former: FormerStates;
};

/**
 * Returns the environments and fields that differ from both the base and the head. A difference from the head alone is
 * a change that the head asks for, not drift.
 */
export function findDrift(compared: DriftInput): readonly Drift[] {
  const environments = compared.head.filter((change) => change.kind === 'set-active');
  return [...environments.flatMap((change) => findEnvironmentDrift(change, compared)), ...findFieldDrift(compared)];
}

function findEnvironmentDrift(
  { environment, after }: SetActive,
  { base, observed: { active }, former }: DriftInput,
): readonly Drift[] {
  const wanted = base
    .filter((change) => change.kind === 'set-active')
    .find((change) => change.environment === environment);
  if (wanted === undefined) return [];
  const version = active.get(environment) ?? null;
  const asked = former.pins.get(environment) ?? [];
  const kind = version === null || asked.some((pin) => meansVersion(pin, version)) ? 'unfinished' : 'outside';
  const observed = version && makeServedVersion(version);
  const restoresBase = isSameTarget(after, wanted.after);
  return [{ subject: 'environment', environment, kind, restoresBase, expected: wanted.after, observed }];
}

/** Makes the served version of a drift. A foreign version has no commit. */
function makeServedVersion({ isManaged, source, ...version }: KnownVersion): ServedVersion {
  const commit = isManaged ? source?.commit : undefined;
  return {
    ...makeVersionRef(version),
    ...(commit === undefined ? {} : { commit }),
    ...(version.staysKnown && { pin: String(version.number) }),
  };
}

function findFieldDrift({ head, base: wanted, former }: DriftInput): readonly Drift[] {
  const [now, then] = [collectFieldChanges(head), collectFieldChanges(wanted)];
  return FIELDS.flatMap((field): readonly Drift[] => {
    const expected = then[field]?.after;
    const observed = now[field]?.before;
    if (expected === undefined || observed === undefined) return [];
    const unfinished = former.fields.some((earlier) => (earlier[field] ?? '') === observed);
    const kind = unfinished ? 'unfinished' : 'outside';
    return [{ subject: 'field', field, kind, restoresBase: now[field]?.after === expected, expected, observed }];
  });
}

function collectFieldChanges(changes: readonly Change[]): UpdatePrompt['fields'] {
  return changes.find((change) => change.kind === 'update-prompt')?.fields ?? {};
}
