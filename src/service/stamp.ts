import { z } from 'zod';
import { STAMP_KEY } from '../domain/digest.ts';
import type { JsonObject } from '../domain/json.ts';
import type { LedgerEntry, Stamp } from '../domain/version.ts';

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
});

const StampShape = z.object({
  digest,
  metadata_digest: digest.optional().catch(undefined),
  commit: optionalText,
  path: optionalText,
  operation: id,
  ledger: z.array(EntryShape.nullable().catch(null)).catch([]),
});

/**
 * The stamp in a version's `metadata_` (interface section 2.2), or null where there is none that can be read. A ledger
 * entry that cannot be read is dropped alone: one bad entry must not cost the memory of all others.
 */
export function parseStamp(metadata: JsonObject | null | undefined): Stamp | null {
  const parsed = StampShape.safeParse(metadata?.[STAMP_KEY]);
  if (!parsed.success) return null;
  const { digest, metadata_digest: metadataDigest, commit, path, operation, ledger } = parsed.data;
  const noted = metadataDigest === undefined ? {} : { metadataDigest };
  return { digest, ...noted, ...present({ commit, path }), operation, ledger: ledger.flatMap(entryFrom) };
}

/** The JSON that stands under `promptsync` in the metadata of a version; `parseStamp` reads it back unchanged. */
export function stampToWire(stamp: Stamp): JsonObject {
  const { digest, metadataDigest, commit, path, operation, ledger } = stamp;
  const noted = metadataDigest === undefined ? {} : { metadata_digest: metadataDigest };
  return { digest, ...noted, ...present({ commit, path }), operation, ledger: ledger.map(entryToWire) };
}

function entryFrom(entry: z.output<typeof EntryShape> | null): readonly LedgerEntry[] {
  if (entry === null) return [];
  const { number, id, digest, metadata_digest: metadataDigest } = entry;
  return [{ number, id, digest, metadataDigest, ...present(entry) }];
}

function entryToWire(entry: LedgerEntry): JsonObject {
  const { number, id, digest, metadataDigest, commit, path, outside, pinned } = entry;
  return { number, id, digest, metadata_digest: metadataDigest, ...present({ commit, path, outside, pinned }) };
}

type Optional = {
  readonly commit?: string | undefined;
  readonly path?: string | undefined;
  readonly outside?: true | undefined;
  readonly pinned?: true | undefined;
};

/** Absent rather than undefined: such fields must not appear in JSON, nor make two equal stamps differ. */
function present({ commit, path, outside, pinned }: Optional) {
  return {
    ...(commit !== undefined && { commit }),
    ...(path !== undefined && { path }),
    ...(outside && { outside }),
    ...(pinned && { pinned }),
  };
}
