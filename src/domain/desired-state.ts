import type { ContentsAtRefs } from './plan.ts';
import type { EnvironmentPin, PromptFile } from './prompt-file.ts';

/** The desired state from the prompt files, the configuration and git. promptsync reads it without the service. */
export type DesiredState = {
  readonly files: readonly PromptFile[];
  /** The content that the `git:` pins of each prompt refer to, by prompt id. */
  readonly contentsAtRefs: ReadonlyMap<string, ContentsAtRefs>;
  /** Needed to detect drift. Null if the command has no base. */
  readonly base: BaseState | null;
  /** The environments in promotion order. Null if the configuration does not list environments. */
  readonly environmentOrder: readonly string[] | null;
  /** The environments that must not be pinned to `latest` or to a moving ref. */
  readonly environmentsWithoutLatest: readonly string[];
  /** The pinned refs that can move to other commits, such as branches and `HEAD`. */
  readonly movingRefs: ReadonlySet<string>;
  /** The source environment of each environment with `promote_from`, by the name of the environment. */
  readonly promotionSources: ReadonlyMap<string, string>;
  /**
   * The source environments that another configuration manages, by the name of the environment with `promote_from`.
   * promptsync cannot ask their service, so the line of the prompt decides.
   */
  readonly otherPromotionSources: ReadonlyMap<string, string>;
  /** The environments that the run is limited to. Null if it covers all environments. */
  readonly environmentSelection: EnvironmentSelection | null;
};

/** The environments that a run with `--environment` or `rollback --now` is limited to. */
export type EnvironmentSelection = {
  /** The selected environments, in promotion order. */
  readonly selected: readonly string[];
  /** All known environments, in promotion order. */
  readonly known: readonly string[];
  /** True if the run only activates versions. It changes no fields, and creates only versions that a pin needs. */
  readonly activationsOnly?: true;
};

export function getContentsAtRefs(
  { contentsAtRefs }: Pick<DesiredState, 'contentsAtRefs'>,
  promptId: string,
): ContentsAtRefs {
  return contentsAtRefs.get(promptId) ?? new Map();
}

/** Keeps the order of the file if the configuration does not list the environments. */
export function sortPins(
  pins: readonly EnvironmentPin[],
  { environmentOrder }: Pick<DesiredState, 'environmentOrder'>,
): readonly EnvironmentPin[] {
  if (environmentOrder === null) return pins;
  return pins.toSorted((a, b) => environmentOrder.indexOf(a.environment) - environmentOrder.indexOf(b.environment));
}

/** The parts of the base commit that the planner needs. */
export type BaseState = {
  /** The prompt files at the base commit, by prompt id. */
  readonly files: ReadonlyMap<string, PromptFile>;
  /** Whether promptsync chose the base itself. `unfinished` drift is then only an annotation of the change. */
  readonly isDefault: boolean;
};
