import type { KnownVersion } from '../domain/known-versions.ts';
import { FIELDS, type Change, type Drift, type FieldName, type Holder, type SetActive } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { VersionRef } from '../domain/version.ts';
import { isSameTarget } from './digest-plan.ts';

/** The base commit: what it wanted, and what it takes to tell who has moved the service since. */
export type Base = {
  /** By prompt id. */
  readonly files: ReadonlyMap<string, PromptFile>;
  /** The commits that base or head contain. */
  readonly ancestors: ReadonlySet<string>;
  /** By prompt id: what the fields were at earlier commits. */
  readonly former: ReadonlyMap<string, readonly Pick<PromptFile, FieldName>[]>;
};

/** The changes that the base's file and the head's file of one prompt ask for, and what is known of its versions. */
export type Compared = {
  readonly promptId: string;
  readonly head: readonly Change[];
  readonly base: readonly Change[];
  readonly known: readonly KnownVersion[];
};

/** What neither the base's file nor the head's finds as it wants it: the head's own changes are no drift. */
export function findDrift(compared: Compared, base: Base): readonly Drift[] {
  const environments = compared.head.filter((change) => change.kind === 'set-active');
  return [...environments.flatMap((change) => environmentDrift(change, compared, base)), ...fieldDrift(compared, base)];
}

function environmentDrift({ environment, before, after }: SetActive, compared: Compared, base: Base): readonly Drift[] {
  const wanted = compared.base
    .filter((change) => change.kind === 'set-active')
    .find((change) => change.environment === environment);
  if (wanted === undefined) return [];
  const observed = before === null ? null : holderOf(before, compared.known);
  const unfinished = observed === null || (observed.commit !== undefined && base.ancestors.has(observed.commit));
  return [
    {
      kind: unfinished ? 'unfinished' : 'outside',
      environment,
      expected: wanted.after,
      observed,
      restores: isSameTarget(after, wanted.after),
    },
  ];
}

/** What was made outside has no commit. */
function holderOf({ id, number }: VersionRef, known: readonly KnownVersion[]): Holder {
  const commit = known.find((version) => version.id === id)?.commit;
  return { id, number, ...(commit === undefined ? {} : { commit }) };
}

function fieldDrift({ promptId, head, base: wanted }: Compared, base: Base): readonly Drift[] {
  const [now, then] = [fieldsOf(head), fieldsOf(wanted)];
  const former = base.former.get(promptId) ?? [];
  return FIELDS.flatMap((field): readonly Drift[] => {
    const expected = then[field]?.after;
    const observed = now[field]?.before;
    if (expected === undefined || observed === undefined) return [];
    const unfinished = former.some((earlier) => (earlier[field] ?? '') === observed);
    return [
      {
        kind: unfinished ? 'unfinished' : 'outside',
        field,
        expected,
        observed,
        restores: now[field]?.after === expected,
      },
    ];
  });
}

function fieldsOf(changes: readonly Change[]) {
  return changes.find((change) => change.kind === 'update-prompt')?.fields ?? {};
}
