import { type DesiredState, getContentsAtRefs } from '../domain/desired-state.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { type FieldChange, type FieldName, FIELDS, isSameTarget, type WantedVersionRef } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { KnownVersion } from '../domain/versions.ts';
import { type LineState, wantsVersion } from '../history/line-of-states.ts';
import { NO_PROMPT_HISTORY, type PromptHistory } from '../history/prompt-history.ts';
import { planChanges, type PinContext, type PromptChanges, type ResolvedPin } from './plan-changes.ts';

/** The observed state of a prompt, compared with what its file wants and with what the base wants. */
export type ComparedPrompt = PinContext & {
  readonly head: WantedChanges;
  /** Null if there is no base, or if the base does not have the prompt. */
  readonly base: WantedChanges | null;
  /** The differences that may be drift. Empty without a base. */
  readonly differences: readonly Difference[];
};

/** `sources` has, for each content from which a sync would create a version, the commit that introduced it. */
export function comparePrompt(
  file: PromptFile,
  observed: ObservedPrompt,
  desired: Pick<DesiredState, 'contentsAtRefs'> & {
    readonly base: Pick<NonNullable<DesiredState['base']>, 'files'> | null;
  },
  sources: Pick<PromptHistory, 'provenance' | 'changeSummaries'> = NO_PROMPT_HISTORY,
): ComparedPrompt {
  const context = { file, observed, contentsAtRefs: getContentsAtRefs(desired, file.id) };
  const head = { file, ...planChanges(context, sources) };
  const baseFile = desired.base?.files.get(file.id);
  if (baseFile === undefined) return { ...context, head, base: null, differences: [] };
  const base = { file: baseFile, ...planChanges({ ...context, file: baseFile }, sources) };
  return { ...context, head, base, differences: listDifferences(head, base, observed) };
}

/** What the head or the base wants: its file, and the changes that make the service match this file. */
export type WantedChanges = PromptChanges & { readonly file: PromptFile };

/** An environment or a field whose state in the service matches neither what the base wants nor what the head wants. */
export type Difference = EnvironmentDifference | FieldDifference;

export type EnvironmentDifference = {
  readonly subject: 'environment';
  readonly environment: string;
  /** Null if no version is active. */
  readonly current: KnownVersion | null;
  /** The version that the base wants. */
  readonly expected: WantedVersionRef;
  /** Whether the head wants the same as the base. */
  readonly restoresBase: boolean;
};

type FieldDifference = {
  readonly subject: 'field';
  readonly field: FieldName;
  readonly current: string;
  readonly expected: string;
  readonly restoresBase: boolean;
};

function listDifferences(
  head: WantedChanges,
  base: WantedChanges,
  { active }: Pick<ObservedPrompt, 'active'>,
): readonly Difference[] {
  const environments = head.pins.flatMap((headPin): readonly Difference[] => {
    const { environment } = headPin.pin;
    const current = active.get(environment) ?? null;
    const basePin = base.pins.find(({ pin }) => pin.environment === environment);
    const wanted = findUnservedVersion(headPin, current);
    const expected = basePin === undefined ? null : findUnservedVersion(basePin, current);
    if (wanted === null || expected === null) return [];
    return [{ subject: 'environment', environment, current, expected, restoresBase: isSameTarget(wanted, expected) }];
  });
  const fields = FIELDS.flatMap((field): readonly Difference[] => {
    const wanted = findFieldChange(head, field);
    const expected = findFieldChange(base, field)?.after;
    if (wanted === undefined || expected === undefined) return [];
    return [{ subject: 'field', field, current: wanted.before, expected, restoresBase: wanted.after === expected }];
  });
  return [...environments, ...fields];
}

/**
 * Returns null if the environment already serves the version, or if the pin wants nothing. A sync cannot activate a
 * version number that promptsync does not know, but the pin still wants that number.
 */
export function findUnservedVersion(
  { pin: { pin }, after }: Pick<ResolvedPin, 'pin' | 'after'>,
  current: KnownVersion | null,
): WantedVersionRef | null {
  if (after !== null || pin.kind !== 'number' || pin.number === current?.number) return after;
  return { id: null, number: pin.number };
}

function findFieldChange({ changes }: WantedChanges, field: FieldName): FieldChange | undefined {
  return changes.find((change) => change.kind === 'update-prompt')?.fields[field];
}

/** Returns true if a state of the file wants what the service has in the environment or the field of a difference. */
export function wantsCurrent(
  difference: Difference,
  state: LineState,
  { metadata }: Pick<ObservedPrompt, 'metadata'>,
): boolean {
  if (difference.subject === 'field') return state.file[difference.field] === difference.current;
  return difference.current !== null && wantsVersion(state, difference.environment, difference.current, metadata);
}
