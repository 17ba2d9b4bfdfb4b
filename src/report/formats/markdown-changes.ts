import { formatCount } from '../../text.ts';
import { getWords } from '../describe-report.ts';
import type { TextDiff } from '../text-diff.ts';
import { type Entry, type EntryKind, filterActivations } from '../change-entries.ts';
import { renderCodeSpan } from '../escape.ts';
import { makeMarkdownDiffs, renderMarkdownDiff } from './markdown-diff.ts';
import {
  makeDiffSection,
  makeSection,
  renderPromptName,
  renderTableHead,
  renderTableRow,
  type Section,
} from './markdown-sections.ts';
import type { Report, ReportPrompt } from '../schema/report-schema.ts';
import { listEnvironments } from './status-matrix.ts';

export const CHANGE_TABLE_HEAD = renderTableHead(['prompt', 'change']);

/** A prompt with everything that a page shows about it. */
export type PromptFacts = {
  readonly prompt: ReportPrompt;
  /** The facts about the prompt. Their texts are Markdown. */
  readonly entries: readonly Entry[];
  /** The text changes that the files ask for. */
  readonly diffs: readonly TextDiff[];
  /** The text changes that only undo what somebody did in the service. */
  readonly undoingDiffs: readonly TextDiff[];
};

/** Collects the text changes of a prompt for a page. A page without diffs has none. */
export function makePromptFacts(prompt: ReportPrompt, entries: readonly Entry[], withoutDiffs: boolean): PromptFacts {
  const makeDiffs = (undoesDrift: boolean): readonly TextDiff[] =>
    withoutDiffs ? [] : makeMarkdownDiffs(filterActivations(prompt, undoesDrift));
  return { prompt, entries, diffs: makeDiffs(false), undoingDiffs: makeDiffs(true) };
}

/** The kinds of entries that a table of changes shows. Entries of other kinds have sections of their own. */
const CHANGE_KINDS: readonly EntryKind[] = [
  'addition',
  'edit',
  'conflict',
  'create-version',
  'update-prompt',
  'set-active',
  'messages',
];

/** Returns true if an entry is a change that the files ask for, or an edit to a file. */
export function isIntendedChange({ kind, undoesDrift }: Entry): boolean {
  return !undoesDrift && CHANGE_KINDS.includes(kind);
}

/**
 * Makes a section for each environment with changes. The last environment in promotion order comes first, because a
 * change there reaches the most people. A fact about several environments is in the first of their sections.
 */
export function makeEnvironmentSections(report: Report, prompts: readonly PromptFacts[]): readonly Section[] {
  const mentioned = prompts.flatMap(({ entries }) => entries.flatMap(({ environments }) => environments));
  const order = [...new Set([...listEnvironments(report), ...mentioned])].toReversed();
  const chooseFirst = (names: readonly string[]): string | undefined => order.find((one) => names.includes(one));
  return order.flatMap((environment) => {
    const isHere = (entry: Entry): boolean =>
      isIntendedChange(entry) && chooseFirst(entry.environments) === environment;
    const changing = prompts.filter(({ entries }) => entries.some(isHere));
    if (changing.length === 0) return [];
    const title = `#### ${renderHeadlineName(environment)}: ${formatCount(changing.length, 'prompt')}`;
    const table = makeSection(`${title}\n\n${CHANGE_TABLE_HEAD}`, 'change', 0.5, changing, (facts) => {
      const first = chooseFirst(findDiff(facts, environment)?.environments ?? []) ?? environment;
      const note = first === environment ? '' : ` (same text change as in ${renderCodeSpan(first)})`;
      return facts.entries
        .filter(isHere)
        .map(({ text }) => renderTableRow([renderPromptName(facts.prompt), `${text}${note}`]));
    });
    const diffs = makeDiffSection(
      changing.flatMap((facts) => {
        const diff = findDiff(facts, environment);
        const isFirst = diff !== undefined && chooseFirst(diff.environments) === environment;
        return isFirst ? [renderMarkdownDiff(facts.prompt, diff)] : [];
      }),
    );
    return [table, diffs].map((section) => ({ ...section, environment }));
  });
}

function findDiff({ diffs }: PromptFacts, environment: string): TextDiff | undefined {
  return diffs.find(({ environments }) => environments.includes(environment));
}

/** Returns a name unchanged if it consists of plain words. Renders any other name as code. */
export function renderHeadlineName(environment: string): string {
  return /^[a-z]+(?:-[a-z]+)*$/i.test(environment) ? environment : renderCodeSpan(environment);
}

/** Separates the changes that overwrite edits made in the service, with their diffs, from all other drift. */
export function makeDriftSections(report: Report, prompts: readonly PromptFacts[]): readonly Section[] {
  const { service } = getWords(report);
  const isApply = report.mode === 'apply';
  const overwrites = isApply
    ? `#### Overwrote changes made in ${service}\n\nSomeone made changes in ${service} that are not in the files, and this run undid them:`
    : `#### Overwrites changes made in ${service}\n\nSomeone made changes in ${service} that are not in the files, and a sync would undo them:`;
  const drift = isApply
    ? `#### Drift\n\nThese differences existed in ${service} before this run:`
    : `#### Drift\n\nThese differences already exist in ${service}:`;
  const makePart = (open: string, isIncluded: (entry: Entry) => boolean): Section =>
    makeSection(`${open}\n\n`, 'drift note', 0.5, prompts, ({ prompt, entries }) =>
      entries.filter(isIncluded).map(({ text, commands }) => {
        const list = commands.map((command) => `  - ${command}\n`).join('');
        return `- ${renderPromptName(prompt)}: ${text}\n${list}`;
      }),
    );
  return [
    makePart(overwrites, ({ kind, undoesDrift }) => undoesDrift && (kind === 'drift' || kind === 'messages')),
    makeDiffSection(
      prompts.flatMap(({ prompt, undoingDiffs }) => undoingDiffs.map((diff) => renderMarkdownDiff(prompt, diff))),
    ),
    makePart(drift, ({ kind, undoesDrift }) => kind === 'drift' && !undoesDrift),
  ];
}
