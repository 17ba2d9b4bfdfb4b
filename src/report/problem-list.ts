import { formatCount } from '../text.ts';
import { escapeLine } from './escape.ts';
import { fitLine, layOutTable, narrowStyle, renderFileLink, type OutputStyle } from './output-style.ts';
import type { Report, ReportProblem, ReportPrompt } from './schema/report-schema.ts';

/** The problems of a run, with the problems of each prompt. */
export type ProblemSource = {
  readonly problems: readonly ReportProblem[];
  readonly prompts: readonly PromptProblems[];
};

type PromptProblems = Pick<ReportPrompt, 'path' | 'problems'> & Partial<Pick<ReportPrompt, 'key'>>;

/** A problem with a path, or with the key of the prompt that has the problem. */
type PlacedProblem = ReportProblem & {
  readonly key?: string | undefined;
};

/**
 * Lists the problems of the run, then those of each prompt, without duplicates. A problem gets the path of its prompt,
 * unless every prompt has the problem, because it then concerns the whole run.
 */
export function listProblems({ problems, prompts }: ProblemSource): readonly PlacedProblem[] {
  const shared = findSharedProblems(prompts);
  const placed = prompts.flatMap((prompt) =>
    prompt.problems.map((problem) => (isSharedProblem(problem, shared) ? problem : addPath(problem, prompt))),
  );
  return [...new Map([...problems, ...placed].map((problem) => [makePlacedKey(problem), problem])).values()];
}

function addPath(problem: ReportProblem, { path, key }: PromptProblems): PlacedProblem {
  if (problem.path !== undefined) return problem;
  return path === '' ? { ...problem, key } : { ...problem, path };
}

/** Returns the problems without a path that all of several prompts share. Reports show such a problem once. */
export function findSharedProblems(prompts: readonly PromptProblems[]): readonly ReportProblem[] {
  const [first, ...others] = prompts;
  if (first === undefined || others.length === 0) return [];
  return first.problems.filter(
    (problem) => problem.path === undefined && others.every(({ problems }) => isSharedProblem(problem, problems)),
  );
}

function isSharedProblem(problem: ReportProblem, shared: readonly ReportProblem[]): boolean {
  return shared.some((sharedProblem) => makeProblemKey(sharedProblem) === makeProblemKey(problem));
}

function makePlacedKey(problem: PlacedProblem): string {
  return `${formatProblemPlace(problem)} ${makeProblemKey(problem)}`;
}

/** Returns a key that is the same for all problems with the same code and message, regardless of their prompts. */
function makeProblemKey({ code, message }: ReportProblem): string {
  return `${code} ${message}`;
}

/** Returns false if the signal came after the last write, because such a run does not report an interruption. */
export function isInterrupted({ problems, prompts }: Pick<Report, 'problems' | 'prompts'>): boolean {
  return [{ problems }, ...prompts].some((owner) =>
    owner.problems.some(({ code }) => INTERRUPTION_CODES.includes(code)),
  );
}

/** The warning that promptsync did not contact the service. Shown first, because it affects everything else. */
export const NOT_ASKED_CODE: ReportProblem['code'] = 'service/not-asked';

/** The codes of the problems that an interrupted run reports. */
const INTERRUPTION_CODES: readonly ReportProblem['code'][] = ['apply/interrupted', 'usage/cancelled'];

/** Renders the location, severity, message and code, then the hint on a new line, without a final line feed. */
export function renderProblem(problem: ReportProblem, style: OutputStyle): string {
  return renderProblemGroup([problem], style);
}

function renderProblemTitle(problem: ReportProblem, style: OutputStyle): readonly string[] {
  const { red, yellow, dim } = style.colors;
  const severity = problem.severity === 'error' ? red('error') : yellow('warning');
  const what = `${severity}: ${escapeLine(problem.message)} ${dim(`[${problem.code}]`)}`;
  const place = escapeLine(formatProblemPlace(problem));
  const where = place === '' ? '' : `${renderFileLink(place, problem.path, style)}: `;
  return fitLine(`${where}${what}`, style, 4);
}

/** Wraps a hint. A command at the end of a long hint gets a line of its own, so that users can copy it. */
function renderHint(hint: string, style: OutputStyle): readonly string[] {
  const { screen } = style;
  const parts = /^(.* run(?:, for example)?:) `(promptsync [^`]*)`$/.exec(hint);
  if (parts === null || screen === null || screen.width(hint) <= screen.columns) return fitLine(hint, style, 0);
  const [, before = '', command = ''] = parts;
  return [...fitLine(before, style, 0), command];
}

/** Returns the location of a problem, for example `prompts/a.md:3:7`. Omits the parts that are unknown. */
export function formatProblemPlace({ path, key, line, column }: PlacedProblem): string {
  return [path ?? (key && escapeLine(key)), line, column].filter((part) => part !== undefined).join(':');
}

/** Renders all errors of a report. Each returned string ends with a line feed. */
export function renderErrors(report: ProblemSource, style: OutputStyle): readonly string[] {
  const errors = listProblems(report).filter(({ severity }) => severity === 'error');
  return groupProblems(errors).map((group) => `${renderProblemGroup(group, style)}\n`);
}

/** Each string ends with a line feed. Omits the warnings of `shownReport`, which the user has already seen. */
export function renderWarnings(
  report: ProblemSource,
  shownReport: ProblemSource | undefined,
  style: OutputStyle,
): readonly string[] {
  const shown = new Set(shownReport && listProblems(shownReport).map(makePlacedKey));
  const warnings = listProblems(report).filter(
    (problem) => problem.severity === 'warning' && !shown.has(makePlacedKey(problem)),
  );
  return groupProblems(warnings).map((group) => `${renderProblemGroup(group, style)}\n`);
}

/** Problems of one kind, in the order of the report. Contains at least one problem. */
type ProblemGroup = readonly [PlacedProblem, ...PlacedProblem[]];

type DividedErrors = {
  /** The errors that a report shows in the block of their prompt. */
  readonly ofPrompts: ReadonlyMap<ReportPrompt, readonly ReportProblem[]>;
  /** All other errors: errors of the run, errors shared by several prompts, and groups that combine several errors. */
  readonly others: readonly ProblemGroup[];
};

/** Divides the errors of a report. An error stays with its prompt unless other prompts have an error of its kind. */
export function divideErrors(report: Pick<Report, 'prompts' | 'problems'>): DividedErrors {
  const owners = Map.groupBy(
    report.prompts.flatMap((prompt) => prompt.problems.map((problem) => ({ prompt, problem }))),
    ({ prompt, problem }) => makePlacedKey(addPath(problem, prompt)),
  );
  const findOnlyOwner = (group: ProblemGroup): { prompt: ReportPrompt; problem: ReportProblem } | undefined => {
    const [owner, ...others] = group.length === 1 ? (owners.get(makePlacedKey(group[0])) ?? []) : [];
    return others.length === 0 ? owner : undefined;
  };
  const groups = groupProblems(listProblems(report).filter(({ severity }) => severity === 'error'));
  const owned = groups.flatMap((group) => findOnlyOwner(group) ?? []);
  const byPrompt = Map.groupBy(owned, ({ prompt }) => prompt);
  return {
    ofPrompts: new Map([...byPrompt].map(([prompt, list]) => [prompt, list.map(({ problem }) => problem)])),
    others: groups.filter((group) => findOnlyOwner(group) === undefined),
  };
}

/**
 * Groups problems that a report shows as one problem with a list of at least two files. These are warnings with the
 * same code, and errors with the same code and hint, apart from the command at its end. Every other problem is a group
 * of its own. A group has the position of its first problem.
 */
export function groupProblems(problems: readonly PlacedProblem[]): readonly ProblemGroup[] {
  const makeKind = ({ code, severity, hint }: ReportProblem): string =>
    severity === 'warning' ? code : `${code} ${splitHint(hint)[0]}`;
  const kinds = Map.groupBy(problems, makeKind);
  return problems.flatMap((problem): readonly ProblemGroup[] => {
    const group = kinds.get(makeKind(problem)) ?? [];
    const [first, ...others] = group;
    if (first === undefined || countFiles(group) === 1) return [[problem]];
    return problem === first ? [[first, ...others]] : [];
  });
}

/** Counts the files that problems concern. A problem without a path concerns a prompt without a file. */
function countFiles(problems: readonly PlacedProblem[]): number {
  return new Set(problems.map(({ path, key }) => path ?? key)).size;
}

/** A group of problems as a title and a list, in a form that every output format can render. */
type ProblemList = {
  /**
   * The problem to show. If the list has items, this problem has no location of its own, and its message and hint apply
   * to every item. If the items have different hints, its hint is that of the first item, marked as an example.
   */
  readonly title: ReportProblem;
  /** The place of each problem, with its message if the messages differ. Empty for a single problem. Not escaped. */
  readonly items: readonly { readonly place: string; readonly path: string | undefined; readonly message: string }[];
};

export function combineProblems(group: ProblemGroup): ProblemList {
  const [first] = group;
  if (group.length === 1) return { title: first, items: [] };
  const { code, severity, message } = first;
  const hasOneMessage = group.every((problem) => problem.message === message);
  const items = group.map((problem) => ({
    place: formatProblemPlace(problem),
    path: problem.path,
    message: hasOneMessage ? '' : problem.message,
  }));
  const count = countFiles(group);
  const title = hasOneMessage
    ? message
    : `${formatCount(count, first.path === undefined ? 'prompt' : 'file')} with this problem:`;
  return { title: { code, severity, message: title, hint: combineHints(group) }, items };
}

/** Returns the hint of a group. If the hints differ, returns the first one and says that it is an example. */
function combineHints(group: ProblemGroup): string {
  const [first] = group;
  const { hint } = first;
  if (group.every((problem) => problem.hint === hint)) return hint;
  const [advice, command] = splitHint(hint);
  const hasOneAdvice = group.every((problem) => splitHint(problem.hint)[0] === advice);
  return hasOneAdvice
    ? `${advice} run, for example: ${command}`
    : `For example, in \`${formatProblemPlace(first)}\`: ${hint}`;
}

/** Splits a hint into the advice and the command at its end. The command is empty if the hint ends with no command. */
function splitHint(hint: string): readonly [advice: string, command: string] {
  const [advice = '', command = ''] = hint.split(' run: ');
  return [advice, command];
}

/** The maximum number of items that a terminal lists for one group of problems. A log or a file lists all of them. */
const MAX_ITEMS_ON_SCREEN = 10;

/** Renders a group: its problem, one line for each file if there are several files, and the hint. */
export function renderProblemGroup(
  group: ProblemGroup,
  style: OutputStyle,
  maxItems: number = style.screen === null ? Infinity : MAX_ITEMS_ON_SCREEN,
): string {
  const { title, items } = combineProblems(group);
  const shown = items.slice(0, maxItems);
  const rows = shown.map(({ place, path, message }) => [
    { text: escapeLine(place), paint: (text: string) => renderFileLink(text, path, style) },
    { text: escapeLine(message), paint: (text: string) => text },
  ]);
  const omitted = items.length - shown.length;
  const inner = narrowStyle(style, 2);
  return [
    ...renderProblemTitle(title, style),
    ...layOutTable(rows).flatMap((row) => fitLine(`  ${row.trimEnd()}`, style, 4)),
    ...(omitted > 0 ? [style.colors.dim(`  … and ${omitted} more`)] : []),
    ...renderHint(escapeLine(title.hint), inner).map((line) => `  ${line}`),
  ].join('\n');
}
