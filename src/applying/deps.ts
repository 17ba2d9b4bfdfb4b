import type { Digest } from '../domain/digest.ts';
import type { Observed } from '../domain/observed.ts';
import type { PromptPlan } from '../domain/plan.ts';
import type { PromptService } from '../domain/prompt-service.ts';
import type { PromptOutcome } from '../domain/outcome.ts';

/** What writing needs besides the plan. */
export type ApplyDependencies = {
  readonly service: PromptService;
  /** The tool's own environment; null when it has none, and then nothing is looked at. */
  readonly trackingEnvironment: string;
  /** How many prompts are written at the same time. */
  readonly concurrency: number;
  /** A text that is unique to one attempt to create a version. */
  readonly newOperation: () => string;
  /** Reads a prompt once more as it was read for its plan. */
  readonly observe: (service: PromptService, plan: PromptPlan) => Promise<Observed>;
  /** Plans one prompt afresh from another observation, with the same rules and guards. */
  readonly replan: (plan: PromptPlan, observed: Observed) => Promise<PromptPlan>;
  /** The digest of the text that git has at a commit and path of a ledger; null where it has none. */
  readonly digestAt: (commit: string, path: string) => Promise<Digest | null>;
  /** Waits so many milliseconds; rejects when the run is interrupted. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Once aborted, no further call is started. */
  readonly stop: AbortSignal;
  readonly onApplied?: (outcome: PromptOutcome, done: number) => void;
};
