import { escapeForRunner, escapeLine } from '../report/escape.ts';
import type { ReportProblem } from '../report/schema.ts';
import type { AnnotationKind, Runner } from './host.ts';

/** GitHub shows ten of a kind for each step and drops the others without a word. */
const MOST = 9;

/** Annotates the line of each problem. `fromRoot` makes its path one from the repository's root. */
export function annotate(
  problems: readonly ReportProblem[],
  fromRoot: (path: string) => string,
  { annotate: write }: Runner,
): void {
  for (const severity of ['error', 'warning'] as const) {
    const distinct = new Map(
      problems.filter((one) => one.severity === severity).map((one) => [JSON.stringify(one), one]),
    );
    const all = [...distinct.values()];
    for (const problem of all.slice(0, MOST)) write(severity, textOf(problem), placeOf(problem, fromRoot));
    const more = all.length - MOST;
    const rest = `${more} more ${severity}${more === 1 ? '' : 's'}: see the summary of the run.`;
    if (more > 0) write(severity, rest, { title: 'promptsync' });
  }
}

/** Annotates the run as a whole. */
export function annotateRun(kind: AnnotationKind, problem: ReportProblem, { annotate: write }: Runner): void {
  write(kind, textOf(problem), { title: problem.code });
}

function textOf({ message, hint }: ReportProblem): string {
  return inert(`${message} ${hint}`);
}

function placeOf({ code, path, line, column }: ReportProblem, fromRoot: (path: string) => string) {
  if (path === undefined) return { title: code };
  const file = inert(fromRoot(path));
  const at = {
    ...(line === undefined ? {} : { startLine: line }),
    ...(column === undefined ? {} : { startColumn: column }),
  };
  return { title: code, file, ...at };
}

function inert(text: string): string {
  return escapeForRunner(escapeLine(text));
}
