import { formatCount } from '../../text.ts';
import { escapeForRunner, escapeLine } from '../../report/escape.ts';
import type { ReportProblem } from '../../report/schema/report-schema.ts';
import type { AnnotationKind, AnnotationPlace, Runner } from './action-runner.ts';

/** GitHub shows only ten annotations of each kind for a step. The tenth one reports how many problems have none. */
const MAX_ANNOTATIONS_PER_KIND = 9;

/**
 * Annotates the lines of the problems. Equal problems get only one annotation.
 * @param toRootPath converts the path in a problem to a path relative to the repository root
 */
export function annotateProblems(
  problems: readonly ReportProblem[],
  toRootPath: (path: string) => string,
  { annotate }: Runner,
): void {
  for (const kind of ['error', 'warning', 'notice'] as const) {
    const problemsOfKind = problems.filter((problem) => chooseKind(problem) === kind);
    const distinct = [...new Map(problemsOfKind.map((problem) => [JSON.stringify(problem), problem])).values()];
    for (const problem of distinct.slice(0, MAX_ANNOTATIONS_PER_KIND)) {
      annotate(kind, renderAnnotation(problem), makeAnnotationPlace(problem, toRootPath));
    }
    const omitted = distinct.length - MAX_ANNOTATIONS_PER_KIND;
    if (omitted > 0) {
      const message = `${formatCount(omitted, `more ${kind}`)}: see the run summary.`;
      annotate(kind, message, { title: 'promptsync' });
    }
  }
}

/** Returns the kind of the annotation. A run for a closed pull request is normal, so it only gets a notice. */
function chooseKind({ code, severity }: ReportProblem): AnnotationKind {
  return code === 'action/closed' ? 'notice' : severity;
}

export function annotateWholeRun(kind: AnnotationKind, problem: ReportProblem, { annotate }: Runner): void {
  annotate(kind, renderAnnotation(problem), { title: problem.code });
}

function renderAnnotation({ message, hint }: ReportProblem): string {
  return escapeForAnnotation(`${message} ${hint}`);
}

function makeAnnotationPlace(
  { code, path, line, column }: ReportProblem,
  toRootPath: (path: string) => string,
): AnnotationPlace {
  if (path === undefined) return { title: code };
  return {
    title: code,
    file: escapeForAnnotation(toRootPath(path)),
    ...(line === undefined ? {} : { startLine: line }),
    ...(column === undefined ? {} : { startColumn: column }),
  };
}

function escapeForAnnotation(text: string): string {
  return escapeForRunner(escapeLine(text));
}
