import { isError } from '../problem.ts';
import { problemsIn } from './problems-in.ts';
import { renderProblem } from './render-problem.ts';
import type { Report } from './schema.ts';
import type { Style } from './style.ts';

/** All errors of a report; one that many prompts have is told once. Each ends with a line feed. */
export function renderErrors(report: Report, style: Style): readonly string[] {
  const errors = problemsIn(report).filter(isError);
  return [...new Set(errors.map((one) => `${renderProblem(one, style)}\n`))];
}
