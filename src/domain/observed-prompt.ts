import type { Problem } from '../problem.ts';
import type { PromptType } from './chat.ts';
import type { EnvironmentPin } from './prompt-file.ts';
import type { Content } from './content.ts';
import type { KnownVersion, VersionWithMetadata } from './versions.ts';

export type ObservedFields = {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  /** The description. Empty if the service returns null or omits the field. */
  readonly description: string;
};

/** The observed state of one prompt in the service. */
export type ObservedPrompt = {
  /** Null if the service stores no fields for prompts, only versions. */
  readonly fields: ObservedFields | null;
  /** The type of the prompt in the service. Null if it is unknown, for example because the prompt has no versions. */
  readonly type: PromptType | null;
  /** True if the prompt does not exist, and the service creates it with its first version. */
  readonly isMissing?: true;
  /** The page of the prompt in the user interface of the service. Absent if there is none or if it is unknown. */
  readonly url?: string;
  /** The active version of each observed environment. Null for an environment without an active version. */
  readonly active: ReadonlyMap<string, KnownVersion | null>;
  /** The known versions, newest first. To choose among several with the same content, use `findVersionWithContent`. */
  readonly known: readonly KnownVersion[];
  /** Returns true if later runs will know a version with this content, even after these environments have moved. */
  readonly willKnowContent: (content: Content, movingEnvironments: ReadonlySet<string>) => boolean;
  /**
   * Whether the prompt has versions but no ledger. The first sync of such a prompt creates a baseline if it creates no
   * other version.
   */
  readonly lacksLedger: boolean;
  /** Whether an apply may find unknown version numbers, because promptsync has not read the newest version. */
  readonly canFindNumbers: boolean;
  /** The version ids that an apply searched for but did not find. No version of this prompt has them. */
  readonly missingIds: readonly string[];
  /** True if it is certain that the prompt has no other versions than the known ones. */
  readonly knowsAllVersions?: true;
  /** Whether the service stores the metadata of versions. Some services discard it. */
  readonly metadata: 'kept' | 'dropped';
  /** The version whose metadata a new version copies if the file manages none. If absent, the new version has none. */
  readonly metadataFrom?: VersionWithMetadata | undefined;
  readonly problems: readonly Problem[];
  /** Two observations of the same state have the same fingerprint. */
  readonly fingerprint: string;
};

/** The result of observing several prompts, by prompt id. Each requested prompt is in exactly one of the maps. */
export type Observation = {
  readonly observed: ReadonlyMap<string, ObservedPrompt>;
  readonly failed: ReadonlyMap<string, Problem>;
};

export const NO_OBSERVATION: Observation = { observed: new Map(), failed: new Map() };

/** What to read of one prompt: the environments, and the content and the version numbers to find. */
export type ReadRequest = {
  readonly promptId: string;
  readonly environments: readonly string[];
  /** The pins of the prompt's file, in promotion order. */
  readonly pins: readonly EnvironmentPin[];
  /** The content of the prompt's file. Null if the service need not store it, or if there is no prompt file. */
  readonly fileContent: Content | null;
  readonly isSynced: (observed: ObservedPrompt) => boolean;
  /** The content of the file, of the file at the base, and of `git:` pins, to look for among the versions. */
  readonly contentsToFind: readonly Content[];
  /** The version numbers that the file pins now, and those that it pinned at the base. */
  readonly pinnedNumbers: readonly number[];
  readonly readDepth: ReadDepth;
};

/**
 * How much more to read if the active versions already show that the prompt is in sync:
 * - `minimal`: nothing more
 * - `listed`: also the ledger, if the provider keeps one
 * - `versions`: the same as `listed`, and also every version if the service can return versions by number
 */
export type ReadDepth = 'minimal' | 'listed' | 'versions';

/** Builds a request that reads a prompt in the given environments without comparing it with a prompt file. */
export function makePlainReadRequest(
  promptId: string,
  environments: readonly string[],
  readDepth: ReadDepth = 'minimal',
): ReadRequest {
  return {
    promptId,
    environments,
    pins: [],
    fileContent: null,
    contentsToFind: [],
    pinnedNumbers: [],
    isSynced: () => true,
    readDepth,
  };
}
