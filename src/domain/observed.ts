import type { Problem } from '../problem.ts';
import type { Digest } from './digest.ts';
import type { JsonObject } from './json.ts';
import type { Content, EnvironmentPin } from './prompt-file.ts';

/** What tells versions and their contents apart. */
export type VersionFacts = {
  readonly id: string;
  readonly number: number;
  readonly digest: Digest;
  readonly metadataDigest: Digest;
  /** Whether promptsync made it. A copy of such a version that somebody has edited is not. */
  readonly ours: boolean;
};

/** Where a version says that it comes from; all but the digest are absent where its file was not committed. */
export type Source = {
  readonly digest: Digest;
  readonly metadataDigest?: Digest;
  readonly commit?: string;
  /** From the repository's root. */
  readonly path?: string;
};

/** A version that is known, whether it was read or only heard of. */
export type KnownVersion = VersionFacts & {
  /** A copy names the source of its original. Null where a version says nothing. */
  readonly source: Source | null;
  /** What it holds, the metadata without the tool's own key; null where it was not read. */
  readonly content: { readonly text: string; readonly metadata: JsonObject } | null;
};

/** Fields of a prompt as the service has them. */
export type ObservedFields = {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  /** The service's null and an absent field are the empty string. */
  readonly description: string;
};

/** What is known of one prompt in the service. */
export type Observed = {
  readonly fields: ObservedFields;
  /** The version active in each environment that was asked for; null where none is. */
  readonly active: ReadonlyMap<string, KnownVersion | null>;
  /** Newest first. Of several that hold a content, see `findContent`. */
  readonly known: readonly KnownVersion[];
  /** Whether a content is found again later, also once these environments serve something else. */
  readonly remembers: (content: Content, left: ReadonlySet<string>) => boolean;
  /** Whether a number that is not known may be found by an apply. */
  readonly findable: boolean;
  /** Ids that an apply has looked for, and that are no version of this prompt. */
  readonly missing: readonly string[];
  /** `dropped`: the service forgets the metadata of versions. */
  readonly metadata: 'kept' | 'dropped';
  /** Warnings. */
  readonly problems: readonly Problem[];
  /** Equal for two observations that have read the same. */
  readonly state: string;
};

/** By prompt id: each requested prompt is in one of the two. */
export type Observation = {
  readonly observed: ReadonlyMap<string, Observed>;
  readonly failed: ReadonlyMap<string, Problem>;
};

/** What is to be read of one prompt, and what of it has to be recognised. */
export type Wanted = {
  readonly promptId: string;
  readonly environments: readonly string[];
  /** Those of the prompt's file. */
  readonly pins: readonly EnvironmentPin[];
  /** The content of the prompt's file; null where it has none. */
  readonly own: Content | null;
  /** Every content that the plan may ask for, the file's own included. */
  readonly contents: readonly Content[];
  /** Every version number that it may ask for. */
  readonly numbers: readonly number[];
  /** Whether all versions that can be known are asked for, needed or not. */
  readonly whole: boolean;
};

/** What reads a prompt in these environments, and asks for nothing to be recognised. */
export function readingOnly(promptId: string, environments: readonly string[]): Wanted {
  return { promptId, environments, pins: [], own: null, contents: [], numbers: [], whole: false };
}
