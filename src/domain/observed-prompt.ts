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
  /** The fields of the prompt. Null if prompts in this kind of service have no fields, only versions. */
  readonly fields: ObservedFields | null;
  /** The active version of each observed environment. Null if no version is active there. */
  readonly active: ReadonlyMap<string, KnownVersion | null>;
  /** The known versions, newest first. If several have the same content, use `findVersionWithContent` to choose one. */
  readonly known: readonly KnownVersion[];
  /**
   * Returns true if later runs will know a version with this content, even after the given environments have moved to
   * other versions.
   */
  readonly willKnowContent: (content: Content, movingEnvironments: ReadonlySet<string>) => boolean;
  /**
   * Whether the prompt has versions but no ledger. The first sync of such a prompt creates a baseline, unless it
   * creates another version.
   */
  readonly lacksLedger: boolean;
  /** Whether an apply may be able to find a version by a number that promptsync does not know yet. */
  readonly canFindNumbers: boolean;
  /** The version ids for which an apply searched without finding a version of this prompt. */
  readonly missingIds: readonly string[];
  /** Whether the service stores the metadata of versions. Some services discard it. */
  readonly metadata: 'kept' | 'dropped';
  /**
   * The version from which a new version inherits its metadata if the file does not manage metadata. If this property
   * is absent, the new version has no metadata.
   */
  readonly metadataFrom?: VersionWithMetadata | undefined;
  /** Warnings about the prompt in the service. */
  readonly problems: readonly Problem[];
  /** A string that is equal for two observations of the same state. */
  readonly fingerprint: string;
};

/** The result of observing several prompts. Each requested prompt is in exactly one of the two maps. */
export type Observation = {
  /** The observed prompts, by prompt id. */
  readonly observed: ReadonlyMap<string, ObservedPrompt>;
  /** The problem of each prompt that promptsync could not observe, by prompt id. */
  readonly failed: ReadonlyMap<string, Problem>;
};

/** A request to read one prompt. It lists the environments to read, and the content and the version numbers to find. */
export type ReadRequest = {
  readonly promptId: string;
  readonly environments: readonly string[];
  /** The pins of the prompt's file, in promotion order. */
  readonly pins: readonly EnvironmentPin[];
  /** The content of the prompt's file. Null if the request does not involve a prompt file. */
  readonly fileContent: Content | null;
  /** Returns true if the observation shows that the prompt is in sync with its file. */
  readonly isSynced: (observed: ObservedPrompt) => boolean;
  /** The content to look for in the versions: that of the file, of the file at the base, and of `git:` pins. */
  readonly contentsToFind: readonly Content[];
  /** The version numbers that the file pins now or pinned at the base. */
  readonly pinnedNumbers: readonly number[];
  readonly readDepth: ReadDepth;
};

/**
 * How much to read even if the prompt turns out to be in sync:
 * - `minimal`: nothing more
 * - `listed`: also the ledger, if the provider keeps one
 * - `versions`: the same as `listed`, and also every version if the service can return versions by number
 */
export type ReadDepth = 'minimal' | 'listed' | 'versions';

/** Builds a request to read a prompt in the given environments without comparing it with a prompt file. */
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
