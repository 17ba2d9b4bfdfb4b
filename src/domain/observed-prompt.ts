import type { Problem } from '../problem.ts';
import type { EnvironmentPin } from './prompt-file.ts';
import type { Content } from './content.ts';
import type { KnownVersion, VersionWithMetadata } from './versions.ts';

/** The fields of a prompt in the service. */
export type ObservedFields = {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  /** The description. Empty if the service returns null or omits the field. */
  readonly description: string;
};

/** The observed state of one prompt in the service. */
export type ObservedPrompt = {
  /** The fields of the prompt. Null if a prompt in this kind of service consists only of versions. */
  readonly fields: ObservedFields | null;
  /** The active version of each observed environment. Null if no version is active there. */
  readonly active: ReadonlyMap<string, KnownVersion | null>;
  /** The known versions, newest first. If several hold the same content, use `findVersionWithContent` to choose one. */
  readonly known: readonly KnownVersion[];
  /**
   * Returns whether a later run will know a version with this content after the given environments have moved to other
   * versions.
   */
  readonly willKnowContent: (content: Content, movingEnvironments: ReadonlySet<string>) => boolean;
  /** Whether the prompt has versions but no ledger. The first sync of such a prompt creates a baseline. */
  readonly lacksLedger: boolean;
  /** Whether an apply may be able to find a version whose number is not known yet. */
  readonly canFindNumbers: boolean;
  /** The version ids that an apply searched for and that belong to no version of this prompt. */
  readonly missingIds: readonly string[];
  /** Whether the service keeps the metadata of versions. Some services drop it. */
  readonly metadata: 'kept' | 'dropped';
  /**
   * The version whose metadata a new version takes over if the file does not manage metadata. If this is absent, the
   * new version has no metadata.
   */
  readonly metadataFrom?: VersionWithMetadata | undefined;
  /** Warnings about the prompt in the service. */
  readonly problems: readonly Problem[];
  /** A text that is equal for two observations that read the same state. */
  readonly fingerprint: string;
};

/** The result of observing several prompts. Each requested prompt is in exactly one of the two maps. */
export type Observation = {
  /** The observed prompts, by prompt id. */
  readonly observed: ReadonlyMap<string, ObservedPrompt>;
  /** The problems of the prompts that could not be observed, by prompt id. */
  readonly failed: ReadonlyMap<string, Problem>;
};

/** The request to read one prompt. It lists the environments to read, and the contents and numbers to recognize. */
export type ReadRequest = {
  readonly promptId: string;
  readonly environments: readonly string[];
  /** The pins of the prompt's file, in promotion order. */
  readonly pins: readonly EnvironmentPin[];
  /** The content of the prompt's file. Null if the request is made without a prompt file. */
  readonly fileContent: Content | null;
  /** Returns whether an observation shows that the prompt is in sync with its file. */
  readonly isSynced: (observed: ObservedPrompt) => boolean;
  /** The contents to look for among the versions: those of the file, of the file at the base, and of `git:` pins. */
  readonly contentsToFind: readonly Content[];
  /** The version numbers that the file pins now or pinned at the base. */
  readonly pinnedNumbers: readonly number[];
  readonly readDepth: ReadDepth;
};

/**
 * What to read even if the prompt turns out to be in sync. `minimal`: nothing more. `listed`: also the ledger, if the
 * provider keeps one. `versions`: also every version, if the service can return versions by number.
 */
export type ReadDepth = 'minimal' | 'listed' | 'versions';

/** Makes the request to read a prompt in these environments without comparing it with a prompt file. */
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
