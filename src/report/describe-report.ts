import { DEFAULT_WORDS, type Words } from '../service-words.ts';
import { isError } from '../problem.ts';
import { escapeLine } from './escape.ts';
import type { Report, ReportChange, ReportEdit, ReportPrompt } from './schema/report-schema.ts';

// Wording shared by all output formats. `escapeLine` escapes text that stands on its own line. `show` escapes a value
// within a sentence. Each output format passes its own `show`.

/** A function that escapes a value from a file or from the service for one output format. */
export type ShowText = (text: string) => string;

type ActivationChange = ReportChange & { readonly kind: 'set-active' };

/** The part of a report that determines the words for the service and its environments. */
export type ReportWords = Pick<Report, 'vocabulary'>;

/** Returns the words of a report for the service and its environments. */
export function getWords({ vocabulary = DEFAULT_WORDS }: ReportWords): Words {
  return vocabulary;
}

/**
 * Returns the sentence that names the environments of a report that does not cover all environments. Returns null if
 * the report covers all of them.
 */
export function describeCoverage(
  { environments, promotion_order: all, problems, mode }: Report,
  show: ShowText,
): string | null {
  // Null means that the report does not list the environments that it covers. A rollback always covers a single one,
  // and a run that an error stopped covers none.
  if (mode === 'rollback' || problems.some(isError)) return null;
  if (environments === undefined || all?.every((environment) => environments.includes(environment))) return null;
  return `This report covers only ${environments.map(show).join(', ')}.`;
}

/** Returns the noun to put before the address of the service, for example `service`. */
export function getServiceNoun(report: ReportWords): string {
  return getWords(report).service.replace(/^the /, '');
}

/** Returns the name of the command that produced the report, for example `plan` for the mode `dry-run`. */
export function getCommandName({ mode }: Pick<Report, 'mode'>): string {
  if (mode === 'dry-run') return 'plan';
  return mode === 'apply' ? 'sync' : mode;
}

/**
 * Returns true if the run failed to process a prompt. `validate` never attempts a prompt, so the status `not_attempted`
 * is not a failure there.
 */
export function hasFailed({ status }: Pick<ReportPrompt, 'status'>, mode: Report['mode']): boolean {
  return status === 'failed' || (status === 'not_attempted' && mode !== 'validate');
}

/** Returns the status of a prompt as readable text, for example `not attempted` for `not_attempted`. */
export function describeStatus(status: ReportPrompt['status']): string {
  return status.replace('_', ' ');
}

/**
 * Returns a short label for a version, such as `v7`, `new version` or `none`. If the version number is unknown, the
 * label is the escaped id.
 */
export function describeVersionRef(ref: ActivationChange['before'] | ActivationChange['after']): string {
  if (ref === null) return 'none';
  if ('new' in ref) return 'new version';
  return ref.version_number === null ? escapeLine(ref.id) : `v${ref.version_number}`;
}

/** Returns true if an apply has made the change. */
export function isDone({ status }: Pick<ReportChange, 'status'>): boolean {
  return status === 'made' || status === 'adopted';
}

/** The text of a file before and after an edit, and the environment whose text the edit merged into the file. */
type EditTexts = NonNullable<Extract<ReportEdit, { readonly kind: 'set-text' }>['texts']>;

/**
 * The text of a prompt before and after a change in one environment. `before` and `after` are labels such as `v6` or
 * `new version`. `before` is null if no version is active in the environment.
 */
export type NamedTexts = {
  readonly environment: string;
  readonly before: string | null;
  readonly after: string;
  readonly texts: Omit<EditTexts, 'environment'>;
};

/**
 * Returns the old and the new text for each change or edit of a prompt that can replace its text. Returns none for a
 * prompt that failed, because its changes were not made.
 */
export function listTextChanges({ status, changes, edits = [] }: ReportPrompt): readonly NamedTexts[] {
  if (status === 'failed' && edits.length === 0) return [];
  const nameTexts = (environment: string, texts: Omit<ActivationChange, 'kind' | 'environment'>): NamedTexts => {
    return {
      environment,
      before: texts.before && describeVersionRef(texts.before),
      after: describeVersionRef(texts.after),
      texts,
    };
  };
  return [
    ...changes.flatMap((change) =>
      change.kind === 'set-active' && !wasTextDiscarded(change) ? [nameTexts(change.environment, change)] : [],
    ),
    ...edits.flatMap((edit) => {
      if (edit.kind === 'set-pin' && edit.serves) return [nameTexts(edit.environment, edit.serves)];
      if (edit.kind !== 'set-text' || !edit.texts) return [];
      return [{ environment: edit.texts.environment, before: 'the file', after: 'merged', texts: edit.texts }];
    }),
  ];
}

/**
 * Returns true if an apply activated a version whose text was unknown to the plan. The apply read that text to check
 * it, but did not keep it for the report.
 */
function wasTextDiscarded({ status, after_text: after, text_omitted: omitted }: ActivationChange): boolean {
  return (status === 'made' || status === 'adopted') && after === null && omitted === undefined;
}

/**
 * Returns one line per orphan, or one line that says that there are none. An orphan is a prompt in the service that has
 * no prompt file. Returns no lines if the command did not search for orphans.
 */
export function describeOrphans({ orphans }: Report, show: ShowText): readonly string[] {
  if (orphans?.length === 0) return ['none: every matching prompt has a file'];
  return (orphans ?? []).map(({ name, labels, last_version: last }) => {
    return `${show(name)}: newest version v${last}, ${labels.length === 0 ? 'not active anywhere' : `active in ${labels.map(show).join(', ')}`}`;
  });
}

/**
 * Names a difference that readers could overlook, because both texts look the same. Returns an empty string for all
 * other differences, and if there is none.
 */
export function nameInvisibleDifference(before: string, after: string): string {
  if (before === after) return '';
  if (before.normalize() === after.normalize()) return '(only Unicode normalization differs)';
  const [oldLetters, newLetters] = [removeWhiteSpace(before), removeWhiteSpace(after)];
  if (oldLetters === newLetters) return '(only white space differs)';
  const isBoth = oldLetters.normalize() === newLetters.normalize();
  return isBoth ? '(only Unicode normalization and white space differ)' : '';
}

function removeWhiteSpace(text: string): string {
  return text.replaceAll(/\p{White_Space}+/gu, '');
}
