import { formatCount, formatNumber, shortenText } from '../text.ts';
import { describeBreakingChanges, describeUnusedInputs } from './describe-breaking-changes.ts';
import {
  describeActivation,
  describeEdit,
  describeFieldChange,
  describeNewVersion,
  describeOrigin,
  isConflict,
  type NoteContext,
} from './describe-changes.ts';
import { describeDrift, type DriftContext, findDriftOfChange, isChangeOf } from './describe-drift.ts';
import { isDone, listTextChanges, type ShowText } from './describe-report.ts';
import type { ReportChange, ReportDrift, ReportEdit, ReportPrompt } from './schema/report-schema.ts';
import { describeWaitingPromotions } from './waiting-promotions.ts';

// Every format renders this list of entries, so that all show the same facts about a prompt in the same words.

/**
 * The kind of an entry:
 * - `drift`: somebody changed the service, or a sync has not finished.
 * - `addition`, `edit`, `conflict`: an edit to the prompt file. An addition is a new file or a new pin.
 * - `create-version`, `update-prompt`, `set-active`: a change in the service. A changed field has its own entry.
 * - `messages`: the messages of a chat prompt change.
 * - `waiting`: an environment has not received a version that an earlier environment serves.
 * - `breaking`: callers of the prompt must adapt to the change.
 * - `unused`: callers need not supply a value any more.
 * - `affected`: composed prompts change too.
 */
export type EntryKind =
  | 'drift'
  | 'addition'
  | 'edit'
  | 'conflict'
  | ReportChange['kind']
  | 'messages'
  | 'waiting'
  | 'breaking'
  | 'unused'
  | 'affected';

/** The labels of entries whose text does not show which kind of fact it is. Markdown reports use headings instead. */
export const LABELS: { readonly [Kind in EntryKind]?: string } = { drift: 'drift: ', breaking: 'breaking: ' };

/** One fact about a prompt. */
export type Entry = {
  readonly kind: EntryKind;
  /** The names of the environments that the fact concerns. Empty if it concerns the whole prompt. */
  readonly environments: readonly string[];
  /** The fact as a line of text. The values in it are escaped for the format. */
  readonly text: string;
  /** The commands from which the user can choose, each with its effect. Escaped like the text. */
  readonly commands: readonly string[];
  /** The metadata that a new version keeps from an earlier version, as lines that are not escaped. */
  readonly metadata: readonly string[];
  /** Whether the fact is about a change in the service that a sync undoes, or that this run has undone. */
  readonly undoesDrift: boolean;
};

/** Lists the facts about a prompt, in the order in which a format without sections shows them. */
export function listEntries(
  prompt: ReportPrompt,
  report: DriftContext & NoteContext,
  show: ShowText,
): readonly Entry[] {
  return [
    ...listShownDrift(prompt, report, show).map((drift) => makeDriftEntry(drift, prompt, report, show)),
    ...listWrittenEdits(prompt).map((edit) => makeEditEntry(edit, show)),
    ...prompt.changes.flatMap((change) => makeChangeEntries(change, prompt, report, show)),
    ...makeMessageEntries(prompt, show),
    ...describeWaitingPromotions(prompt, show).map((text) => makeEntry('waiting', text)),
    ...describeBreakingChanges(prompt, show).map((text) => makeEntry('breaking', text)),
    ...describeUnusedInputs(prompt, show).map((text) => makeEntry('unused', text)),
    ...describeAffectedPrompts(prompt, show).map((text) => makeEntry('affected', text)),
  ];
}

function makeEntry(kind: EntryKind, text: string, parts: Partial<Entry> = {}): Entry {
  return { kind, environments: [], text, commands: [], metadata: [], undoesDrift: false, ...parts };
}

/** Omits an unfinished sync that a change's note already mentions, because it would look like somebody's change. */
function listShownDrift(prompt: ReportPrompt, report: NoteContext, show: ShowText): readonly ReportDrift[] {
  const isNoted = (drift: ReportDrift, change: ReportChange): boolean => {
    const field = change.kind === 'update-prompt' && 'field' in drift ? change.fields[drift.field] : undefined;
    const notes = change.kind === 'set-active' ? change : field;
    return isChangeOf(change, drift) && notes !== undefined && describeOrigin(change, notes, report, show) !== '';
  };
  return prompt.drift.filter(
    (drift) => drift.kind === 'outside' || !prompt.changes.some((change) => isNoted(drift, change)),
  );
}

function makeDriftEntry(drift: ReportDrift, prompt: ReportPrompt, report: DriftContext, show: ShowText): Entry {
  const [text = '', ...commands] = describeDrift(drift, prompt, report, show);
  const environments = 'environment' in drift ? [drift.environment] : [];
  const isUndone = prompt.status !== 'blocked' && prompt.changes.some((change) => isUndoneBy(change, drift));
  return makeEntry('drift', text, { environments, commands, undoesDrift: isUndone });
}

/**
 * Returns true if a change only undoes what somebody did in the service, so that the files request no new state. After
 * an apply, returns true only if the run made the change. A change that finishes an earlier sync is part of the plan.
 */
function isUndoneBy(change: ReportChange, drift: ReportDrift): boolean {
  const isOutside = drift.kind === 'outside' && drift.restores;
  return isOutside && isChangeOf(change, drift) && (change.status === undefined || isDone(change));
}

/** Keeps only the activations that undo somebody's change or, if `undoesDrift` is false, only the others. */
export function filterActivations(prompt: ReportPrompt, undoesDrift: boolean): ReportPrompt {
  const isUndoing = (change: ReportChange): boolean => prompt.drift.some((drift) => isUndoneBy(change, drift));
  const changes = prompt.changes.filter((change) => change.kind === 'set-active' && isUndoing(change) === undoesDrift);
  return { ...prompt, changes, edits: undoesDrift ? [] : listWrittenEdits(prompt) };
}

/**
 * Returns the edits that are in the file, or that a dry run would write. A failed prompt has such edits only if they
 * contain a conflict to resolve, or if an activation failed after the edit.
 */
function listWrittenEdits({ status, changes, edits = [] }: ReportPrompt): readonly ReportEdit[] {
  return status !== 'failed' || changes.length > 0 || edits.some(isConflict) ? edits : [];
}

function makeEditEntry(edit: ReportEdit, show: ShowText): Entry {
  const merged = edit.kind === 'set-text' && edit.texts ? [edit.texts.environment] : [];
  return makeEntry(chooseEditKind(edit), describeEdit(edit, show), {
    environments: edit.kind === 'set-pin' ? [edit.environment] : merged,
  });
}

function chooseEditKind(edit: ReportEdit): 'addition' | 'edit' | 'conflict' {
  if (edit.kind === 'create-file' || (edit.kind === 'set-pin' && edit.before === null)) return 'addition';
  return isConflict(edit) ? 'conflict' : 'edit';
}

function makeChangeEntries(
  change: ReportChange,
  prompt: ReportPrompt,
  report: NoteContext,
  show: ShowText,
): readonly Entry[] {
  const undone = findDriftOfChange(change, prompt.drift).filter((drift) => isUndoneBy(change, drift));
  switch (change.kind) {
    case 'create-version': {
      const metadata = listKeptMetadataLines(change);
      return [makeEntry(change.kind, describeNewVersion(change, prompt, report, show), { metadata })];
    }
    case 'update-prompt':
      return (['key', 'name', 'description'] as const).flatMap((field) => {
        if (change.fields[field] === undefined) return [];
        const undoesDrift = undone.some((drift) => 'field' in drift && drift.field === field);
        return makeEntry(change.kind, describeFieldChange(change, field, prompt, report, show), { undoesDrift });
      });
    case 'set-active': {
      const parts = { environments: [change.environment], undoesDrift: undone.length > 0 };
      return [makeEntry(change.kind, describeActivation(change, prompt, report, show), parts)];
    }
  }
}

function listKeptMetadataLines(change: Extract<ReportChange, { readonly kind: 'create-version' }>): readonly string[] {
  if (change.metadata_omitted === true)
    return [
      'The report omits this metadata because it is larger than 1 MB, or because the report would exceed 32 MB of text.',
    ];
  return change.kept_metadata?.split('\n') ?? [];
}

/** The maximum number of messages to list on each side of a change. */
const MAX_LISTED_MESSAGES = 50;
/** The maximum length of the name of a message in a list, in UTF-16 code units. */
const MAX_NAME_LENGTH = 100;

/** Formats a list of messages. Shortens long lists and long names, because one line shows the whole change. */
function formatMessageNames(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const omitted = names.length - MAX_LISTED_MESSAGES;
  const shown = names.slice(0, MAX_LISTED_MESSAGES).map((name) => shortenText(name, MAX_NAME_LENGTH));
  return [...shown, ...(omitted > 0 ? [`… ${formatNumber(omitted)} more`] : [])].join(', ');
}

/** Makes entries such as `messages: system → system, user`. If environments differ, each line names its own. */
function makeMessageEntries(prompt: ReportPrompt, show: ShowText): readonly Entry[] {
  return [false, true].flatMap((undoesDrift) => {
    const changes = listTextChanges(filterActivations(prompt, undoesDrift)).flatMap(({ environment, texts }) => {
      if (texts.messages === undefined) return [];
      const [before, after] = [texts.messages.before, texts.messages.after].map(formatMessageNames);
      return [{ environment, text: show(`messages: ${before} → ${after}`) }];
    });
    const groups = [...Map.groupBy(changes, ({ text }) => text)];
    return groups.map(([text, group]) => {
      const environments = group.map(({ environment }) => environment);
      const suffix = groups.length === 1 ? '' : ` (${environments.map(show).join(', ')})`;
      return makeEntry('messages', `${text}${suffix}`, { environments, undoesDrift });
    });
  });
}

/** Describes the composed prompts that include a version of this prompt that changes. Returns none if there are none. */
function describeAffectedPrompts({ affected = [] }: ReportPrompt, show: ShowText): readonly string[] {
  if (affected.length === 0) return [];
  const names = affected.map(({ key }) => show(key)).join(', ');
  return [`this also changes ${formatCount(affected.length, 'composed prompt')}: ${names}.`];
}
