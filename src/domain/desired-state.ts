import type { FormerPins } from './history.ts';
import type { ContentsAtRefs, FieldName, Provenance } from './plan.ts';
import type { EnvironmentPin, PromptFile } from './prompt-file.ts';
import type { Content } from './content.ts';

/**
 * The state that the prompt files, the configuration and git declare. promptsync reads it without contacting the
 * service.
 */
export type DesiredState = {
  readonly files: readonly PromptFile[];
  /** The content that each `git:` pin of a file refers to, by prompt id and then by ref. */
  readonly contentsAtRefs: ReadonlyMap<string, ContentsAtRefs>;
  /** The state of the base commit, which promptsync needs to detect drift. Null if the command has no base. */
  readonly base: BaseState | null;
  /** The environments in promotion order. Null if the configuration does not list environments. */
  readonly environmentOrder: readonly string[] | null;
  /** The environments that must not be pinned to `latest`. */
  readonly environmentsWithoutLatest: readonly string[];
  /**
   * For each environment with `promote_from`, the source environment. A version must be active there before it can be
   * promoted.
   */
  readonly promotionSources: ReadonlyMap<string, string>;
};

/** Sorts pins in promotion order. Keeps the order of the file if the configuration defines no promotion order. */
export function sortPins(
  pins: readonly EnvironmentPin[],
  { environmentOrder }: Pick<DesiredState, 'environmentOrder'>,
): readonly EnvironmentPin[] {
  if (environmentOrder === null) return pins;
  return pins.toSorted((a, b) => environmentOrder.indexOf(a.environment) - environmentOrder.indexOf(b.environment));
}

/** The prompt files at the base commit, by prompt id. */
export type BaseState = { readonly files: ReadonlyMap<string, PromptFile> };

/**
 * The pins and the fields of one prompt at earlier commits. They determine whether drift is `unfinished` or `outside`.
 */
export type FormerStates = {
  readonly pins: FormerPins;
  readonly fields: readonly Pick<PromptFile, FieldName>[];
};

/**
 * The parts of the git history that the planner needs. promptsync reads them only for prompts that differ from the
 * service.
 */
export type PlanningHistory = {
  /** The pins at earlier commits, by prompt id. Contains only prompts that the promotion guard might refuse. */
  readonly formerPins: ReadonlyMap<string, FormerPins>;
  /**
   * The age of the first state of each file, by prompt id. The age of a state is the number of newer states of the
   * file. A prompt is absent if the known history may not include the first state of its file.
   */
  readonly firstAges: ReadonlyMap<string, number>;
  /** The environments whose pins have not changed since the first commit of the file, by prompt id. */
  readonly alwaysPinned: ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * The pins and fields at the base, the head, the tip of the branch, and all ancestors of these commits, by prompt id.
   * Contains only prompts that may have drifted.
   */
  readonly formerStates: ReadonlyMap<string, FormerStates>;
  /** The commit that the content of each file comes from, by file path. */
  readonly provenance: ReadonlyMap<string, Provenance>;
  /** The content of versions that promptsync did not read from the service, by version id. It comes from git. */
  readonly contents: ReadonlyMap<string, Content>;
};

/** An empty history, for plans that do not use git and for folders outside a repository. */
export const NO_PLANNING_HISTORY: PlanningHistory = {
  formerPins: new Map(),
  firstAges: new Map(),
  alwaysPinned: new Map(),
  formerStates: new Map(),
  provenance: new Map(),
  contents: new Map(),
};
