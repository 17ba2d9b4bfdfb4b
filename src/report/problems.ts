import { formatCount, joinNames } from '../text.ts';
import { escapeLine } from './escape.ts';
import { renderFileLink, fitLine, narrowStyle, type Style } from './style.ts';
import type { Report, ReportProblem, ReportPrompt } from './schema.ts';

/** The problems of a run, with the problems of each prompt. */
export type ProblemSource = {
  readonly problems: readonly ReportProblem[];
  readonly prompts: readonly PromptProblems[];
};

type PromptProblems = Pick<ReportPrompt, 'path' | 'problems' | 'changes'>;

/**
 * Returns all problems of a report without duplicates: first the problems of the run, then the problems of each prompt.
 * If a problem of a prompt has no path, it gets the path of the prompt. Interruptions and problems that several prompts
 * share are exceptions, because they concern the whole run.
 */
export function listProblems({ problems, prompts }: ProblemSource): readonly ReportProblem[] {
  const shared = findSharedProblems(prompts);
  const addPath = (problem: ReportProblem, prompt: PromptProblems): ReportProblem => {
    const needsNoPath = problem.path !== undefined || prompt.path === '';
    const concernsRun = isSharedProblem(problem, shared) || INTERRUPTION_CODES.includes(problem.code);
    return needsNoPath || concernsRun ? problem : { ...problem, path: prompt.path };
  };
  const placed = prompts.flatMap((prompt) => prompt.problems.map((problem) => addPath(problem, prompt)));
  return [...new Map([...problems, ...placed].map((problem) => [makePlacedKey(problem), problem])).values()];
}

/**
 * Returns the problems to show once for the whole run instead of once per prompt. Such a shared problem has no path and
 * affects at least two prompts. It affects either all prompts or exactly the prompts with changes, so that readers know
 * which prompts are affected.
 */
export function findSharedProblems(prompts: readonly PromptProblems[]): readonly ReportProblem[] {
  const groups = Map.groupBy(
    prompts.flatMap(({ problems, changes }) =>
      problems.map((problem) => ({ problem, hasChanges: changes.length > 0 })),
    ),
    ({ problem }) => makeProblemKey(problem),
  );
  const changingCount = prompts.filter(({ changes }) => changes.length > 0).length;
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const concernsAll = group.length === prompts.length;
    const concernsChanging = group.length === changingCount && group.every(({ hasChanges }) => hasChanges);
    const isShared = group.length > 1 && group.every(({ problem }) => problem.path === undefined);
    return first !== undefined && isShared && (concernsAll || concernsChanging) ? [first.problem] : [];
  });
}

/** Returns true if the report shows this problem only once for all affected prompts. */
export function isSharedProblem(problem: ReportProblem, shared: readonly ReportProblem[]): boolean {
  return shared.some((sharedProblem) => makeProblemKey(sharedProblem) === makeProblemKey(problem));
}

/** Returns a key that is the same for all problems with the same code and message in the same place. */
function makePlacedKey(problem: ReportProblem): string {
  return `${formatProblemPlace(problem)} ${makeProblemKey(problem)}`;
}

/** Returns a key that is the same for all problems with the same code and message, regardless of their prompts. */
function makeProblemKey({ code, message }: ReportProblem): string {
  return `${code} ${message}`;
}

/**
 * Returns true if the run was interrupted before it completed. Returns false if the signal came after the last write,
 * because such a run does not report an interruption.
 */
export function isInterrupted({ problems, prompts }: Pick<Report, 'problems' | 'prompts'>): boolean {
  return [{ problems }, ...prompts].some((owner) =>
    owner.problems.some(({ code }) => INTERRUPTION_CODES.includes(code)),
  );
}

/**
 * The code of the warning that promptsync created the report without contacting the service. Reports show this warning
 * first, because it affects the meaning of everything else.
 */
export const NOT_ASKED_CODE: ReportProblem['code'] = 'service/not-asked';

/** The codes of the problems that an interrupted run reports. */
const INTERRUPTION_CODES: readonly ReportProblem['code'][] = ['apply/interrupted', 'usage/cancelled'];

/**
 * Renders a problem: its location, severity, message and code, followed by the hint on a new line. The returned string
 * does not end with a line feed.
 */
export function renderProblem(problem: ReportProblem, style: Style): string {
  const { red, yellow, dim } = style.colors;
  const severity = problem.severity === 'error' ? red('error') : yellow('warning');
  const what = `${severity}: ${escapeLine(problem.message)} ${dim(`[${problem.code}]`)}`;
  const place = escapeLine(formatProblemPlace(problem));
  const where = place === '' ? '' : `${renderFileLink(place, problem.path, style)}: `;
  const hint = renderHint(escapeLine(problem.hint), narrowStyle(style, 2));
  return [...fitLine(`${where}${what}`, style, 4), ...hint.map((line) => `  ${line}`)].join('\n');
}

/**
 * Wraps a hint for the terminal. If a long hint ends with a command, the command gets its own unwrapped line without
 * backticks, so that users can copy it.
 */
function renderHint(hint: string, style: Style): readonly string[] {
  const { screen } = style;
  const parts = /^(.* run:) `(promptsync [^`]*)`$/.exec(hint);
  if (parts === null || screen === null || screen.width(hint) <= screen.columns) return fitLine(hint, style, 0);
  const [, before = '', command = ''] = parts;
  return [...fitLine(before, style, 0), command];
}

/** Returns the location of a problem, for example `prompts/a.md:3:7`. Omits the parts that are unknown. */
export function formatProblemPlace({ path, line, column }: ReportProblem): string {
  return [path, line, column].filter((part) => part !== undefined).join(':');
}

/** Renders all errors of a report. Each returned string ends with a line feed. */
export function renderErrors(report: ProblemSource, style: Style): readonly string[] {
  const errors = listProblems(report).filter(({ severity }) => severity === 'error');
  return errors.map((problem) => `${renderProblem(problem, style)}\n`);
}

/**
 * Renders the warnings of a report. Many warnings that differ only in their place become one warning with a list of
 * places. Each returned string ends with a line feed.
 * @param shownReport a report whose warnings to omit, because the user has already seen them; undefined if there is
 * none
 */
export function renderWarnings(
  report: ProblemSource,
  shownReport: ProblemSource | undefined,
  style: Style,
): readonly string[] {
  const shown = new Set(shownReport && listProblems(shownReport).map(makePlacedKey));
  const warnings = listProblems(report).filter(
    (problem) => problem.severity === 'warning' && !shown.has(makePlacedKey(problem)),
  );
  return groupProblems(warnings).map((group) => {
    const limit = style.screen === null ? Infinity : MAX_PLACES_ON_SCREEN;
    const places = renderPlaces(group, limit, (place, path) => renderFileLink(escapeLine(place), path, style));
    const lines = places === null ? [] : fitLine(places, narrowStyle(style, 2), 2).map((line) => `  ${line}`);
    return `${[renderProblem(getGroupedProblem(group), style), ...lines].join('\n')}\n`;
  });
}

/** Equal problems in different places, in the order of the report. Contains at least one problem. */
export type ProblemGroup = readonly [ReportProblem, ...ReportProblem[]];

/** The maximum number of problems of one kind to show one by one. If there are more, the report shows them as a group. */
const MAX_SEPARATE_PROBLEMS = 3;

/**
 * Groups the problems that have the same code, message and hint, if there are more than three. Every other problem
 * forms a group of its own, and so does every problem without a path. Each group takes the position of its first
 * problem.
 */
export function groupProblems(problems: readonly ReportProblem[]): readonly ProblemGroup[] {
  const makeKind = (problem: ReportProblem): string => `${makeProblemKey(problem)} ${problem.hint}`;
  const placed = problems.filter(({ path }) => path !== undefined);
  const kinds = Map.groupBy(placed, makeKind);
  return problems.flatMap((problem): readonly ProblemGroup[] => {
    const [first, ...others] = kinds.get(makeKind(problem)) ?? [];
    if (problem.path === undefined || others.length < MAX_SEPARATE_PROBLEMS) return [[problem]];
    return problem === first ? [[first, ...others]] : [];
  });
}

/** Returns the problem to show for a group. If the group has several places, this problem has no place. */
export function getGroupedProblem([first, ...others]: ProblemGroup): ReportProblem {
  if (others.length === 0) return first;
  const { code, severity, message, hint } = first;
  return { code, severity, message, hint };
}

/** The maximum number of places that a terminal lists for one group of problems. A log or a file lists all places. */
const MAX_PLACES_ON_SCREEN = 10;

/**
 * Renders the places of a group in one line. Returns null if the group has only one problem, because a problem shows
 * its own place.
 * @param limit the maximum number of places to list
 * @param renderPlace escapes a place, such as `prompts/a.md:3:7`; its second argument is the path of the file
 */
export function renderPlaces(
  group: ProblemGroup,
  limit: number,
  renderPlace: (place: string, path: string | undefined) => string,
): string | null {
  if (group.length === 1) return null;
  const places = group.map((problem) => renderPlace(formatProblemPlace(problem), problem.path));
  return `In ${formatCount(group.length, 'place')}: ${joinNames(places, limit)}`;
}
