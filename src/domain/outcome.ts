import type { Problem } from '../problem.ts';
import type { Change, PromptPlan } from './plan.ts';
import type { VersionRef } from './version.ts';

/** `adopted`: the version was there already; `unknown`: the answer was lost. */
export type ChangeStatus = 'made' | 'adopted' | 'not_made' | 'unknown';

/** What became of one planned change. */
export type ChangeOutcome = {
  readonly change: Change;
  readonly status: ChangeStatus;
  /** The version that was made, or that is active from now on. */
  readonly version?: VersionRef;
};

/** What became of a prompt in an apply. */
export type OutcomeStatus = 'unchanged' | 'applied' | 'blocked' | 'failed' | 'not_attempted';

/** What became of one prompt's plan. */
export type PromptOutcome = {
  /** The plan that was carried out; it may be newer than the one that was shown. */
  readonly plan: PromptPlan;
  readonly status: OutcomeStatus;
  readonly changes: readonly ChangeOutcome[];
  readonly problems: readonly Problem[];
};
