import type { Digest } from './digest.ts';
import { type Content, type ContentDigests, type StoredContent, holdsContent } from './content.ts';
import type { JsonValue } from './json.ts';
import type { Pin } from './prompt-file.ts';

/** A reference to a version. `number` is null if only the id is known. */
export type VersionRef = { readonly id: string; readonly number: number | null };

/** A version with the metadata that a new version takes over from it. */
export type VersionWithMetadata = VersionRef & { readonly metadata: JsonValue; readonly metadataDigest: Digest };

/**
 * Makes a reference to a version. A number below 1 becomes null: it stands for a number that only the service knows, in
 * a run that must not contact the service.
 */
export function makeVersionRef({ id, number }: { readonly id: string; readonly number: number }): VersionRef {
  return { id, number: number < 1 ? null : number };
}

/** The facts that distinguish a version and its content from others. */
export type VersionFacts = ContentDigests & {
  readonly id: string;
  readonly number: number;
  /**
   * Whether promptsync created the version. False for a copy that somebody made of such a version and then edited. Null
   * if the service does not show who created a version.
   */
  readonly isManaged: boolean | null;
  /** True if the version is a baseline. promptsync creates it only to record the versions that existed before. */
  readonly baseline?: true | undefined;
};

/** The source that a version names. The commit and the path are absent if the prompt file was not committed. */
export type VersionSource = {
  /** The digest of the text that promptsync sent. */
  readonly digest: Digest;
  /** The digest of the metadata that promptsync sent. Absent in versions that early releases of promptsync created. */
  readonly metadataDigest?: Digest;
  readonly commit?: string;
  /** The path of the prompt file at the commit, from the root of the repository. */
  readonly path?: string;
};

/** A version that promptsync has read from the service, or that a ledger lists. */
export type KnownVersion = VersionFacts & {
  /**
   * The source of the version. An edited copy names the source of its original. Null if the version names no source.
   */
  readonly source: VersionSource | null;
  /**
   * Whether later runs can find the version by its number and its content, even if other versions become active. True
   * if a ledger lists it.
   */
  readonly staysKnown: boolean;
  /** The content. Null if promptsync has not read the version. */
  readonly content: StoredContent<JsonValue> | null;
  /** The message that the creator of the version stored with it. Absent if the service shows none. */
  readonly message?: string;
};

/**
 * Returns the version to use for a content: the oldest one that is not a baseline, or else the oldest baseline.
 * @param known newest first
 */
export function findVersionWithContent<Known extends VersionFacts>(
  known: readonly Known[],
  content: Content,
): Known | undefined {
  const candidates = known.filter((version) => holdsContent(version, content));
  return candidates.findLast(({ baseline }) => baseline !== true) ?? candidates.at(-1);
}

/** Returns the version that a pin names by number or id. Undefined if it is unknown, or if the pin names a content. */
export function findPinnedVersion<Known extends VersionFacts>(known: readonly Known[], pin: Pin): Known | undefined {
  if (pin.kind === 'number') return known.find(({ number }) => number === pin.number);
  return pin.kind === 'version' ? known.find(({ id }) => id === pin.id) : undefined;
}

/** A pin as it appears in a prompt file, with the comment after it. An empty comment is not written. */
export type WrittenPin = { readonly value: string | number; readonly comment: string };

/**
 * Makes the pin to a version. It uses the number if later runs can find the version by it. Otherwise it uses the id,
 * and the number becomes a comment.
 */
export function makeWrittenPin({
  id,
  number,
  staysKnown,
}: Pick<KnownVersion, 'id' | 'number' | 'staysKnown'>): WrittenPin {
  return staysKnown ? { value: number, comment: '' } : { value: `version:${id}`, comment: String(number) };
}

/**
 * Whether any version number between two numbers is unknown. It does not loop over the numbers, because the service
 * chooses them and they can be huge.
 */
export function hasGap(known: readonly VersionFacts[], older: number, newer: number): boolean {
  const between = known.map(({ number }) => number).filter((number) => number > older && number < newer);
  return new Set(between).size < newer - older - 1;
}
