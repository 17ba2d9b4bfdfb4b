import type { FileEdit } from '../domain/edits.ts';
import { isNewVersionRef, type NewVersionRef, type PromptPlan, type SetActive } from '../domain/plan.ts';
import type { TypedPromptIdentity } from '../domain/prompt-file.ts';
import type { TextChange } from '../domain/text-changes.ts';
import type { VersionRef } from '../domain/versions.ts';
import type { ReportEdit, ReportPrompt, ReportRow } from './schema/report-schema.ts';
import { makeTextFields } from './make-text-fields.ts';

type ReportIdentity = Pick<ReportPrompt, 'path' | 'id' | 'id_source' | 'key' | 'type' | 'url'>;

/** `plan` contains the address of the prompt's page. It is undefined if the command made no plan. */
export function makeIdentity(prompt: TypedPromptIdentity, plan?: PromptPlan): ReportIdentity {
  const { path, id, idSource, key, type } = prompt;
  return { path, id, id_source: idSource, key, type, url: plan?.observed?.url };
}

export function makeReportEdit(edit: FileEdit): ReportEdit {
  if (edit.kind === 'set-pin') {
    const { serves, versionNumber, active, ...rest } = edit;
    return {
      ...rest,
      version_number: versionNumber,
      active: active && makeReportRef(active),
      serves: serves && makeServedFields(serves.change, serves),
    };
  }
  if (edit.kind !== 'set-text') return edit;
  const { texts } = edit;
  return { ...edit, texts: texts && { environment: texts.environment, ...makeTextFields(texts) } };
}

export function makeServedFields(
  { before, after }: Pick<SetActive, 'before' | 'after'>,
  texts: TextChange | undefined,
): NonNullable<Extract<ReportEdit, { readonly kind: 'set-pin' }>['serves']> {
  return { before: before === null ? null : makeReportRef(before), after: makeTarget(after), ...makeTextFields(texts) };
}

/**
 * References a wanted version. A new version has no id. It has a digest if its content comes from a `git:` ref, because
 * a plan may create several of these, but at most one version with the content of the file.
 */
export function makeTarget(target: VersionRef | NewVersionRef): NonNullable<ReportRow['wanted']> {
  if (!isNewVersionRef(target)) return makeReportRef(target);
  return target.ref === undefined ? { new: true } : { new: true, digest: target.newContent.digest };
}

export function makeReportRef({ id, number }: VersionRef): NonNullable<ReportRow['active']> {
  return { id, version_number: number };
}
