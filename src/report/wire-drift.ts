import { type Drift, type Holder, isNew, type NewVersionRef } from '../domain/plan.ts';
import type { VersionRef } from '../domain/versions.ts';
import type { ReportDrift } from './schema.ts';

/** Drift as a report tells it. */
export function wireDrift(drift: Drift): ReportDrift {
  if ('field' in drift) {
    const { field, kind, expected, observed } = drift;
    return { field, kind, expected, observed };
  }
  const { kind, environment, expected, observed } = drift;
  const wanted = isNew(expected) ? newRef(expected) : wireRef(expected);
  return { environment, kind, expected: wanted, observed: observed === null ? null : wireHolder(observed) };
}

function wireHolder({ commit, ...ref }: Holder) {
  return commit === undefined
    ? { ...wireRef(ref), made_by: 'outside' as const }
    : { ...wireRef(ref), made_by: 'git' as const, commit };
}

/** The file's own content needs no telling apart; there may be several of refs. */
export function newRef({ new: { digest }, ref }: NewVersionRef) {
  return ref === undefined ? { new: true as const } : { new: true as const, digest };
}

/** A version as a report names it. */
export function wireRef({ id, number }: VersionRef) {
  return { id, version_number: number };
}
