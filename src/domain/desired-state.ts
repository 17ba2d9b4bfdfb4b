import type { FormerPins } from './history.ts';
import type { ContentsAtRefs, FieldName, Provenance } from './plan.ts';
import type { EnvironmentPin, PromptFile } from './prompt-file.ts';
import type { Content } from './content.ts';

/** All that files, configuration and git say before the service is asked. */
export type DesiredState = {
  readonly files: readonly PromptFile[];
  /** By prompt id, and then by ref. */
  readonly contentsAtRefs: ReadonlyMap<string, ContentsAtRefs>;
  /** What drift is compared with; null where it is not asked for. */
  readonly base: BaseState | null;
  /** Environments in promotion order; null when the order is the file's own. */
  readonly environmentOrder: readonly string[] | null;
  /** Environments in which no pin may be `latest`. */
  readonly environmentsWithoutLatest: readonly string[];
  /** The environment in which a version must be active before it may be active in the one named. */
  readonly promotionSources: ReadonlyMap<string, string>;
};

/** Sorts pins in promotion order. Without a configured order they keep that of the file. */
export function sortPins(
  pins: readonly EnvironmentPin[],
  { environmentOrder }: Pick<DesiredState, 'environmentOrder'>,
): readonly EnvironmentPin[] {
  if (environmentOrder === null) return pins;
  return pins.toSorted((a, b) => environmentOrder.indexOf(a.environment) - environmentOrder.indexOf(b.environment));
}

/** The base commit: what it wanted, by prompt id. */
export type BaseState = { readonly files: ReadonlyMap<string, PromptFile> };

export type FormerStates = {
  readonly pins: FormerPins;
  readonly fields: readonly Pick<PromptFile, FieldName>[];
};

/** What git says of earlier commits, read for the prompts that differ alone. */
export type PlanningHistory = {
  /** By prompt id: pins of earlier commits, where promotions may be refused without. */
  readonly formerPins: ReadonlyMap<string, FormerPins>;
  /** The age of each file's first state, by prompt id. A file is absent if git may not show its first state. */
  readonly firstAges: ReadonlyMap<string, number>;
  /** By prompt id: environments that the file has pinned as it does now from its first commit on. */
  readonly alwaysPinned: ReadonlyMap<string, ReadonlySet<string>>;
  /** By prompt id: what ancestors of base, of head and of the branch wanted, where anything drifts. */
  readonly formerStates: ReadonlyMap<string, FormerStates>;
  /** By path: where the content of a file comes from. */
  readonly provenance: ReadonlyMap<string, Provenance>;
  /** By version id: contents of versions that were not read. */
  readonly contents: ReadonlyMap<string, Content>;
};

/** Where git is not asked, or has nothing to say. */
export const NO_PLANNING_HISTORY: PlanningHistory = {
  formerPins: new Map(),
  firstAges: new Map(),
  alwaysPinned: new Map(),
  formerStates: new Map(),
  provenance: new Map(),
  contents: new Map(),
};
