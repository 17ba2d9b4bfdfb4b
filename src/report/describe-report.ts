import { DEFAULT_WORDS, type Words } from '../service-words.ts';
import { isError } from '../problem.ts';
import { escapeLine } from './escape.ts';
import type { Report, ReportChange, ReportEdit, ReportPrompt } from './schema/report-schema.ts';

// Wording shared by all formats. `escapeLine` escapes text on its own line, and `show` a value within a sentence.

/** A function that escapes a value from a file or from the service for one output format. */
export type ShowText = (text: string) => string;

type ActivationChange = ReportChange & { readonly kind: 'set-active' };

/** The part of a report that determines the words for the service and its environments. */
type ReportWords = Pick<Report, 'vocabulary'>;

export function getWords({ vocabulary = DEFAULT_WORDS }: ReportWords): Words {
  return vocabulary;
}

/** Names the environments of a report that covers only some of them. Returns null if it covers all. */
export function describeCoverage(
  { environments, promotion_order: all, problems, mode }: Report,
  show: ShowText,
): string | null {
  // A rollback always covers a single environment, and a run that an error stopped covers none.
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

/** Treats `not_attempted` as a failure, except for `validate`, which never attempts a prompt. */
export function hasFailed({ status }: Pick<ReportPrompt, 'status'>, mode: Report['mode']): boolean {
  return status === 'failed' || (status === 'not_attempted' && mode !== 'validate');
}

/** Returns the status of a prompt as readable text, for example `not attempted` for `not_attempted`. */
export function describeStatus(status: ReportPrompt['status']): string {
  return status.replace('_', ' ');
}

/** Returns a label such as `v7`, `new version` or `none`. If the number is unknown, returns the escaped id. */
export function describeVersionRef(ref: ActivationChange['before'] | ActivationChange['after']): string {
  if (ref === null) return 'none';
  if ('new' in ref) return 'new version';
  return ref.version_number === null ? escapeLine(ref.id) : `v${ref.version_number}`;
}

/** Returns true if an apply has made the change. */
export function isDone({ status }: Pick<ReportChange, 'status'>): boolean {
  return status === 'made' || status === 'adopted';
}

/** Returns true if the summary of a report counts the change: it is pending or, after an apply, the run has made it. */
export function isCountedInSummary(change: ReportChange, prompt: Pick<ReportPrompt, 'status'>): boolean {
  return change.status === undefined ? prompt.status === 'pending' : change.status === 'made';
}

/** The text of a file before and after an edit, and the environment whose text the edit merged into the file. */
type EditTexts = NonNullable<Extract<ReportEdit, { readonly kind: 'set-text' }>['texts']>;

/** The texts before and after a change. `before` and `after` are labels such as `v6`, null if none is active. */
export type NamedTexts = {
  readonly environment: string;
  readonly before: string | null;
  readonly after: string;
  readonly texts: Omit<EditTexts, 'environment'>;
};

/** Returns the old and the new texts. A failed prompt has none, because its changes were not made. */
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
function wasTextDiscarded(change: ActivationChange): boolean {
  return isDone(change) && change.after_text === null && change.text_omitted === undefined;
}

/** Describes orphans, which are prompts in the service without a file. Empty if the command did not search for them. */
export function describeOrphans({ orphans }: Report, show: ShowText): readonly string[] {
  if (orphans?.length === 0) return ['none: every matching prompt has a file'];
  return (orphans ?? []).map(({ name, labels, last_version: last }) => {
    return `${show(name)}: newest version v${last}, ${labels.length === 0 ? 'not active anywhere' : `active in ${labels.map(show).join(', ')}`}`;
  });
}

/** Names a difference that readers could overlook. Returns an empty string for every other difference. */
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
