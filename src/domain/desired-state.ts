import type { FormerPinsByEnvironment } from './history.ts';
import type { ContentsAtRefs, FieldName, Provenance } from './plan.ts';
import type { EnvironmentPin, PromptFile } from './prompt-file.ts';
import type { Content } from './content.ts';
import type { VersionSource } from './versions.ts';
import type { UnmetWant, WantedSince } from './wanted-since.ts';

/**
 * The desired state, as declared by the prompt files, the configuration and git. promptsync reads it without contacting
 * the service.
 */
export type DesiredState = {
  readonly files: readonly PromptFile[];
  /** The content that the `git:` pins of each prompt refer to, by prompt id. */
  readonly contentsAtRefs: ReadonlyMap<string, ContentsAtRefs>;
  /** The state at the base commit, which promptsync needs to detect drift. Null if the command has no base. */
  readonly base: BaseState | null;
  /** The environments in promotion order. Null if the configuration does not list environments. */
  readonly environmentOrder: readonly string[] | null;
  /** The environments that must not be pinned to `latest` or to a moving ref. */
  readonly environmentsWithoutLatest: readonly string[];
  /** The pinned refs that can move to other commits, such as branches and `HEAD`. */
  readonly movingRefs: ReadonlySet<string>;
  /**
   * The source environment of each environment with `promote_from`. A version can be promoted only if it is active in
   * the source environment.
   */
  readonly promotionSources: ReadonlyMap<string, string>;
  /**
   * The source environment of each environment whose source is managed by another configuration. promptsync cannot ask
   * the service of the source, so an earlier commit must have wanted the version there.
   */
  readonly otherPromotionSources: ReadonlyMap<string, string>;
  /** The environments that the run is limited to. Null if it covers all environments. */
  readonly environmentSelection: EnvironmentSelection | null;
};

/** The environments that a run with `--environment` is limited to. */
export type EnvironmentSelection = {
  /** The selected environments, in promotion order. */
  readonly selected: readonly string[];
  /** All known environments, in promotion order. */
  readonly known: readonly string[];
};

/** Returns the content that the `git:` pins of a prompt refer to, by ref. Empty if the prompt has no such pins. */
export function getContentsAtRefs(
  { contentsAtRefs }: Pick<DesiredState, 'contentsAtRefs'>,
  promptId: string,
): ContentsAtRefs {
  return contentsAtRefs.get(promptId) ?? new Map();
}

/** Sorts pins in promotion order. Keeps the order of the file if the configuration does not list the environments. */
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
  /**
   * Whether promptsync chose the base because the user specified none. With such a default base, `unfinished` drift
   * becomes an annotation of the change.
   */
  readonly isDefault: boolean;
};

/**
 * The pins and the fields of one prompt at earlier commits. promptsync needs them to tell whether drift is `unfinished`
 * or `outside`.
 */
export type FormerStates = {
  /** The pins of several histories, one after the other. Their order and their `age` have no meaning. */
  readonly pins: FormerPinsByEnvironment;
  readonly fields: readonly FormerFields[];
};

/** The fields that a prompt file had at an earlier commit. */
export type FormerFields = Pick<PromptFile, FieldName> & { readonly commit: string };

/** The commit that introduced what each pin of a file wants, by environment. Omits pins for which it is unknown. */
export type WantedSinceByEnvironment = ReadonlyMap<string, WantedSince>;

/** The states of one prompt that the base wants and that the service does not have. Omits states of unknown origin. */
export type UnmetWants = {
  readonly environments: ReadonlyMap<string, UnmetWant>;
  readonly fields: ReadonlyMap<FieldName, UnmetWant>;
};

export const NO_UNMET_WANTS: UnmetWants = { environments: new Map(), fields: new Map() };

/** The subject of the commit that last changed the file as of a ref, by ref. */
export type ChangeSummariesByRef = ReadonlyMap<string, Pick<Provenance, 'changeSummary' | 'changeCommit'>>;

/** The contents that earlier commits wanted, by environment. */
export type ContentsByEnvironment = ReadonlyMap<string, readonly Content[]>;

/** The parts of the git history that the planner needs. promptsync reads them only for prompts that are out of sync. */
export type PlanningHistory = {
  /**
   * The pins of each prompt at earlier commits, by prompt id. Contains only prompts that the promotion guard may
   * refuse.
   */
  readonly formerPins: ReadonlyMap<string, FormerPinsByEnvironment>;
  /**
   * The age of the first state of each file, by prompt id. The age is the number of later states. For example, it is 2
   * if the file has changed twice since it was added. A prompt is absent if git may not contain the first state of its
   * file, as in a shallow clone.
   */
  readonly firstAges: ReadonlyMap<string, number>;
  /** For each prompt, the environments whose pins have not changed since the file was first committed, by prompt id. */
  readonly alwaysPinned: ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * The contents that proper ancestors of HEAD on the live branch wanted in the promotion source of each environment, by
   * prompt id. Contains only environments whose promotion source another configuration manages, and only prompts that
   * the promotion guard may refuse.
   */
  readonly otherWants: ReadonlyMap<string, ContentsByEnvironment>;
  /**
   * The pins and the fields of each prompt at the base, the head, the tip of the branch, and all ancestors of these
   * commits, by prompt id. Contains only prompts that may have drifted.
   */
  readonly formerStates: ReadonlyMap<string, FormerStates>;
  /**
   * The commits of the live branch that first wanted what the pins at the base want, by prompt id. Contains only
   * prompts that may have drifted in a service that shows the times of versions.
   */
  readonly wantedSince: ReadonlyMap<string, WantedSinceByEnvironment>;
  /**
   * The states that the base wants and that the service does not have, by prompt id. Contains only prompts that may have
   * drifted.
   */
  readonly unmetWants: ReadonlyMap<string, UnmetWants>;
  /** The commits that the records of active versions name and that the clone does not have. */
  readonly missingCommits: ReadonlySet<string>;
  /**
   * The git sources of active versions without a version record, by prompt id and then by version id. Contains only
   * prompts that may have drifted.
   */
  readonly messageSources: ReadonlyMap<string, ReadonlyMap<string, VersionSource>>;
  /**
   * The git source of the content of each file from which a sync would create a version, by file path. Omits files with
   * uncommitted changes.
   */
  readonly provenance: ReadonlyMap<string, Provenance>;
  /**
   * The change summary of each content at a ref from which a sync would create a version, by prompt id and then by ref.
   */
  readonly changeSummaries: ReadonlyMap<string, ChangeSummariesByRef>;
  /**
   * The content of versions that promptsync did not read from the service, by version id. promptsync found it in git.
   */
  readonly contents: ReadonlyMap<string, Content>;
};

/** An empty history, for plans that do not use git and for folders outside a repository. */
export const NO_PLANNING_HISTORY: PlanningHistory = {
  formerPins: new Map(),
  firstAges: new Map(),
  alwaysPinned: new Map(),
  otherWants: new Map(),
  formerStates: new Map(),
  wantedSince: new Map(),
  unmetWants: new Map(),
  missingCommits: new Set(),
  messageSources: new Map(),
  provenance: new Map(),
  changeSummaries: new Map(),
  contents: new Map(),
};
