import { z } from 'zod';
import { digestText, makeVersionContent, VERSION_RECORD_KEY, type VersionContent } from '../../domain/content.ts';
import type { Digest } from '../../domain/digest.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { VersionSource, VersionFacts } from '../../domain/versions.ts';
import type { ServiceVersion } from './prompt-service.ts';

/** Describes one version in a ledger. The digests identify its content, so promptsync need not read it. */
export type LedgerEntry = VersionFacts & {
  /** The commit that the content comes from. Absent if the content was not committed. */
  readonly commit?: string;
  /** The path of the prompt file at that commit, relative to the repository root. */
  readonly path?: string;
  /** Present if the version was active because of a pin other than `latest`. A ledger keeps the newest 20. */
  readonly pinned?: true;
};

/** The data that promptsync stores under the key `promptsync` in the metadata of each version that it creates. */
export type VersionRecord = VersionSource & {
  /** The digest of the metadata that promptsync sent. */
  readonly metadataDigest: Digest;
  /** The unique id of the create call. If the response is lost, promptsync recognizes its own version by this id. */
  readonly operation: string;
  readonly baseline?: true | undefined;
  /** Newest version first. */
  readonly ledger: readonly LedgerEntry[];
};

/** A version that promptsync has read from a four-call service. */
export type LedgerVersion = {
  readonly id: string;
  readonly number: number;
  readonly content: VersionContent;
  /** Null if there is no valid record. A version with a record may still be an edited copy. */
  readonly record: VersionRecord | null;
  /** When the service created the version, in milliseconds since 1970. Absent if the service does not show it. */
  readonly createdAt?: number;
};

/** Parses a version from the service, and separates its version record from the user's metadata. */
export function makeLedgerVersion({ content, ...version }: ServiceVersion): LedgerVersion {
  const { text, metadata } = content;
  return { ...version, content: makeVersionContent(digestText(text), metadata), record: parseVersionRecord(metadata) };
}

const digestShape = z.templateLiteral(['sha256:', z.string().regex(/^[0-9a-f]{64}$/)]);
const idShape = z.string().min(1);
const optionalText = z.string().optional().catch(undefined);
const optionalMark = z.literal(true).optional().catch(undefined);

const LedgerEntryShape = z.object({
  number: z.int(),
  id: idShape,
  digest: digestShape,
  metadata_digest: digestShape,
  commit: optionalText,
  path: optionalText,
  outside: optionalMark,
  pinned: optionalMark,
  baseline: optionalMark,
});

const VersionRecordShape = z.object({
  digest: digestShape,
  metadata_digest: digestShape,
  commit: optionalText,
  path: optionalText,
  operation: idShape,
  baseline: optionalMark,
  ledger: z.array(LedgerEntryShape.nullable().catch(null)).catch([]),
});

/** Parses the version record in metadata (interface section 2.2). Skips invalid ledger entries. */
export function parseVersionRecord(metadata: JsonObject | null | undefined): VersionRecord | null {
  const parsed = VersionRecordShape.safeParse(metadata?.[VERSION_RECORD_KEY]);
  if (!parsed.success) return null;
  const { digest, metadata_digest: metadataDigest, operation, ledger } = parsed.data;
  return {
    digest,
    metadataDigest,
    ...pickPresentFacts(parsed.data),
    operation,
    ledger: ledger.flatMap(parseLedgerEntry),
  };
}

/** `parseVersionRecord` converts the JSON back to an equal record. */
export function renderVersionRecord(record: VersionRecord): JsonObject {
  const { digest, metadataDigest, operation, ledger } = record;
  return {
    digest,
    metadata_digest: metadataDigest,
    ...pickPresentFacts(record),
    operation,
    ledger: ledger.map(renderLedgerEntry),
  };
}

/** Returns an empty list if the entry was invalid and is therefore null. */
function parseLedgerEntry(entry: z.output<typeof LedgerEntryShape> | null): readonly LedgerEntry[] {
  if (entry === null) return [];
  const { number, id, digest, metadata_digest: metadataDigest } = entry;
  return [{ number, id, digest, metadataDigest, isManaged: entry.outside !== true, ...pickPresentFacts(entry) }];
}

function renderLedgerEntry(entry: LedgerEntry): JsonObject {
  const { number, id, digest, metadataDigest, isManaged } = entry;
  const origin = isManaged ? {} : { outside: true };
  return { number, id, digest, metadata_digest: metadataDigest, ...origin, ...pickPresentFacts(entry) };
}

/** The optional properties of version records and ledger entries. */
type OptionalFacts = {
  readonly commit?: string;
  readonly path?: string;
  readonly pinned?: true;
  readonly baseline?: true;
};

type PossiblyUndefined<Facts> = { readonly [Key in keyof Facts]: Facts[Key] | undefined };

/** Returns only the properties that are defined, because an undefined property would make two equal records differ. */
export function pickPresentFacts({ commit, path, pinned, baseline }: PossiblyUndefined<OptionalFacts>): OptionalFacts {
  return {
    ...(commit !== undefined && { commit }),
    ...(path !== undefined && { path }),
    ...(pinned && { pinned }),
    ...(baseline && { baseline }),
  };
}
