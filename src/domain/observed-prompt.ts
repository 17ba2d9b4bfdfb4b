import type { Problem } from '../problem.ts';
import type { EnvironmentPin } from './prompt-file.ts';
import type { Content } from './content.ts';
import type { KnownVersion, VersionWithMetadata } from './versions.ts';

export type ObservedFields = {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  /** The service's null and an absent field are the empty string. */
  readonly description: string;
};

/** What is known of one prompt in the service. */
export type ObservedPrompt = {
  /** Null where the service keeps none: then a prompt is its versions. */
  readonly fields: ObservedFields | null;
  /** The version active in each environment that was asked for; null where none is. */
  readonly active: ReadonlyMap<string, KnownVersion | null>;
  /** Newest first. Of several that hold a content, see `findVersionWithContent`. */
  readonly known: readonly KnownVersion[];
  /** Whether a ledger names a version of a content, of those that are read still once these environments have moved on. */
  readonly willKnowContent: (content: Content, left: ReadonlySet<string>) => boolean;
  /** Whether the prompt has versions, and none that promptsync remembers them by: its first sync makes a baseline. */
  readonly lacksLedger: boolean;
  /** Whether a number that is not known may be found by an apply. */
  readonly canFindNumbers: boolean;
  /** Ids that an apply has looked for, and that are no version of this prompt. */
  readonly missingIds: readonly string[];
  /** `dropped`: the service forgets the metadata of versions. */
  readonly metadata: 'kept' | 'dropped';
  /** The version whose metadata a new version takes over if the file manages none. Absent: the new version has none. */
  readonly metadataFrom?: VersionWithMetadata | undefined;
  /** Warnings. */
  readonly problems: readonly Problem[];
  /** Equal for two observations that have read the same. */
  readonly fingerprint: string;
};

/** By prompt id: each requested prompt is in one of the two. */
export type Observation = {
  readonly observed: ReadonlyMap<string, ObservedPrompt>;
  readonly failed: ReadonlyMap<string, Problem>;
};

/** What is to be read of one prompt, and what of it has to be recognised. */
export type ReadRequest = {
  readonly promptId: string;
  readonly environments: readonly string[];
  /** The pins of the prompt's file, in promotion order. */
  readonly pins: readonly EnvironmentPin[];
  /** The content of the prompt's file; null where it has none. */
  readonly fileContent: Content | null;
  /** Whether what was read shows that there is nothing to do. */
  readonly isSynced: (observed: ObservedPrompt) => boolean;
  /** The contents that have to be recognised where they are: the file's own and the base's, and those of refs. */
  readonly contentsToFind: readonly Content[];
  /** What the pins of both number. */
  readonly pinnedNumbers: readonly number[];
  readonly readDepth: ReadDepth;
};

/** What is asked for whether or not it is needed: all that is kept in mind of versions, or each version itself. */
export type ReadDepth = 'minimal' | 'listed' | 'versions';

/** What reads a prompt in these environments, whatever a file says of it. */
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
