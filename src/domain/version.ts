import type { Digest } from './digest.ts';
import type { JsonObject } from './json.ts';

/** One version as the ledger remembers it: enough to recognise its content without reading it. */
export type LedgerEntry = {
  readonly number: number;
  readonly id: string;
  readonly digest: Digest;
  readonly metadataDigest: Digest;
  /** The commit and the path (from the repository's root) of the content; absent when it was not committed. */
  readonly commit?: string;
  readonly path?: string;
  /** Present when promptsync did not make the version. */
  readonly outside?: true;
  /** Present when a pin other than `latest` once stood on it: such versions never leave the ledger. */
  readonly pinned?: true;
};

/** What promptsync writes into the metadata of each version it makes, under the key `promptsync`. */
export type Stamp = {
  readonly digest: Digest;
  /** Of the metadata that was sent with the text; absent in stamps of before it was noted. */
  readonly metadataDigest?: Digest;
  readonly commit?: string;
  readonly path?: string;
  /** Unique to one attempt to create a version: tells whose version it is when an answer was lost. */
  readonly operation: string;
  readonly ledger: readonly LedgerEntry[];
};

/** An immutable content version as read from the service. */
export type Version = {
  readonly id: string;
  readonly number: number;
  readonly text: string;
  readonly digest: Digest;
  /** The version's own metadata, without promptsync's key. */
  readonly metadata: JsonObject;
  readonly metadataDigest: Digest;
  /** Null when promptsync did not make the version, or when its stamp cannot be read. */
  readonly stamp: Stamp | null;
  /** Present where its text is not there: it was not asked for, so that its digest means nothing either, or not kept. */
  readonly unread?: true;
};

/** The version without what only its text and its ledger would be asked for; all that tells which one it is stays. */
export function withoutText({ id, number, digest, metadataDigest, stamp }: Version): Version {
  const bare = stamp === null ? null : { ...stamp, ledger: [] };
  return { id, number, text: '', digest, metadata: {}, metadataDigest, stamp: bare, unread: true };
}

/** A version named in a plan: `number` is null where only the id is known. */
export type VersionRef = { readonly id: string; readonly number: number | null };

/** What a version is called where people read it: `v7`, or its id where the number is not known. */
export function labelOf({ id, number }: VersionRef): string {
  return number === null ? id : `v${number}`;
}

export function refOf({ id, number }: { readonly id: string; readonly number: number }): VersionRef {
  return { id, number };
}
