import type { Report, ReportProblem, ReportPrompt } from './schema.ts';

/**
 * All problems of a report: those of the run, then those of each prompt. One that has no place of its own says by the
 * prompt's file whose it is. That says nothing where all prompts have it, and where the run was interrupted: then it is
 * said once.
 */
export function problemsIn({ problems, prompts }: Pick<Report, 'problems' | 'prompts'>): readonly ReportProblem[] {
  const common = commonIn(prompts);
  const placed = (problem: ReportProblem, prompt: ReportPrompt): ReportProblem => {
    const told = problem.path !== undefined || prompt.path === '' || common.has(nameOf(problem));
    const ofRun = INTERRUPTIONS.includes(problem.code);
    return told || ofRun ? problem : { ...problem, path: prompt.path };
  };
  return [...problems, ...prompts.flatMap((prompt) => prompt.problems.map((problem) => placed(problem, prompt)))];
}

/** The problems that every prompt has, such as a service that is down: to tell whose they are says nothing. */
function commonIn(prompts: readonly ReportPrompt[]): ReadonlySet<string> {
  const [first, ...rest] = prompts.map(({ problems }) => new Set(problems.map(nameOf)));
  const common = [...(first ?? [])].filter((name) => rest.every((names) => names.has(name)));
  return new Set(rest.length === 0 ? [] : common);
}

/** Equal for problems that say the same, whosever they are. */
export function nameOf({ code, message }: ReportProblem): string {
  return `${code} ${message}`;
}

/** Whether the run was interrupted. A signal that came when all was done has left no trace, and there is nothing to go on with. */
export function isInterrupted({ problems, prompts }: Pick<Report, 'problems' | 'prompts'>): boolean {
  return [{ problems }, ...prompts].some((one) => one.problems.some(({ code }) => INTERRUPTIONS.includes(code)));
}

const INTERRUPTIONS: readonly ReportProblem['code'][] = ['apply/interrupted', 'usage/cancelled'];
