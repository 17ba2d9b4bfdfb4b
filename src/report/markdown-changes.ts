import { describeDrift, findDriftOfChange } from './describe-drift.ts';
import { formatCount } from '../text.ts';
import type { TextDiff } from './diff.ts';
import { renderCodeSpan } from './escape.ts';
import { makeMarkdownDiffs, renderMarkdownDiff } from './markdown-diff.ts';
import {
  makeDiffSection,
  makeSection,
  renderPromptName,
  renderTableHead,
  renderTableRow,
  type Section,
} from './markdown-sections.ts';
import type { Report, ReportChange, ReportDrift, ReportPrompt } from './schema.ts';
import { listEnvironments } from './status.ts';
import * as words from './describe.ts';

/** The header of a table of changes. */
export const CHANGE_TABLE_HEAD = renderTableHead(['prompt', 'change']);

/**
 * The changes and edits of a prompt, divided by the section that shows them. Each part is the prompt with only some of
 * its changes and edits.
 */
type DividedChanges = {
  /** The prompt with only its changes of environments: activations of versions and edits to pins. */
  readonly ofEnvironments: ReportPrompt;
  /** The prompt with only its other changes: new versions, changed fields and edits to other parts of the file. */
  readonly others: ReportPrompt;
};

/** Divides the changes of a prompt. Omits the changes that only undo drift, because the drift section shows them. */
export function divideChanges(prompt: ReportPrompt): DividedChanges {
  const edits = prompt.edits ?? [];
  const changes = prompt.changes.flatMap((change) => omitRestored(change, prompt.drift));
  // The edits to a failed prompt are in the file only if they contain a conflict for the user to resolve.
  const hasWrittenEdits = prompt.status !== 'failed' || edits.some(words.isConflict);
  return {
    ofEnvironments: {
      ...prompt,
      changes: changes.filter(({ kind }) => kind === 'set-active'),
      edits: edits.filter(({ kind }) => kind === 'set-pin' && hasWrittenEdits),
    },
    others: {
      ...prompt,
      changes: changes.filter(({ kind }) => kind !== 'set-active'),
      edits: edits.filter(({ kind }) => kind !== 'set-pin'),
    },
  };
}

/**
 * Removes the parts of a change that only restore the state of the base: the whole activation, or some of the fields.
 */
function omitRestored(change: ReportChange, all: readonly ReportDrift[]): readonly ReportChange[] {
  const restored = findDriftOfChange(change, all).filter((drift) => isRestored(drift, change));
  if (change.kind !== 'update-prompt') return restored.length === 0 ? [change] : [];
  const names = restored.flatMap((drift) => ('field' in drift ? [drift.field] : []));
  const fields = Object.entries(change.fields).filter(([field]) => !names.some((name) => name === field));
  return fields.length === 0 ? [] : [{ ...change, fields: Object.fromEntries(fields) }];
}

/**
 * Returns true if a change only undoes what somebody did in the service. In that case, the files request no new state.
 * After an apply, returns true only if the run made the change. All other changes belong to the plan or to the results
 * of the run, and so do changes that finish an earlier sync.
 */
function isRestored({ kind, restores }: ReportDrift, change: ReportChange): boolean {
  return kind === 'outside' && restores && (change.status === undefined || words.isDone(change));
}

/** The activations and pin edits of one prompt, and the diffs of their texts. */
type EnvironmentChanges = { readonly prompt: ReportPrompt; readonly diffs: readonly TextDiff[] };

/** What one environment's section shows about a prompt. All strings are Markdown. */
type EnvironmentItem = { readonly rows: readonly string[]; readonly diffs: readonly string[] };

/**
 * Builds a section for each environment with changes. The last environment in promotion order comes first, because a
 * change there reaches the most people.
 */
export function makeEnvironmentSections(report: Report): readonly Section[] {
  const order = listEnvironments(report).toReversed();
  const ranks = new Map(order.map((environment, rank) => [environment, rank]));
  const entries = report.prompts.flatMap((whole) => {
    const prompt = divideChanges(whole).ofEnvironments;
    const changed = { prompt, diffs: prompt.status === 'failed' ? [] : makeMarkdownDiffs(prompt) };
    return listChangedEnvironments(prompt).map((environment) => ({ environment, changed }));
  });
  const groups = Map.groupBy(entries, ({ environment }) => environment);
  return order.flatMap((environment) => {
    const group = groups.get(environment);
    if (group === undefined) return [];
    const items = group.map(({ changed }) => makeItem(changed, environment, ranks, report));
    const title = `#### ${renderHeadlineName(environment)}: ${formatCount(items.length, 'prompt')}`;
    const table = makeSection(`${title}\n\n${CHANGE_TABLE_HEAD}`, 'change', 0.5, items, ({ rows }) => rows);
    const diffs = makeDiffSection(items.flatMap((item) => item.diffs));
    return [table, diffs].map((section) => ({ ...section, environment }));
  });
}

function listChangedEnvironments({ changes, edits = [] }: ReportPrompt): readonly string[] {
  const parts = [...changes, ...edits];
  return [...new Set(parts.flatMap((part) => ('environment' in part ? [part.environment] : [])))];
}

/** Returns a name unchanged if it consists of plain words. Renders any other name as code. */
export function renderHeadlineName(environment: string): string {
  return /^[a-z]+(?:-[a-z]+)*$/i.test(environment) ? environment : renderCodeSpan(environment);
}

/**
 * Renders the rows and the diffs of a prompt for one environment. Several environments can share a diff. Only the first
 * of their sections on the page contains the diff, and the other sections refer to that section.
 */
function makeItem(
  { prompt, diffs }: EnvironmentChanges,
  environment: string,
  ranks: ReadonlyMap<string, number>,
  report: Report,
): EnvironmentItem {
  const isHere = (part: object): boolean => 'environment' in part && part.environment === environment;
  const narrowed = { ...prompt, changes: prompt.changes.filter(isHere), edits: prompt.edits?.filter(isHere) };
  const diff = diffs.find(({ environments }) => environments.includes(environment));
  const getRank = (name: string): number => ranks.get(name) ?? Number.POSITIVE_INFINITY;
  const [first = environment] = (diff?.environments ?? []).toSorted((a, b) => getRank(a) - getRank(b));
  const isShownHere = first === environment;
  const note = isShownHere ? '' : ` (same text change as in ${renderCodeSpan(first)})`;
  const cells = [
    ...narrowed.changes.flatMap((change) => renderChangeCells(change, prompt, report).map((cell) => `${cell}${note}`)),
    ...(narrowed.edits ?? []).map((edit) => `${renderCodeSpan(words.describeEdit(edit))}${note}`),
    ...(isShownHere ? words.listMessageChanges(narrowed).map(renderCodeSpan) : []),
  ];
  return {
    rows: cells.map((cell) => renderTableRow([renderPromptName(prompt), cell])),
    diffs: isShownHere && diff !== undefined ? [renderMarkdownDiff(prompt, diff)] : [],
  };
}

/** Renders the cells of a change: one for each field of an update, and one for any other change. */
export function renderChangeCells(change: ReportChange, prompt: ReportPrompt, report: Report): readonly string[] {
  const notes = words.describeChangeNotes(change, prompt, renderCodeSpan);
  return words.describeChange(change, report).map((text) => `${renderCodeSpan(text)}${notes}`);
}

/** Renders the diffs of the edits that belong to no section of an environment, such as the merged text of a pull. */
export function renderOtherDiffs(prompt: ReportPrompt): readonly string[] {
  const { others } = divideChanges(prompt);
  return others.status === 'failed' ? [] : makeMarkdownDiffs(others).map((diff) => renderMarkdownDiff(prompt, diff));
}

/**
 * Builds the drift sections:
 * - the changes that overwrite edits made in the service, with their diffs
 * - all other drift
 */
export function makeDriftSections(report: Report): readonly Section[] {
  const isApply = report.mode === 'apply';
  const drift = words.applyReportWords(report, isApply ? DRIFT_BEFORE_RUN : DRIFT_NOW);
  const overwrites = words.applyReportWords(report, isApply ? OVERWRITTEN : OVERWRITES);
  const makePart = (open: string, isIncluded: typeof isOverwritten): readonly Section[] => {
    const prompts = report.prompts.map((prompt) => {
      return { ...prompt, drift: prompt.drift.filter((one) => isIncluded(one, prompt)) };
    });
    return [
      makeSection(`${open}\n\n`, 'drift note', 0.5, prompts, (prompt) => {
        const name = renderPromptName(prompt);
        const notes = prompt.drift.map((one) => {
          const [statement, ...commands] = describeDrift(one, prompt, report, renderCodeSpan);
          return [`- ${name}: ${statement}\n`, ...commands.map((command) => `  - ${command}\n`)].join('');
        });
        const messages = words.listMessageChanges(keepRestoredChanges(prompt)).map(renderCodeSpan);
        return [...notes, ...messages.map((message) => `- ${name}: ${message}\n`)];
      }),
      makeDiffSection(prompts.flatMap(renderRestoredDiffs)),
    ];
  };
  return [...makePart(overwrites, isOverwritten), ...makePart(drift, (one, prompt) => !isOverwritten(one, prompt))];
}

const OVERWRITES = `#### Overwrites changes made in the service

Someone made changes in the service that are not in the files, and a sync would undo them:`;
const OVERWRITTEN = `#### Overwrote changes made in the service

Someone made changes in the service that are not in the files, and this run undid them:`;
const DRIFT_NOW = '#### Drift\n\nThese differences already exist in the service:';
const DRIFT_BEFORE_RUN = '#### Drift\n\nThese differences existed in the service before this run:';

/**
 * Returns true if somebody changed the service, the files still request the same state as the base, and a sync would
 * overwrite the change in the service. Also returns true if this run overwrote such a change.
 */
function isOverwritten(drift: ReportDrift, { status, changes }: ReportPrompt): boolean {
  if (drift.kind !== 'outside' || status === 'blocked') return false;
  return changes.some((change) => findDriftOfChange(change, [drift]).some((one) => isRestored(one, change)));
}

function renderRestoredDiffs(prompt: ReportPrompt): readonly string[] {
  if (prompt.status === 'failed') return [];
  return makeMarkdownDiffs(keepRestoredChanges(prompt)).map((diff) => renderMarkdownDiff(prompt, diff));
}

/** Returns the prompt with only the changes that restore the state that the base commit requests. Omits edits. */
function keepRestoredChanges(prompt: ReportPrompt): ReportPrompt {
  const changes = prompt.changes.filter((change) => {
    return findDriftOfChange(change, prompt.drift).some((drift) => isRestored(drift, change));
  });
  return { ...prompt, changes, edits: [] };
}
