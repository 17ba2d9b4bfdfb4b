import type { Content } from '../domain/content.ts';
import type { Provenance } from '../domain/plan.ts';
import type { VersionSource } from '../domain/versions.ts';
import { EMPTY_LINE, type Line, type LineState } from './line-of-states.ts';

/** The maximum number of states of a line that promptsync reads to find drift. */
export const MAX_DRIFT_STATES = 100;

/** What the planner needs from git about one prompt. promptsync reads only the parts that can affect the plan. */
export type PromptHistory = {
  /** The line up to HEAD. Its newest state is the planned file. Empty if promotion order does not need it. */
  readonly line: Line;
  /** Null if there is no base, or if nothing can have drifted. */
  readonly base: BaseHistory | null;
  /** The source in git of the file's own content. Empty if a sync needs no version of it, or if it is not committed. */
  readonly provenance: Provenance;
  /** The change summaries by ref. Includes only refs with content from which a sync would create a version. */
  readonly changeSummaries: ChangeSummariesByRef;
  /** The content of versions that promptsync found in git instead of the service, by version id. */
  readonly contents: ReadonlyMap<string, Content>;
  readonly isShallow: boolean;
};

/** What git shows about a prompt that may have drifted since the base. */
export type BaseHistory = {
  /** The line up to the base. */
  readonly line: Line;
  /** The states of the line up to HEAD that the base lacks, newest first. */
  readonly headStates: readonly LineState[];
  /** The states that the live branch has and HEAD lacks, newest first. */
  readonly tipStates: readonly LineState[];
  /** The commits of the base's line that the live branch lacks, according to the tip that the clone knows. */
  readonly unmergedCommits: ReadonlySet<string>;
  /** The git sources of active versions without a version record, by version id. */
  readonly messageSources: ReadonlyMap<string, VersionSource>;
  /** The commits that the records or the messages of active versions name and that the clone lacks. */
  readonly missingCommits: ReadonlySet<string>;
};

/** The subject of the commit that last changed the file as of a ref, by ref. */
export type ChangeSummariesByRef = ReadonlyMap<string, Pick<Provenance, 'changeSummary' | 'changeCommit'>>;

/** What the planner needs from git about all prompts, by prompt id. */
export type PlanningHistory = ReadonlyMap<string, PromptHistory>;

export const NO_PROMPT_HISTORY: PromptHistory = {
  line: EMPTY_LINE,
  base: null,
  provenance: {},
  changeSummaries: new Map(),
  contents: new Map(),
  isShallow: false,
};

/** An empty history, for plans that do not use git and for folders outside a repository. */
export const NO_PLANNING_HISTORY: PlanningHistory = new Map();
