import type { FormerWants } from '../domain/desired.ts';
import type { Observed } from '../domain/observed.ts';
import { type Change, type Drift, FIELDS, type Holder, type SetActive, isSameTarget } from '../domain/plan.ts';
import { refOf, type KnownVersion } from '../domain/versions.ts';
import { means } from './former-pins.ts';

/** The changes that the base's file and the head's file of one prompt ask for, and what there was and is. */
export type Compared = {
  readonly head: readonly Change[];
  readonly base: readonly Change[];
  readonly observed: Observed;
  readonly former: FormerWants;
};

/** What neither the base's file nor the head's finds as it wants it: the head's own changes are no drift. */
export function findDrift(compared: Compared): readonly Drift[] {
  const environments = compared.head.filter((change) => change.kind === 'set-active');
  return [...environments.flatMap((change) => environmentDrift(change, compared)), ...fieldDrift(compared)];
}

function environmentDrift(
  { environment, after }: SetActive,
  { base, observed: { active }, former }: Compared,
): readonly Drift[] {
  const wanted = base
    .filter((change) => change.kind === 'set-active')
    .find((change) => change.environment === environment);
  if (wanted === undefined) return [];
  const version = active.get(environment) ?? null;
  const asked = former.pins.get(environment) ?? [];
  const kind = version === null || asked.some((pin) => means(pin, version)) ? 'unfinished' : 'outside';
  const observed = version && holderOf(version);
  return [{ environment, kind, restores: isSameTarget(after, wanted.after), expected: wanted.after, observed }];
}

/** What was made outside has no commit. */
function holderOf({ ours, source, ...version }: KnownVersion): Holder {
  const commit = ours ? source?.commit : undefined;
  return {
    ...refOf(version),
    ...(commit === undefined ? {} : { commit }),
    ...(version.lasting && { pin: String(version.number) }),
  };
}

function fieldDrift({ head, base: wanted, former }: Compared): readonly Drift[] {
  const [now, then] = [fieldsOf(head), fieldsOf(wanted)];
  return FIELDS.flatMap((field): readonly Drift[] => {
    const expected = then[field]?.after;
    const observed = now[field]?.before;
    if (expected === undefined || observed === undefined) return [];
    const unfinished = former.fields.some((earlier) => (earlier[field] ?? '') === observed);
    const kind = unfinished ? 'unfinished' : 'outside';
    return [{ field, kind, restores: now[field]?.after === expected, expected, observed }];
  });
}

function fieldsOf(changes: readonly Change[]) {
  return changes.find((change) => change.kind === 'update-prompt')?.fields ?? {};
}
