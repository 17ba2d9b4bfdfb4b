import { isNewVersionRef, type NewVersionRef, type SetActive } from '../domain/plan.ts';
import type { TextChange } from '../domain/text-changes.ts';
import type { VersionRef } from '../domain/versions.ts';
import type { ReportEdit, ReportRow } from '../report/schema.ts';
import { makeTextFields } from './make-text-fields.ts';

/** Creates the fields of an activation: the versions before and after it, and their texts. */
export function makeServedFields(
  { before, after }: Pick<SetActive, 'before' | 'after'>,
  texts: TextChange | undefined,
): NonNullable<Extract<ReportEdit, { readonly kind: 'set-pin' }>['serves']> {
  return { before: before === null ? null : makeReportRef(before), after: makeTarget(after), ...makeTextFields(texts) };
}

/**
 * Creates the reference to the version that an environment should serve. A new version does not exist yet, so it has no
 * id. If its content comes from a `git:` ref, the reference contains its digest, because a plan may create several such
 * versions. Without a digest, it has the content of the file, and a plan creates at most one such version.
 */
export function makeTarget(target: VersionRef | NewVersionRef): NonNullable<ReportRow['wanted']> {
  if (!isNewVersionRef(target)) return makeReportRef(target);
  return target.ref === undefined ? { new: true } : { new: true, digest: target.newContent.digest };
}

/** Creates the reference to a version that exists. */
export function makeReportRef({ id, number }: VersionRef): NonNullable<ReportRow['active']> {
  return { id, version_number: number };
}
