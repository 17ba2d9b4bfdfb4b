import type { DesiredBase, FormerFields } from '../domain/desired.ts';
import { type Change, type Drift, FIELDS, type Holder, type SetActive, isSameTarget } from '../domain/plan.ts';
import type { KnownVersion, VersionRef } from '../domain/versions.ts';

/** The changes that the base's file and the head's file of one prompt ask for, and what is known of its versions. */
export type Compared = {
  readonly head: readonly Change[];
  readonly base: readonly Change[];
  readonly known: readonly KnownVersion[];
  /** The fields at earlier commits. */
  readonly formerFields: readonly FormerFields[];
};

/** What neither the base's file nor the head's finds as it wants it: the head's own changes are no drift. */
export function findDrift(compared: Compared, { ancestors }: Pick<DesiredBase, 'ancestors'>): readonly Drift[] {
  const environments = compared.head.filter((change) => change.kind === 'set-active');
  return [...environments.flatMap((change) => environmentDrift(change, compared, ancestors)), ...fieldDrift(compared)];
}

function environmentDrift(
  { environment, before, after }: SetActive,
  compared: Compared,
  ancestors: ReadonlySet<string>,
): readonly Drift[] {
  const wanted = compared.base
    .filter((change) => change.kind === 'set-active')
    .find((change) => change.environment === environment);
  if (wanted === undefined) return [];
  const observed = before === null ? null : holderOf(before, compared.known);
  const unfinished = observed === null || (observed.commit !== undefined && ancestors.has(observed.commit));
  const kind = unfinished ? 'unfinished' : 'outside';
  return [{ kind, environment, expected: wanted.after, observed, restores: isSameTarget(after, wanted.after) }];
}

/** What was made outside has no commit. */
function holderOf({ id, number }: VersionRef, known: readonly KnownVersion[]): Holder {
  const version = known.find((one) => one.id === id);
  const commit = version?.ours === true ? version.source?.commit : undefined;
  return { id, number, ...(commit === undefined ? {} : { commit }) };
}

function fieldDrift({ head, base: wanted, formerFields }: Compared): readonly Drift[] {
  const [now, then] = [fieldsOf(head), fieldsOf(wanted)];
  return FIELDS.flatMap((field): readonly Drift[] => {
    const expected = then[field]?.after;
    const observed = now[field]?.before;
    if (expected === undefined || observed === undefined) return [];
    const unfinished = formerFields.some((earlier) => (earlier[field] ?? '') === observed);
    const kind = unfinished ? 'unfinished' : 'outside';
    return [{ kind, field, expected, observed, restores: now[field]?.after === expected }];
  });
}

function fieldsOf(changes: readonly Change[]) {
  return changes.find((change) => change.kind === 'update-prompt')?.fields ?? {};
}
