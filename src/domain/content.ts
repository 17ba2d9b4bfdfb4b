import { computeDigest, type Digest } from './digest.ts';
import { canonicalJson, isJsonObject, omitKey, type JsonObject, type JsonValue } from './json.ts';
import { withLineFeeds } from '../text.ts';

/**
 * The prompt text and the metadata of a version that exists or that promptsync plans to create. Other types store both
 * in a single property of this type, or of a type that extends it. No property is optional, so that the compiler
 * rejects an object literal that lacks one.
 */
export type StoredContent<Metadata extends JsonValue | undefined = JsonValue | undefined> = {
  readonly text: string;
  /**
   * The metadata. Undefined if it is unknown, or if the prompt file does not manage metadata. promptsync can compare
   * and show any JSON value here, such as a list. In a prompt file, metadata is always a mapping.
   */
  readonly metadata: Metadata;
};

/** Content that a prompt file can contain. Its metadata is a mapping or undefined. */
export type FileContent = StoredContent<JsonObject | undefined>;

/** Prompt text in the normalized form that promptsync compares, with its digest. */
export type DigestedText = Pick<StoredContent, 'text'> & {
  readonly digest: Digest;
  /**
   * The number of line breaks that `normalizeText` removed from the end of the original text, or 1 if there were none.
   */
  readonly trailingLineBreaks: number;
};

/** The content that a prompt file declares, with its digests. */
export type Content = FileContent &
  DigestedText & {
    /** The digest of the metadata. Undefined if the prompt file does not manage metadata. */
    readonly metadataDigest: Digest | undefined;
  };

/**
 * The content of a version, with its digests. Its metadata is a mapping and does not include promptsync's version
 * record.
 */
export type VersionContent = Content & { readonly metadata: JsonObject; readonly metadataDigest: Digest };

/** The digests that identify the content of a version. promptsync can know them even if it has not read the version. */
export type ContentDigests = { readonly digest: Digest; readonly metadataDigest: Digest };

/** The metadata key under which promptsync stores its version record. All other keys belong to the user. */
export const VERSION_RECORD_KEY = 'promptsync';

/** The digest of empty metadata (`{}`). Versions without metadata from the user have this digest. */
export const EMPTY_METADATA_DIGEST: Digest = 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';

/**
 * Builds the content of a prompt file and computes its digests.
 * @param metadata undefined if the file does not manage metadata
 */
export function makeContent(text: string, metadata: JsonObject | undefined): Content {
  if (metadata !== undefined) return makeVersionContent(text, metadata);
  return { ...digestText(text), metadata, metadataDigest: undefined };
}

/** Builds the content of a version from its text and its stored metadata. Leaves out promptsync's version record. */
export function makeVersionContent(text: string, storedMetadata: JsonObject): VersionContent {
  const metadata = omitKey(storedMetadata, VERSION_RECORD_KEY);
  return { ...digestText(text), metadata, metadataDigest: computeMetadataDigest(metadata) };
}

/** Returns the content without its digests. */
export function omitDigests<Metadata extends JsonValue | undefined>({
  text,
  metadata,
}: StoredContent<Metadata>): StoredContent<Metadata> {
  return { text, metadata };
}

/**
 * Converts the content of a version to content that a prompt file can contain. Leaves out metadata that is not a
 * mapping.
 */
export function toFileContent({ text, metadata }: StoredContent): FileContent {
  return { text, metadata: isJsonObject(metadata) ? metadata : undefined };
}

/**
 * Returns the content as the service would store it.
 * @param metadata `dropped` if the service discards all metadata; the returned content then has none
 */
export function toStoredContent(content: Content, metadata: 'kept' | 'dropped'): Content {
  return metadata === 'kept' ? content : { ...content, metadata: undefined, metadataDigest: undefined };
}

/** The metadata that a new version inherits if its prompt file does not manage metadata. Undefined if there is none. */
type KeptMetadata = { readonly metadata: JsonValue; readonly metadataDigest: Digest } | undefined;

/**
 * Returns the content of a version that promptsync creates from a prompt file.
 * @param kept the metadata to inherit if the file does not manage metadata
 */
export function makeNewVersionContent({ text, metadata }: Content, kept: KeptMetadata): StoredContent {
  return { text, metadata: metadata ?? kept?.metadata };
}

/**
 * Returns the digests of a version that promptsync creates from a prompt file.
 * @param kept the metadata to inherit if the file does not manage metadata
 */
export function computeNewVersionDigests({ digest, metadataDigest }: Content, kept: KeptMetadata): ContentDigests {
  return { digest, metadataDigest: metadataDigest ?? kept?.metadataDigest ?? EMPTY_METADATA_DIGEST };
}

/** The digest of each property of `StoredContent`, by property name. */
export type DigestsByProperty = { readonly [Property in keyof StoredContent]: Digest };

/** Converts content digests to the form that promptsync hashes into the digests of plans and changes. */
export function mapDigestsByProperty({ digest, metadataDigest }: ContentDigests): DigestsByProperty {
  return { text: digest, metadata: metadataDigest };
}

/**
 * Returns true if the version contains the given content, so that promptsync can use it instead of creating a version.
 * If the file does not manage metadata, any version that promptsync created or may have created can have any metadata.
 * A foreign version must have no metadata then, because its metadata may contain settings that nobody has reviewed.
 * @param version for the meaning of `isManaged`, see `VersionFacts`
 */
export function holdsContent(
  version: ContentDigests & { readonly isManaged: boolean | null },
  content: Content,
): boolean {
  if (!isInSync(version, content)) return false;
  if (content.metadataDigest !== undefined || version.isManaged !== false) return true;
  return version.metadataDigest === EMPTY_METADATA_DIGEST;
}

/**
 * Returns true if an active version is in sync with the given content. Compares metadata only if the prompt file
 * manages it.
 */
export function isInSync(version: ContentDigests, content: Content): boolean {
  if (!matchesDigest(version.digest, content)) return false;
  return content.metadataDigest === undefined || version.metadataDigest === content.metadataDigest;
}

/**
 * Returns true if a version that is created from the content `created` can also serve `content`. The texts must be
 * equal. The metadata must be equal only if `content` has managed metadata.
 */
export function canServeContent(created: Pick<Content, keyof ContentDigests>, content: Content): boolean {
  if (created.digest !== content.digest) return false;
  return content.metadataDigest === undefined || content.metadataDigest === created.metadataDigest;
}

/** The digests of some content. An unknown digest is absent or undefined. */
type KnownDigests = { readonly [Key in keyof ContentDigests]?: Digest | undefined };

/**
 * Returns true if two versions have the same content. If either text is unknown, the versions count as different.
 * Unknown metadata counts as equal to any metadata.
 */
export function isSameContent(one: KnownDigests, other: KnownDigests): boolean {
  if (one.digest === undefined || one.digest !== other.digest) return false;
  if (one.metadataDigest === undefined || other.metadataDigest === undefined) return true;
  return one.metadataDigest === other.metadataDigest;
}

/**
 * Returns a key that is the same for equal content. The same text has different keys with and without managed metadata.
 */
export function makeContentKey({ digest, metadataDigest }: Pick<Content, keyof ContentDigests>): string {
  return `${digest} ${metadataDigest ?? ''}`;
}

/**
 * Returns true if the digest belongs to the text. Releases before 0.1 also hashed the line breaks at the end of the
 * text, except for the last line break of the file. Their digests match, too.
 */
export function matchesDigest(digest: Digest, content: DigestedText): boolean {
  if (digest === content.digest) return true;
  const former = formerDigests.get(content) ?? computeFormerDigests(content);
  formerDigests.set(content, former);
  return former.has(digest);
}

/** A cache of the digests that releases before 0.1 may have computed for the same text. */
const formerDigests = new WeakMap<DigestedText, ReadonlySet<Digest>>();

function computeFormerDigests({ text, trailingLineBreaks }: DigestedText): ReadonlySet<Digest> {
  const counts = new Set([1, 2, trailingLineBreaks - 1, trailingLineBreaks]);
  return new Set([...counts].map((count) => computeDigest(text + '\n'.repeat(count))));
}

/**
 * Computes the content digest of the text. Line breaks at the end and the kind of line endings do not affect the
 * digest.
 */
export function computeContentDigest(text: string): Digest {
  return computeDigest(normalizeText(text));
}

/** Computes the digest of a version's metadata without the version record. Null counts as `{}`. */
export function computeMetadataDigest(metadata: JsonObject | null): Digest {
  return computeDigest(canonicalJson(omitKey(metadata ?? {}, VERSION_RECORD_KEY)));
}

/** Normalizes the text and computes its digest. */
export function digestText(text: string): DigestedText {
  const normalized = normalizeText(text);
  const lineBreaks = withLineFeeds(text).length - normalized.length;
  return { text: normalized, digest: computeDigest(normalized), trailingLineBreaks: Math.max(1, lineBreaks) };
}

/**
 * Converts CRLF line endings to LF. Removes line breaks at the end, because editors add and trim those. Keeps any
 * carriage return that is not followed by a line feed.
 */
export function normalizeText(text: string): string {
  const lines = withLineFeeds(text);
  let end = lines.length;
  while (lines[end - 1] === '\n') end -= 1;
  return lines.slice(0, end);
}
