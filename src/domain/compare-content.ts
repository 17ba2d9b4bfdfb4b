import { type Content, type ContentDigests, EMPTY_METADATA_DIGEST } from './content.ts';
import type { Digest } from './digest.ts';

/*
 * Four questions about whether contents are the same. They differ in what they do with metadata:
 *
 * | question                                                      | function               | metadata                    |
 * | ------------------------------------------------------------- | ---------------------- | --------------------------- |
 * | Is an environment that serves this version in sync with a     | `isInSync`             | compared if the file        |
 * | file?                                                         |                        | manages it                  |
 * | May promptsync use this version for a file, instead of        | `canReuseVersion`      | the same, but a foreign     |
 * | creating one?                                                 |                        | version must not have extra |
 * | Do two versions have the same content?                        | `isSameVersionContent` | compared if both are known  |
 * | Do two files declare the same content?                        | `isSameFileContent`    | compared, and so is whether |
 * |                                                               |                        | a file manages it           |
 */

/** For a version that does not exist yet, pass its content as the version. */
export function isInSync(version: Pick<Content, keyof ContentDigests>, content: Content): boolean {
  if (version.digest !== content.digest) return false;
  return content.metadataDigest === undefined || version.metadataDigest === content.metadataDigest;
}

/**
 * Returns true if promptsync can use the version instead of creating one. A version that somebody else created must not
 * have metadata that the file does not manage, because nobody may have reviewed it.
 * @param version see `VersionFacts` for the meaning of `isManaged`
 */
export function canReuseVersion(
  version: ContentDigests & { readonly isManaged: boolean | null },
  content: Content,
): boolean {
  if (!isInSync(version, content)) return false;
  if (content.metadataDigest !== undefined || version.isManaged !== false) return true;
  return version.metadataDigest === EMPTY_METADATA_DIGEST;
}

/** The digests of a version, as far as they are known. An unknown digest is absent or undefined. */
type KnownDigests = { readonly [Key in keyof ContentDigests]?: Digest | undefined };

/** Versions with unknown text count as different. Unknown metadata counts as equal to any metadata. */
export function isSameVersionContent(one: KnownDigests, other: KnownDigests): boolean {
  if (one.digest === undefined || one.digest !== other.digest) return false;
  if (one.metadataDigest === undefined || other.metadataDigest === undefined) return true;
  return one.metadataDigest === other.metadataDigest;
}

/** The same text with and without managed metadata is not equal. */
export function isSameFileContent(
  one: Pick<Content, keyof ContentDigests>,
  other: Pick<Content, keyof ContentDigests>,
): boolean {
  return makeContentKey(one) === makeContentKey(other);
}

/** Returns a key that is equal for two contents if `isSameFileContent` is true for them. */
export function makeContentKey({ digest, metadataDigest }: Pick<Content, keyof ContentDigests>): string {
  return `${digest} ${metadataDigest ?? ''}`;
}
