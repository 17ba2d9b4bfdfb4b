import type { Report, ReportProblem } from '../schemas/report.ts';

/** All problems of a report: those of the run, then those of each prompt. */
export function problemsIn({ problems, prompts }: Report): readonly ReportProblem[] {
  return [...problems, ...prompts.flatMap((prompt) => prompt.problems)];
}
