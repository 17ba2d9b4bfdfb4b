import type { FileEdit } from '../domain/edits.ts';
import { isNewVersionRef, type NewVersionRef, type PromptPlan, type SetActive } from '../domain/plan.ts';
import type { TypedPromptIdentity } from '../domain/prompt-file.ts';
import type { TextChange } from '../domain/text-changes.ts';
import type { VersionRef } from '../domain/versions.ts';
import type { ReportEdit, ReportPrompt, ReportRow } from './schema/report-schema.ts';
import { makeTextFields } from './make-text-fields.ts';

/** The fields of a report that identify a prompt. */
type ReportIdentity = Pick<ReportPrompt, 'path' | 'id' | 'id_source' | 'key' | 'type' | 'url'>;

/**
 * Creates the fields that identify a prompt in a report.
 * @param plan the plan of the prompt, which contains the address of its page; undefined if the command made none
 */
export function makeIdentity(prompt: TypedPromptIdentity, plan?: PromptPlan): ReportIdentity {
  const { path, id, idSource, key, type } = prompt;
  const url = plan?.observed?.url;
  return {
    path,
    id,
    ...(idSource !== undefined && { id_source: idSource }),
    key,
    type,
    ...(url !== undefined && { url }),
  };
}

/** Creates the report of one edit to a prompt file. */
export function makeReportEdit(edit: FileEdit): ReportEdit {
  if (edit.kind === 'set-pin') {
    const { serves, versionNumber, active, ...rest } = edit;
    return {
      ...rest,
      ...(versionNumber !== undefined && { version_number: versionNumber }),
      ...(active !== undefined && { active: active && makeReportRef(active) }),
      ...(serves !== undefined && { serves: makeServedFields(serves.change, serves) }),
    };
  }
  if (edit.kind !== 'set-text') return edit;
  const { texts, ...rest } = edit;
  return texts === undefined ? rest : { ...rest, texts: { environment: texts.environment, ...makeTextFields(texts) } };
}

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
