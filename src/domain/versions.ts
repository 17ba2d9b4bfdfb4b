import type { Digest } from './digest.ts';
import { type Content, type ContentDigests, type StoredContent, holdsContent } from './content.ts';
import type { JsonValue } from './json.ts';
import type { Pin } from './prompt-file.ts';

/** A version named in a plan: `number` is null where only the id is known. */
export type VersionRef = { readonly id: string; readonly number: number | null };

/** A version with the metadata that a new version takes over from it. */
export type VersionWithMetadata = VersionRef & { readonly metadata: JsonValue; readonly metadataDigest: Digest };

/** Numbers below 1 stand for those that only the service knows, where it may not be asked. */
export function makeVersionRef({ id, number }: { readonly id: string; readonly number: number }): VersionRef {
  return { id, number: number < 1 ? null : number };
}

/** By what versions and their contents are distinguished. */
export type VersionFacts = ContentDigests & {
  readonly id: string;
  readonly number: number;
  /**
   * Whether promptsync made it. A copy of such a version that somebody has edited is not. Null where the service does
   * not say who has made a version.
   */
  readonly isManaged: boolean | null;
  /** Made only to carry the record of what was there before promptsync. */
  readonly baseline?: true | undefined;
};

/** Where a version says that it comes from; all but the digest are absent where its file was not committed. */
export type VersionSource = {
  readonly digest: Digest;
  /** Of the metadata that was sent with the text; absent in versions of before it was noted. */
  readonly metadataDigest?: Digest;
  readonly commit?: string;
  /** From the repository's root. */
  readonly path?: string;
};

/** A version that is known, whether it was read or only heard of. */
export type KnownVersion = VersionFacts & {
  /** A copy names the source of its original. Null where a version says nothing. */
  readonly source: VersionSource | null;
  /** Whether a ledger names it: it is found again by its number and its content, whatever becomes active. */
  readonly staysKnown: boolean;
  /** Null where it was not read. */
  readonly content: StoredContent<JsonValue> | null;
  /** What whoever made it has said of it, where the service shows that. */
  readonly message?: string;
};

/** The version to use for a content: the oldest that is no baseline. `known` is newest first. */
export function findVersionWithContent<Known extends VersionFacts>(
  known: readonly Known[],
  content: Content,
): Known | undefined {
  const holding = known.filter((version) => holdsContent(version, content));
  return holding.findLast(({ baseline }) => baseline !== true) ?? holding.at(-1);
}

/** The version that a number or an id names; undefined where it is not known, and for pins that name a content. */
export function findPinnedVersion<Known extends VersionFacts>(known: readonly Known[], pin: Pin): Known | undefined {
  if (pin.kind === 'number') return known.find(({ number }) => number === pin.number);
  return pin.kind === 'version' ? known.find(({ id }) => id === pin.id) : undefined;
}

/** A pin as it is written, and the comment behind it; empty: none. */
export type WrittenPin = { readonly value: string | number; readonly comment: string };

/** The number of a version that is found by it whatever becomes active; of another one the id, with the number behind it. */
export function makeWrittenPin({
  id,
  number,
  staysKnown,
}: Pick<KnownVersion, 'id' | 'number' | 'staysKnown'>): WrittenPin {
  return staysKnown ? { value: number, comment: '' } : { value: `version:${id}`, comment: String(number) };
}

/** Whether a version between two numbers is not known. Numbers come from the service, and may be as large as they like. */
export function hasGap(known: readonly VersionFacts[], older: number, newer: number): boolean {
  const between = known.map(({ number }) => number).filter((number) => number > older && number < newer);
  return new Set(between).size < newer - older - 1;
}
