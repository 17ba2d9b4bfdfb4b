import { EMPTY_METADATA_DIGEST, isDigestOf, type Digest } from './digest.ts';
import { isJsonObject, type JsonValue } from './json.ts';
import type { Content, Pin } from './prompt-file.ts';

/** A version named in a plan: `number` is null where only the id is known. */
export type VersionRef = { readonly id: string; readonly number: number | null };

/** A version with the metadata that a new version takes over from it. */
export type VersionWithMetadata = VersionRef & { readonly metadata: JsonValue; readonly metadataDigest: Digest };

/** Numbers below 1 stand for those that only the service knows, where it may not be asked. */
export function refOf({ id, number }: { readonly id: string; readonly number: number }): VersionRef {
  return { id, number: number < 1 ? null : number };
}

/** By what versions and their contents are distinguished. */
export type VersionFacts = {
  readonly id: string;
  readonly number: number;
  readonly digest: Digest;
  readonly metadataDigest: Digest;
  /**
   * Whether promptsync made it. A copy of such a version that somebody has edited is not. Null where the service does
   * not say who has made a version.
   */
  readonly ours: boolean | null;
  /** Made only to carry the record of what was there before promptsync. */
  readonly baseline?: true | undefined;
};

/** Where a version says that it comes from; all but the digest are absent where its file was not committed. */
export type Source = {
  readonly digest: Digest;
  /** Of the metadata that was sent with the text; absent in versions of before it was noted. */
  readonly metadataDigest?: Digest;
  readonly commit?: string;
  /** From the repository's root. */
  readonly path?: string;
};

/** A text with its metadata as the service returns both, without the tool's own key in the metadata. */
export type HeldContent = {
  readonly text: string;
  /** Anything but a mapping, such as a list, can be compared and shown, but no file can hold it. */
  readonly metadata: JsonValue;
};

/** A version that is known, whether it was read or only heard of. */
export type KnownVersion = VersionFacts & {
  /** A copy names the source of its original. Null where a version says nothing. */
  readonly source: Source | null;
  /** Whether a ledger names it: it is found again by its number and its content, whatever becomes active. */
  readonly lasting: boolean;
  /** Null where it was not read. */
  readonly content: HeldContent | null;
  /** What whoever made it has said of it, where the service shows that. */
  readonly message?: string;
};

/** Returns a version's content as a prompt file can hold it: without metadata that is no mapping. */
export function contentForFile({ text, metadata }: HeldContent): Pick<Content, 'text' | 'metadata'> {
  return isJsonObject(metadata) ? { text, metadata } : { text };
}

/**
 * Whether a version holds a wanted content. Where the file manages no metadata, any metadata of a version that
 * promptsync made or may have made will do, and of another's none: it may carry settings that nobody has reviewed.
 */
export function holds(version: Omit<VersionFacts, 'id' | 'number'>, content: Content): boolean {
  if (!isInSync(version, content)) return false;
  if (content.metadataDigest !== undefined || version.ours !== false) return true;
  return version.metadataDigest === EMPTY_METADATA_DIGEST;
}

/** Whether what is served already is as wanted. Metadata that the file does not manage may be whatever it is. */
export function isInSync(version: Pick<VersionFacts, 'digest' | 'metadataDigest'>, content: Content): boolean {
  if (!isDigestOf(version.digest, content)) return false;
  return content.metadataDigest === undefined || version.metadataDigest === content.metadataDigest;
}

/** The version to use for a content: the oldest that is no baseline. `known` is newest first. */
export function findContent<Known extends VersionFacts>(known: readonly Known[], content: Content): Known | undefined {
  const holding = known.filter((version) => holds(version, content));
  return holding.findLast(({ baseline }) => baseline !== true) ?? holding.at(-1);
}

/** The version that a number or an id names; undefined where it is not known, and for pins that name a content. */
export function findNamed<Known extends VersionFacts>(known: readonly Known[], pin: Pin): Known | undefined {
  if (pin.kind === 'number') return known.find(({ number }) => number === pin.number);
  return pin.kind === 'version' ? known.find(({ id }) => id === pin.id) : undefined;
}

/** A pin as it is written, and the comment behind it; empty: none. */
export type WrittenPin = { readonly value: string | number; readonly comment: string };

/** The number of a version that is found by it whatever becomes active; of another one the id, with the number behind it. */
export function pinTo({ id, number, lasting }: Pick<KnownVersion, 'id' | 'number' | 'lasting'>): WrittenPin {
  return lasting ? { value: number, comment: '' } : { value: `version:${id}`, comment: String(number) };
}

/** Whether a version between two numbers is not known. Numbers come from the service, and may be as large as they like. */
export function hasGap(known: readonly VersionFacts[], older: number, newer: number): boolean {
  const between = known.map(({ number }) => number).filter((number) => number > older && number < newer);
  return new Set(between).size < newer - older - 1;
}

/** A content as the service can hold it: where it drops metadata, a text without any is all that it ever shows. */
export function asHeld(content: Content, metadata: 'kept' | 'dropped'): Content {
  if (metadata === 'kept') return content;
  const { metadata: _, metadataDigest: __, ...text } = content;
  return text;
}
