import type { Digest } from './digest.ts';
import { canReuseVersion, isSameVersionContent } from './compare-content.ts';
import type { Content, ContentDigests, StoredContent } from './content.ts';
import type { JsonValue } from './json.ts';
import type { Pin } from './prompt-file.ts';

/** A reference to a version. The number is null if only the id is known. */
export type VersionRef = { readonly id: string; readonly number: number | null };

/** A version whose metadata a new version copies. */
export type VersionWithMetadata = VersionRef & { readonly metadata: JsonValue; readonly metadataDigest: Digest };

/** A number below 1 becomes null. Runs that must not contact the service use such numbers as placeholders. */
export function makeVersionRef({ id, number }: { readonly id: string; readonly number: number }): VersionRef {
  return { id, number: number < 1 ? null : number };
}

/** The facts that identify a version and its content. */
export type VersionFacts = ContentDigests & {
  readonly id: string;
  readonly number: number;
  /**
   * Whether promptsync created the version. Also false if the version is an edited copy of a version that promptsync
   * created. Null if the service does not show who created it.
   */
  readonly isManaged: boolean | null;
  /** True if the version is a baseline, which promptsync creates only to record the versions that existed before. */
  readonly baseline?: true | undefined;
};

/** The known properties. A version that does not exist yet has only digests. An unread one may have only an id. */
export type VersionTraits = {
  readonly [Key in Exclude<keyof VersionFacts, 'isManaged'>]?: VersionFacts[Key] | undefined;
};

/** Returns true if two versions have the same id or, as far as their digests are known, the same content. */
export function isSameVersion(one: VersionTraits, other: VersionTraits): boolean {
  return (one.id !== undefined && one.id === other.id) || isSameVersionContent(one, other);
}

/** The maximum number of newest versions in a ledger. The same maximum applies separately to the pinned versions. */
export const MAX_LEDGER_VERSIONS = 20;

/** The recorded source of a version. The commit and the path are absent if the prompt file was not committed. */
export type VersionSource = {
  /** The digest of the text that promptsync sent. */
  readonly digest: Digest;
  readonly commit?: string;
  /** The path of the prompt file at the commit, relative to the repository root. */
  readonly path?: string;
};

/** A version that promptsync has read from the service, or that a ledger lists. */
export type KnownVersion = VersionFacts & {
  /** The recorded source, for an edited copy that of the original. Null if no source is recorded. */
  readonly source: VersionSource | null;
  /**
   * Whether later runs can find the version by its number and its content, even after other versions have become
   * active. This is always true if a ledger lists the version.
   */
  readonly staysKnown: boolean;
  /** Null if promptsync has not read the version. */
  readonly content: StoredContent<JsonValue> | null;
  /** The message that the creator of the version stored with it. Absent if the service does not show a message. */
  readonly message?: string;
  /** Absent if the service does not show the times of versions. */
  readonly times?: VersionTimes;
  /** The user or the API key, as the service names it. Absent if the service does not show it. */
  readonly createdBy?: string;
};

/** When the service created and changed a version. Both times are in milliseconds since 1970. */
export type VersionTimes = {
  readonly createdAt: number;
  /** When an environment last moved to or away from the version. Absent if the service does not show it. */
  readonly updatedAt?: number;
};

/** Converts milliseconds to whole seconds since 1970, because the times of commits have no fractions. */
export function toSeconds(time: number): number {
  return Math.floor(time / 1000);
}

/** Returns the oldest match, but a baseline only if all matches are baselines. `known` is sorted newest first. */
export function findVersionWithContent<Known extends VersionFacts>(
  known: readonly Known[],
  content: Content,
): Known | undefined {
  const candidates = known.filter((version) => canReuseVersion(version, content));
  return candidates.findLast(({ baseline }) => baseline !== true) ?? candidates.at(-1);
}

/** Returns undefined if the version is unknown, or if the pin specifies content. */
export function findPinnedVersion<Known extends VersionFacts>(known: readonly Known[], pin: Pin): Known | undefined {
  if (pin.kind === 'number') return known.find(({ number }) => number === pin.number);
  return pin.kind === 'version' ? known.find(({ id }) => id === pin.id) : undefined;
}

/** A pin as it appears in a prompt file, and the comment after it. If the comment is empty, promptsync writes none. */
export type WrittenPin = { readonly value: string | number; readonly comment: string };

export type NewPin = WrittenPin & { readonly environment: string };

/** Uses the id, with the number as a comment, if later runs cannot find the version by its number. */
export function makeWrittenPin({
  id,
  number,
  staysKnown,
}: Pick<KnownVersion, 'id' | 'number' | 'staysKnown'>): WrittenPin {
  return staysKnown ? { value: number, comment: '' } : { value: `version:${id}`, comment: String(number) };
}

/** Returns true if a number in between is unknown. Does not loop, because the service may leave a huge gap. */
export function hasGap(known: readonly VersionFacts[], older: number, newer: number): boolean {
  const between = known.map(({ number }) => number).filter((number) => number > older && number < newer);
  return new Set(between).size < newer - older - 1;
}
