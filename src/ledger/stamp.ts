import { z } from 'zod';
import { digested, isDigestOf, metadataDigest, RESERVED_KEY, type Digest, type Digested } from '../domain/digest.ts';
import { withoutKey, type JsonObject } from '../domain/json.ts';
import type { Source, VersionFacts } from '../domain/versions.ts';
import type { RemoteVersion } from '../service/prompt-service.ts';

/** One version as the ledger remembers it: enough to recognise its content without reading it. */
export type LedgerEntry = VersionFacts & {
  /** The commit and the path (from the repository's root) of the content; absent when it was not committed. */
  readonly commit?: string;
  readonly path?: string;
  /** Present when a pin other than `latest` once stood on it: the newest of them stay in the ledger. */
  readonly pinned?: true;
};

/** What promptsync writes into the metadata of each version it makes, under the key `promptsync`. */
export type Stamp = Source & {
  /** Unique to one attempt to create a version: says whose version it is when an answer was lost. */
  readonly operation: string;
  readonly baseline?: true | undefined;
  readonly ledger: readonly LedgerEntry[];
};

/** A version that was read. */
export type Version = Digested & {
  readonly id: string;
  readonly number: number;
  /** The version's own metadata, without promptsync's key. */
  readonly metadata: JsonObject;
  readonly metadataDigest: Digest;
  /** Null when promptsync did not make the version, or when its stamp cannot be read. */
  readonly stamp: Stamp | null;
};

/** A version as the service has it, with its stamp apart from its own metadata. */
export function toVersion({ id, number, text, metadata: all }: RemoteVersion): Version {
  const metadata = withoutKey(all, RESERVED_KEY);
  const content = digested(text);
  const stamp = parseStamp(all);
  const isOfText = stamp !== null && isDigestOf(stamp.digest, content);
  return {
    ...{ id, number, ...content, metadata, metadataDigest: metadataDigest(metadata) },
    stamp: isOfText ? { ...stamp, digest: content.digest } : stamp,
  };
}

const digest = z.templateLiteral(['sha256:', z.string().regex(/^[0-9a-f]{64}$/)]);
const id = z.string().min(1);
const optionalText = z.string().optional().catch(undefined);
const optionalMark = z.literal(true).optional().catch(undefined);

const EntryShape = z.object({
  number: z.int(),
  id,
  digest,
  metadata_digest: digest,
  commit: optionalText,
  path: optionalText,
  outside: optionalMark,
  pinned: optionalMark,
  baseline: optionalMark,
});

const StampShape = z.object({
  digest,
  metadata_digest: digest.optional().catch(undefined),
  commit: optionalText,
  path: optionalText,
  operation: id,
  baseline: optionalMark,
  ledger: z.array(EntryShape.nullable().catch(null)).catch([]),
});

/**
 * The stamp in a version's `metadata_` (interface section 2.2), or null where there is none that can be read. A ledger
 * entry that cannot be read is dropped alone: one bad entry must not cost the memory of all others.
 */
export function parseStamp(metadata: JsonObject | null | undefined): Stamp | null {
  const parsed = StampShape.safeParse(metadata?.[RESERVED_KEY]);
  if (!parsed.success) return null;
  const { digest, metadata_digest: metadataDigest, operation, ledger } = parsed.data;
  const noted = metadataDigest === undefined ? {} : { metadataDigest };
  return { digest, ...noted, ...present(parsed.data), operation, ledger: ledger.flatMap(entryFrom) };
}

/** The JSON that stands under `promptsync` in the metadata of a version; `parseStamp` reads it back unchanged. */
export function stampToWire(stamp: Stamp): JsonObject {
  const { digest, metadataDigest, operation, ledger } = stamp;
  const noted = metadataDigest === undefined ? {} : { metadata_digest: metadataDigest };
  return { digest, ...noted, ...present(stamp), operation, ledger: ledger.map(entryToWire) };
}

function entryFrom(entry: z.output<typeof EntryShape> | null): readonly LedgerEntry[] {
  if (entry === null) return [];
  const { number, id, digest, metadata_digest: metadataDigest } = entry;
  return [{ number, id, digest, metadataDigest, ours: entry.outside !== true, ...present(entry) }];
}

function entryToWire(entry: LedgerEntry): JsonObject {
  const { number, id, digest, metadataDigest, ours } = entry;
  const made = ours ? {} : { outside: true };
  return { number, id, digest, metadata_digest: metadataDigest, ...made, ...present(entry) };
}

type Optional = { readonly [Key in 'commit' | 'path' | 'pinned' | 'baseline']?: LedgerEntry[Key] | undefined };

/** Absent rather than undefined: such fields must not appear in JSON, nor make two equal stamps differ. */
export function present({ commit, path, pinned, baseline }: Optional) {
  return {
    ...(commit !== undefined && { commit }),
    ...(path !== undefined && { path }),
    ...(pinned && { pinned }),
    ...(baseline && { baseline }),
  };
}
