import type { FormerPins } from './history.ts';
import type { ContentsAtRefs, FieldName, Provenance } from './plan.ts';
import type { EnvironmentPin, PromptFile } from './prompt-file.ts';
import type { Content } from './content.ts';

/** The state that the prompt files, the configuration and git declare. promptsync reads it without the service. */
export type DesiredState = {
  readonly files: readonly PromptFile[];
  /** The contents that the `git:` pins of the files name, by prompt id and then by ref. */
  readonly contentsAtRefs: ReadonlyMap<string, ContentsAtRefs>;
  /** The state of the base commit, which drift is compared with. Null if the command has no base. */
  readonly base: BaseState | null;
  /** The environments in promotion order. Null if the configuration lists no environments. */
  readonly environmentOrder: readonly string[] | null;
  /** The environments in which the pin `latest` is not allowed. */
  readonly environmentsWithoutLatest: readonly string[];
  /**
   * For each environment that has a source, the environment that versions are promoted from. They must be active there
   * first.
   */
  readonly promotionSources: ReadonlyMap<string, string>;
};

/** Sorts pins in promotion order. If the configuration defines no order, the pins stay in the order of the file. */
export function sortPins(
  pins: readonly EnvironmentPin[],
  { environmentOrder }: Pick<DesiredState, 'environmentOrder'>,
): readonly EnvironmentPin[] {
  if (environmentOrder === null) return pins;
  return pins.toSorted((a, b) => environmentOrder.indexOf(a.environment) - environmentOrder.indexOf(b.environment));
}

/** The prompt files of the base commit, by prompt id. */
export type BaseState = { readonly files: ReadonlyMap<string, PromptFile> };

/**
 * The pins and the fields of one prompt in earlier commits. They decide whether a drift is `unfinished` or `outside`.
 */
export type FormerStates = {
  readonly pins: FormerPins;
  readonly fields: readonly Pick<PromptFile, FieldName>[];
};

/** The git history that the planner needs. promptsync reads it only for prompts that differ from the service. */
export type PlanningHistory = {
  /** The pins of earlier commits, by prompt id. Contains only prompts that the promotion guard might refuse. */
  readonly formerPins: ReadonlyMap<string, FormerPins>;
  /**
   * The age of the first state of each file, by prompt id. The age is the number of newer states. A file is absent if
   * the known history may lack its first state.
   */
  readonly firstAges: ReadonlyMap<string, number>;
  /** The environments that each file has pinned in the same way since its first commit, by prompt id. */
  readonly alwaysPinned: ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * The pins and fields at the base, the head, the tip of the branch and all their ancestors, by prompt id. Contains
   * only prompts that may have drifted.
   */
  readonly formerStates: ReadonlyMap<string, FormerStates>;
  /** The commit that the content of each file comes from, by the path of the file. */
  readonly provenance: ReadonlyMap<string, Provenance>;
  /** The contents of versions that promptsync did not read from the service, by version id. They come from git. */
  readonly contents: ReadonlyMap<string, Content>;
};

/** The empty history, for plans that are made without git and for folders outside a repository. */
export const NO_PLANNING_HISTORY: PlanningHistory = {
  formerPins: new Map(),
  firstAges: new Map(),
  alwaysPinned: new Map(),
  formerStates: new Map(),
  provenance: new Map(),
  contents: new Map(),
};
