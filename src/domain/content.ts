import { computeDigest, type Digest } from './digest.ts';
import { canonicalJson, isJsonObject, omitKey, type JsonObject, type JsonValue } from './json.ts';
import { withLineFeeds } from '../text.ts';

/**
 * The text and the metadata of an existing or a planned version. Every type that carries a content has one property of
 * this type or of a type that extends it. No key is optional, so an object literal that lacks a property does not
 * compile.
 */
export type StoredContent<Metadata extends JsonValue | undefined = JsonValue | undefined> = {
  readonly text: string;
  /**
   * The metadata. Undefined if it is unknown, or if the prompt file does not manage metadata. promptsync can compare
   * and show metadata that is not a mapping, such as a list, but no prompt file can hold such metadata.
   */
  readonly metadata: Metadata;
};

/** A content that a prompt file can hold: its metadata is a mapping or undefined. */
export type FileContent = StoredContent<JsonObject | undefined>;

/** A text in the normalized form in which promptsync compares texts, with its digest. */
export type DigestedText = Pick<StoredContent, 'text'> & {
  readonly digest: Digest;
  /** The number of line breaks at the end of the original text, before `normalizeText` removed them. At least 1. */
  readonly trailingLineBreaks: number;
};

/** The content that a prompt file declares, with its digests. */
export type Content = FileContent &
  DigestedText & {
    /** The digest of the metadata. Undefined if the prompt file does not manage metadata. */
    readonly metadataDigest: Digest | undefined;
  };

/** The content of a version, with its digests. Its metadata is a mapping, without the version record of promptsync. */
export type VersionContent = Content & { readonly metadata: JsonObject; readonly metadataDigest: Digest };

/** The digests by which promptsync recognizes the content of a version, even of a version that it has not read. */
export type ContentDigests = { readonly digest: Digest; readonly metadataDigest: Digest };

/** The metadata key under which promptsync stores its version record. All other keys belong to the user. */
export const VERSION_RECORD_KEY = 'promptsync';

/** The digest of the empty metadata `{}`. A version without metadata from the user has this digest. */
export const EMPTY_METADATA_DIGEST: Digest = 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';

/**
 * Makes the content of a prompt file.
 * @param metadata undefined if the file does not manage metadata
 */
export function makeContent(text: string, metadata: JsonObject | undefined): Content {
  if (metadata !== undefined) return makeVersionContent(text, metadata);
  return { ...digestText(text), metadata, metadataDigest: undefined };
}

/** Makes the content of a version from its text and metadata. Omits the version record of promptsync. */
export function makeVersionContent(text: string, storedMetadata: JsonObject): VersionContent {
  const metadata = omitKey(storedMetadata, VERSION_RECORD_KEY);
  return { ...digestText(text), metadata, metadataDigest: computeMetadataDigest(metadata) };
}

/** Returns a content without its digests. */
export function omitDigests<Metadata extends JsonValue | undefined>({
  text,
  metadata,
}: StoredContent<Metadata>): StoredContent<Metadata> {
  return { text, metadata };
}

/** Converts the content of a version to one that a prompt file can hold. Omits metadata that is not a mapping. */
export function toFileContent({ text, metadata }: StoredContent): FileContent {
  return { text, metadata: isJsonObject(metadata) ? metadata : undefined };
}

/**
 * Returns a content in the form in which the service can hold it.
 * @param metadata `dropped` if the service drops all metadata; the result then has none
 */
export function toStoredContent(content: Content, metadata: 'kept' | 'dropped'): Content {
  return metadata === 'kept' ? content : { ...content, metadata: undefined, metadataDigest: undefined };
}

/**
 * The metadata that a new version takes over if its prompt file does not manage metadata. Undefined if there is none.
 */
type KeptMetadata = { readonly metadata: JsonValue; readonly metadataDigest: Digest } | undefined;

/**
 * Returns the content of a version that promptsync creates from the content of a file.
 * @param kept the metadata to use if the file does not manage metadata
 */
export function makeNewVersionContent({ text, metadata }: Content, kept: KeptMetadata): StoredContent {
  return { text, metadata: metadata ?? kept?.metadata };
}

/**
 * Returns the digests of a version that promptsync creates from the content of a file.
 * @param kept the metadata to use if the file does not manage metadata
 */
export function computeNewVersionDigests({ digest, metadataDigest }: Content, kept: KeptMetadata): ContentDigests {
  return { digest, metadataDigest: metadataDigest ?? kept?.metadataDigest ?? EMPTY_METADATA_DIGEST };
}

/** The digest of each property of a content, by the name of the property. */
export type DigestsByProperty = { readonly [Property in keyof StoredContent]: Digest };

/** Converts digests to the form that the digests of plans and changes are computed from. */
export function mapDigestsByProperty({ digest, metadataDigest }: ContentDigests): DigestsByProperty {
  return { text: digest, metadata: metadataDigest };
}

/**
 * Whether a version holds a content, so that promptsync can use the version for that content. If the file does not
 * manage metadata, a version that promptsync created or may have created can have any metadata. A foreign version must
 * have no metadata then, because its metadata may contain settings that nobody has reviewed.
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
 * Whether an active version is in sync with a content. If the content has no managed metadata, the version may have any
 * metadata.
 */
export function isInSync(version: ContentDigests, content: Content): boolean {
  if (!matchesDigest(version.digest, content)) return false;
  return content.metadataDigest === undefined || version.metadataDigest === content.metadataDigest;
}

/**
 * Whether a version that is created from one content also serves another content. The texts must be equal. A content
 * without managed metadata accepts any metadata.
 */
export function canServeContent(created: Pick<Content, keyof ContentDigests>, content: Content): boolean {
  if (created.digest !== content.digest) return false;
  return content.metadataDigest === undefined || content.metadataDigest === created.metadataDigest;
}

/** The digests of a content, as far as they are known. */
type KnownDigests = { readonly [Key in keyof ContentDigests]?: Digest | undefined };

/** Whether two versions hold the same content. Unknown metadata counts as equal. Unknown texts count as different. */
export function isSameContent(one: KnownDigests, other: KnownDigests): boolean {
  if (one.digest === undefined || one.digest !== other.digest) return false;
  if (one.metadataDigest === undefined || other.metadataDigest === undefined) return true;
  return one.metadataDigest === other.metadataDigest;
}

/** Returns a key that is the same for equal contents. Unmanaged metadata is equal only to other unmanaged metadata. */
export function makeContentKey({ digest, metadataDigest }: Pick<Content, keyof ContentDigests>): string {
  return `${digest} ${metadataDigest ?? ''}`;
}

/**
 * Whether a digest is the digest of a text. Digests that promptsync computed before 0.1 match, too. They also covered
 * the line breaks at the end of the text, except for the last one of a file.
 */
export function matchesDigest(digest: Digest, content: DigestedText): boolean {
  if (digest === content.digest) return true;
  const former = formerDigests.get(content) ?? computeFormerDigests(content);
  formerDigests.set(content, former);
  return former.has(digest);
}

/** A cache of the digests that promptsync could have computed for a text before 0.1. */
const formerDigests = new WeakMap<DigestedText, ReadonlySet<Digest>>();

function computeFormerDigests({ text, trailingLineBreaks }: DigestedText): ReadonlySet<Digest> {
  const counts = new Set([1, 2, trailingLineBreaks - 1, trailingLineBreaks]);
  return new Set([...counts].map((count) => computeDigest(text + '\n'.repeat(count))));
}

/** Computes the content digest of a text, which ignores line breaks at the end and the kind of line endings. */
export function computeContentDigest(text: string): Digest {
  return computeDigest(normalizeText(text));
}

/** Computes the digest of the metadata of a version without its version record. Null counts as `{}`. */
export function computeMetadataDigest(metadata: JsonObject | null): Digest {
  return computeDigest(canonicalJson(omitKey(metadata ?? {}, VERSION_RECORD_KEY)));
}

/** Normalizes a text and computes its digest. */
export function digestText(text: string): DigestedText {
  const normalized = normalizeText(text);
  const lineBreaks = withLineFeeds(text).length - normalized.length;
  return { text: normalized, digest: computeDigest(normalized), trailingLineBreaks: Math.max(1, lineBreaks) };
}

/**
 * Returns a text with LF line endings and without the line breaks at its end, because editors add and trim those. A
 * carriage return without a line feed is part of the text.
 */
export function normalizeText(text: string): string {
  const lines = withLineFeeds(text);
  let end = lines.length;
  while (lines[end - 1] === '\n') end -= 1;
  return lines.slice(0, end);
}
