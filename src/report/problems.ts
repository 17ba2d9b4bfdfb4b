import { escapeLine } from './escape.ts';
import { renderFileLink, fitLine, narrowStyle, type Style } from './style.ts';
import type { Report, ReportProblem, ReportPrompt } from './schema.ts';

/**
 * Returns all problems of a report without duplicates: first the problems of the run, then the problems of each prompt.
 * If a problem of a prompt has no path, it gets the path of the prompt. Interruptions and problems that several prompts
 * share are exceptions, because they concern the whole run.
 */
export function listProblems({ problems, prompts }: Pick<Report, 'problems' | 'prompts'>): readonly ReportProblem[] {
  const shared = findSharedProblems(prompts);
  const addPath = (problem: ReportProblem, prompt: ReportPrompt): ReportProblem => {
    const needsNoPath = problem.path !== undefined || prompt.path === '';
    const concernsRun = isSharedProblem(problem, shared) || INTERRUPTION_CODES.includes(problem.code);
    return needsNoPath || concernsRun ? problem : { ...problem, path: prompt.path };
  };
  const placed = prompts.flatMap((prompt) => prompt.problems.map((problem) => addPath(problem, prompt)));
  const makeKey = (problem: ReportProblem): string => `${formatProblemPlace(problem)} ${makeProblemKey(problem)}`;
  return [...new Map([...problems, ...placed].map((problem) => [makeKey(problem), problem])).values()];
}

/**
 * Returns the problems to show once for the whole run instead of once per prompt. Such a shared problem has no path and
 * affects at least two prompts. It affects either all prompts or exactly the prompts with changes, so that readers know
 * which prompts are affected.
 */
export function findSharedProblems(prompts: readonly ReportPrompt[]): readonly ReportProblem[] {
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
 * Wraps a hint for the terminal. If a long hint ends with a command, the command gets its own unwrapped line, so that
 * users can copy it.
 */
function renderHint(hint: string, style: Style): readonly string[] {
  const { screen } = style;
  const parts = /^(.* run:) (promptsync .*)$/.exec(hint);
  if (parts === null || screen === null || screen.width(hint) <= screen.columns) return fitLine(hint, style, 0);
  const [, before = '', command = ''] = parts;
  return [...fitLine(before, style, 0), command];
}

/** Returns the location of a problem, for example `prompts/a.md:3:7`. Omits the parts that are unknown. */
export function formatProblemPlace({ path, line, column }: ReportProblem): string {
  return [path, line, column].filter((part) => part !== undefined).join(':');
}

/** Renders all errors or all warnings of a report. Each returned string ends with a line feed. */
export function renderProblems(report: Report, severity: ReportProblem['severity'], style: Style): readonly string[] {
  const selected = listProblems(report).filter((problem) => problem.severity === severity);
  return selected.map((problem) => `${renderProblem(problem, style)}\n`);
}
