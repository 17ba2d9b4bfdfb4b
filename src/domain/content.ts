import { computeDigest, type Digest } from './digest.ts';
import { canonicalJson, isJsonObject, omitKey, type JsonObject, type JsonValue } from './json.ts';
import { withLineFeeds } from '../text.ts';

/**
 * A text with its metadata, as a version holds them or would hold them. Everything that carries a content has it as one
 * property of this type, or of a type below that is built from it. No key is optional, so an object literal that forgets
 * a property of a content does not compile.
 */
export type StoredContent<Metadata extends JsonValue | undefined = JsonValue | undefined> = {
  readonly text: string;
  /**
   * Undefined if the metadata is unknown, or if the prompt file does not manage metadata. Metadata other than a mapping,
   * such as a list, can be compared and shown, but no prompt file can hold it.
   */
  readonly metadata: Metadata;
};

/** A content that a prompt file can hold. */
export type FileContent = StoredContent<JsonObject | undefined>;

/** A text as promptsync compares it, with its digest. */
export type DigestedText = Pick<StoredContent, 'text'> & {
  readonly digest: Digest;
  /** The number of line breaks that the text had at its end before `normalizeText` removed them; at least 1. */
  readonly trailingLineBreaks: number;
};

/** The content that a prompt file declares, with its digests. */
export type Content = FileContent &
  DigestedText & {
    /** Undefined if the prompt file does not manage metadata. */
    readonly metadataDigest: Digest | undefined;
  };

/** The content of a version whose metadata is a mapping, with its digests. The metadata lacks the key `promptsync`. */
export type VersionContent = Content & { readonly metadata: JsonObject; readonly metadataDigest: Digest };

/** The digests by which promptsync recognizes the content of a version, whether or not it has read the version. */
export type ContentDigests = { readonly digest: Digest; readonly metadataDigest: Digest };

/** The metadata key that belongs to promptsync. All other metadata of a version is the user's. */
export const VERSION_RECORD_KEY = 'promptsync';

/** The metadata digest of a version without any metadata of its own. */
export const EMPTY_METADATA_DIGEST: Digest = 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';

/** Makes the content of a prompt file. Without metadata, the file does not manage metadata. */
export function makeContent(text: string, metadata: JsonObject | undefined): Content {
  if (metadata !== undefined) return makeVersionContent(text, metadata);
  return { ...digestText(text), metadata, metadataDigest: undefined };
}

/** Makes the content of a version from what the service returned. */
export function makeVersionContent(text: string, all: JsonObject): VersionContent {
  const metadata = omitKey(all, VERSION_RECORD_KEY);
  return { ...digestText(text), metadata, metadataDigest: computeMetadataDigest(metadata) };
}

/** Returns a content without its digests. */
export function omitDigests<Metadata extends JsonValue | undefined>({
  text,
  metadata,
}: StoredContent<Metadata>): StoredContent<Metadata> {
  return { text, metadata };
}

/** Returns the content of a version as a prompt file can hold it: without metadata that is not a mapping. */
export function toFileContent({ text, metadata }: StoredContent): FileContent {
  return { text, metadata: isJsonObject(metadata) ? metadata : undefined };
}

/** Returns a content as the service can hold it: a service that drops metadata never shows any. */
export function toStoredContent(content: Content, metadata: 'kept' | 'dropped'): Content {
  return metadata === 'kept' ? content : { ...content, metadata: undefined, metadataDigest: undefined };
}

/** The metadata that a new version takes over if the prompt file manages none. */
type KeptMetadata = { readonly metadata: JsonValue; readonly metadataDigest: Digest } | undefined;

/** Returns what a version holds that promptsync creates from a content. */
export function makeNewVersionContent({ text, metadata }: Content, kept: KeptMetadata): StoredContent {
  return { text, metadata: metadata ?? kept?.metadata };
}

/** Returns the digests of a version that promptsync creates from a content. */
export function computeNewVersionDigests({ digest, metadataDigest }: Content, kept: KeptMetadata): ContentDigests {
  return { digest, metadataDigest: metadataDigest ?? kept?.metadataDigest ?? EMPTY_METADATA_DIGEST };
}

/** The digests of a content by the names of its properties. */
export type DigestsByProperty = { readonly [Property in keyof StoredContent]: Digest };

/** Returns digests in the form that the digests of plans and changes contain. */
export function mapDigestsByProperty({ digest, metadataDigest }: ContentDigests): DigestsByProperty {
  return { text: digest, metadata: metadataDigest };
}

/**
 * Whether a version holds a wanted content. If the file manages no metadata, a version that promptsync created or may
 * have created can have any metadata. A foreign version must have none then: it may carry settings that nobody has
 * reviewed.
 * @param version `isManaged` is as in `VersionFacts`
 */
export function holdsContent(
  version: ContentDigests & { readonly isManaged: boolean | null },
  content: Content,
): boolean {
  if (!isInSync(version, content)) return false;
  if (content.metadataDigest !== undefined || version.isManaged !== false) return true;
  return version.metadataDigest === EMPTY_METADATA_DIGEST;
}

/** Whether the content of an active version is as wanted. Metadata that the file does not manage may be anything. */
export function isInSync(version: ContentDigests, content: Content): boolean {
  if (!matchesDigest(version.digest, content)) return false;
  return content.metadataDigest === undefined || version.metadataDigest === content.metadataDigest;
}

/** Whether a version made from one content also serves another content: one without managed metadata accepts any. */
export function canServeContent(made: Pick<Content, keyof ContentDigests>, content: Content): boolean {
  if (made.digest !== content.digest) return false;
  return content.metadataDigest === undefined || content.metadataDigest === made.metadataDigest;
}

/** The digests that are known of a content. */
type KnownDigests = { readonly [Key in keyof ContentDigests]?: Digest | undefined };

/** Whether two versions hold the same content. Unknown metadata counts as equal, unknown texts count as different. */
export function isSameContent(one: KnownDigests, other: KnownDigests): boolean {
  if (one.digest === undefined || one.digest !== other.digest) return false;
  const [a, b] = [one.metadataDigest, other.metadataDigest];
  return a === undefined || b === undefined || a === b;
}

/**
 * Returns a text that is equal for equal contents. Metadata that a file does not manage is equal only to other unmanaged
 * metadata.
 */
export function makeContentKey({ digest, metadataDigest }: Pick<Content, keyof ContentDigests>): string {
  return `${digest} ${metadataDigest ?? ''}`;
}

/** Whether a digest belongs to a text. Before 0.1, all line breaks at the end counted, except for the last one of a file. */
export function matchesDigest(digest: Digest, content: DigestedText): boolean {
  if (digest === content.digest) return true;
  const older = olderDigests.get(content) ?? computeFormerDigests(content);
  olderDigests.set(content, older);
  return older.has(digest);
}

const olderDigests = new WeakMap<DigestedText, ReadonlySet<Digest>>();

function computeFormerDigests({ text, trailingLineBreaks }: DigestedText): ReadonlySet<Digest> {
  const counts = new Set([1, 2, trailingLineBreaks - 1, trailingLineBreaks]);
  return new Set([...counts].map((count) => computeDigest(text + '\n'.repeat(count))));
}

/** Returns the digest of a text. */
export function computeContentDigest(text: string): Digest {
  return computeDigest(normalizeText(text));
}

/** Returns the digest of a version's metadata without the key `promptsync`; null counts as `{}`. */
export function computeMetadataDigest(metadata: JsonObject | null): Digest {
  return computeDigest(canonicalJson(omitKey(metadata ?? {}, VERSION_RECORD_KEY)));
}

/** Returns a text in the form in which promptsync compares texts, with its digest. */
export function digestText(text: string): DigestedText {
  const rest = normalizeText(text);
  const lineBreaks = withLineFeeds(text).length - rest.length;
  return { text: rest, digest: computeDigest(rest), trailingLineBreaks: Math.max(1, lineBreaks) };
}

/**
 * Returns a text with LF line endings and without line breaks at its end, because editors add and trim them. A carriage
 * return without a line feed is part of the text.
 */
export function normalizeText(text: string): string {
  const lines = withLineFeeds(text);
  let end = lines.length;
  while (lines[end - 1] === '\n') end -= 1;
  return lines.slice(0, end);
}
