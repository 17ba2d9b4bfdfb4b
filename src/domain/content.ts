import { type ChatMessage, computeChatDigest, type PromptType, renderChatText } from './chat.ts';
import { computeDigest, type Digest } from './digest.ts';
import { renderCanonicalJson, isJsonObject, omitKey, type JsonObject, type JsonValue } from './json.ts';
import { normalizeLineEndings, trimLineFeeds } from '../text.ts';

/**
 * The prompt type, the text and the metadata of an existing or a planned version. Code that needs all three keeps them
 * together in one `StoredContent`. None of the properties is optional, so the compiler rejects an object literal that
 * omits one.
 */
export type StoredContent<Metadata extends JsonValue | undefined = JsonValue | undefined> = {
  readonly type: PromptType;
  /** The text of the prompt. The text of a chat prompt contains its messages in canonical form. */
  readonly text: string;
  /**
   * The metadata. Undefined if it is unknown, or if the prompt file does not manage metadata. In a prompt file,
   * metadata is always a mapping. In a service, it can be any JSON value, such as a list. promptsync can compare and
   * show all of these.
   */
  readonly metadata: Metadata;
};

/** Content that a prompt file can contain. Its metadata is a mapping or undefined. */
export type FileContent = StoredContent<JsonObject | undefined>;

/** Normalized prompt text, with its digest. promptsync normalizes all texts before it compares them. */
export type DigestedText = Pick<StoredContent, 'type' | 'text'> & { readonly digest: Digest };

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

/**
 * The digests that identify the content of a version. promptsync can know them without having read the version, because
 * ledgers list the digests of versions.
 */
export type ContentDigests = { readonly digest: Digest; readonly metadataDigest: Digest };

/** The metadata key under which promptsync stores its version record. All other keys belong to the user. */
export const VERSION_RECORD_KEY = 'promptsync';

/** The digest of empty metadata (`{}`). A version has this metadata digest if the user did not set any metadata. */
export const EMPTY_METADATA_DIGEST: Digest = 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';

/**
 * Builds the content of a prompt file.
 * @param text the result of `digestText` or `digestChat`
 * @param metadata undefined if the file does not manage metadata
 */
export function makeContent(text: DigestedText, metadata: JsonObject | undefined): Content {
  if (metadata !== undefined) return makeVersionContent(text, metadata);
  return { ...text, metadata, metadataDigest: undefined };
}

/** Builds the content of a version from its text and its stored metadata. Leaves out promptsync's version record. */
export function makeVersionContent(text: DigestedText, storedMetadata: JsonObject): VersionContent {
  const metadata = omitKey(storedMetadata, VERSION_RECORD_KEY);
  return { ...text, metadata, metadataDigest: computeMetadataDigest(metadata) };
}

/** Returns the content without its digests. */
export function omitDigests<Metadata extends JsonValue | undefined>({
  type,
  text,
  metadata,
}: StoredContent<Metadata>): StoredContent<Metadata> {
  return { type, text, metadata };
}

/**
 * Converts the content of a version to content that a prompt file can contain. Omits metadata that is not a mapping.
 */
export function toFileContent({ type, text, metadata }: StoredContent): FileContent {
  return { type, text, metadata: isJsonObject(metadata) ? metadata : undefined };
}

/**
 * Returns the part of the content that the service keeps. It stays a `Content`, so that it can be compared with
 * versions.
 * @param metadata `dropped` if the service discards all metadata; the returned content then has none
 */
export function toStoredContent(content: Content, metadata: 'kept' | 'dropped'): Content {
  return metadata === 'kept' ? content : { ...content, metadata: undefined, metadataDigest: undefined };
}

/**
 * The metadata that a new version inherits if its prompt file does not manage metadata. Undefined if there is nothing
 * to inherit.
 */
type KeptMetadata = { readonly metadata: JsonValue; readonly metadataDigest: Digest } | undefined;

/**
 * Returns the content of a version that promptsync creates from a prompt file.
 * @param kept the metadata to inherit if the file does not manage metadata
 */
export function makeNewVersionContent({ type, text, metadata }: Content, kept: KeptMetadata): StoredContent {
  return { type, text, metadata: metadata ?? kept?.metadata };
}

/**
 * Returns the digests of a version that promptsync creates from a prompt file.
 * @param kept the metadata to inherit if the file does not manage metadata
 */
export function computeNewVersionDigests({ digest, metadataDigest }: Content, kept: KeptMetadata): ContentDigests {
  return { digest, metadataDigest: metadataDigest ?? kept?.metadataDigest ?? EMPTY_METADATA_DIGEST };
}

/**
 * The digests of the text and the metadata, under the same property names as in `StoredContent`. The digest of the text
 * also covers the type.
 */
export type DigestsByProperty = { readonly [Property in Exclude<keyof StoredContent, 'type'>]: Digest };

/**
 * Returns the digests, keyed by the property names of `StoredContent`. promptsync hashes this object when it computes
 * the digests of plans and changes.
 */
export function mapDigestsByProperty({ digest, metadataDigest }: ContentDigests): DigestsByProperty {
  return { text: digest, metadata: metadataDigest };
}

/**
 * Computes the content digest of a text prompt. The digest does not depend on line breaks at the end of the text, or on
 * whether line endings are LF or CRLF.
 */
export function computeContentDigest(text: string): Digest {
  return computeDigest(normalizeText(text));
}

/** Computes the digest of a version's metadata, without the version record. `null` counts as `{}`. */
export function computeMetadataDigest(metadata: JsonObject | null): Digest {
  return computeDigest(renderCanonicalJson(omitKey(metadata ?? {}, VERSION_RECORD_KEY)));
}

/** Normalizes the text of a text prompt and computes its digest. */
export function digestText(text: string): DigestedText {
  const normalized = normalizeText(text);
  return { type: 'text', text: normalized, digest: computeDigest(normalized) };
}

/**
 * Normalizes the contents of the messages of a chat prompt, renders the messages in canonical form, and computes the
 * digest of the messages.
 */
export function digestChat(messages: readonly ChatMessage[]): DigestedText {
  const normalized = messages.map((message) =>
    'role' in message ? { ...message, content: normalizeText(message.content) } : message,
  );
  return { type: 'chat', text: renderChatText(normalized), digest: computeChatDigest(normalized) };
}

/**
 * Converts CRLF line endings to LF. Removes line breaks at the end, because editors add or trim them. Keeps carriage
 * returns that are not followed by a line feed.
 */
export function normalizeText(text: string): string {
  return trimLineFeeds(normalizeLineEndings(text));
}
