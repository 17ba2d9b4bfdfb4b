import type { Run } from '../rendering/make-report.ts';
import type { Texts } from '../rendering/texts.ts';

/** What a command hands to the entry: what happened, the texts for its diffs, and whether it was cut short. */
export type CommandResult = { readonly run: Run; readonly texts: Texts; readonly exitCode: number };

export type ExitConditions = {
  /** `--exit-code` on a dry run. */
  readonly tellPending: boolean;
  readonly interrupted: boolean;
};

/** The exit code of a run, the same in every format. Where several hold: 4, 3, 1, 2 in that order. */
export function exitCodeOf(run: Run, { tellPending, interrupted }: ExitConditions): number {
  if (interrupted) return 130;
  const statuses: readonly string[] = (run.outcomes ?? run.plan?.prompts ?? []).map(({ status }) => status);
  const plans = run.plan?.prompts ?? [];
  const noneObserved = plans.length > 0 && plans.every(({ observed }) => observed === null);
  if (!noneObserved && statuses.includes('failed')) return 4;
  if (statuses.includes('blocked')) return 3;
  if (noneObserved || run.problems.some(({ severity }) => severity === 'error')) return 1;
  return tellPending && statuses.includes('pending') ? 2 : 0;
}
