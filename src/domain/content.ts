import { type ChatMessage, computeChatDigest, type PromptType, renderChatText } from './chat.ts';
import { computeDigest, type Digest } from './digest.ts';
import { renderCanonicalJson, isJsonObject, omitKey, type JsonObject, type JsonValue } from './json.ts';
import { normalizeLineEndings, trimLineFeeds } from '../text.ts';

/**
 * The prompt type, the text and the metadata of an existing or a planned version. No property is optional, so the
 * compiler rejects an object literal that omits one.
 */
export type StoredContent<Metadata extends JsonValue | undefined = JsonValue | undefined> = {
  readonly type: PromptType;
  /** For a chat prompt, its messages in canonical form. */
  readonly text: string;
  /** Undefined if it is unknown or not managed by the file. A mapping in a file, but any JSON value in a service. */
  readonly metadata: Metadata;
};

export type FileContent = StoredContent<JsonObject | undefined>;

/** Normalized prompt text, with its digest. promptsync normalizes all texts before it compares them. */
export type DigestedText = Pick<StoredContent, 'type' | 'text'> & { readonly digest: Digest };

/** The content that a prompt file declares, with its digests. */
export type Content = FileContent &
  DigestedText & {
    /** Undefined if the prompt file does not manage metadata. */
    readonly metadataDigest: Digest | undefined;
  };

/** The content of a version, with its digests. Its metadata does not include promptsync's version record. */
export type VersionContent = Content & { readonly metadata: JsonObject; readonly metadataDigest: Digest };

/** The digests of a version's content. Ledgers list them, so promptsync can know them without reading the version. */
export type ContentDigests = { readonly digest: Digest; readonly metadataDigest: Digest };

/** The metadata key under which promptsync stores its version record. All other keys belong to the user. */
export const VERSION_RECORD_KEY = 'promptsync';

/** The digest of `{}`, which is the metadata of a version if the user did not set any. */
export const EMPTY_METADATA_DIGEST: Digest = 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';

/** Builds the content of a prompt file. `metadata` is undefined if the file does not manage metadata. */
export function makeContent(text: DigestedText, metadata: JsonObject | undefined): Content {
  if (metadata !== undefined) return makeVersionContent(text, metadata);
  return { ...text, metadata, metadataDigest: undefined };
}

/** Builds the content of a version from its text and its stored metadata. Leaves out promptsync's version record. */
export function makeVersionContent(text: DigestedText, storedMetadata: JsonObject): VersionContent {
  const metadata = omitKey(storedMetadata, VERSION_RECORD_KEY);
  return { ...text, metadata, metadataDigest: computeMetadataDigest(metadata) };
}

export function omitDigests<Metadata extends JsonValue | undefined>({
  type,
  text,
  metadata,
}: StoredContent<Metadata>): StoredContent<Metadata> {
  return { type, text, metadata };
}

/** Omits metadata that is not a mapping. */
export function toFileContent({ type, text, metadata }: StoredContent): FileContent {
  return { type, text, metadata: isJsonObject(metadata) ? metadata : undefined };
}

/** Returns the content as the service keeps it: without metadata if the service discards metadata (`dropped`). */
export function toStoredContent(content: Content, metadata: 'kept' | 'dropped'): Content {
  return metadata === 'kept' ? content : { ...content, metadata: undefined, metadataDigest: undefined };
}

/** The metadata that a new version inherits if its file does not manage metadata. Undefined if there is none. */
type KeptMetadata = { readonly metadata: JsonValue; readonly metadataDigest: Digest } | undefined;

export function makeNewVersionContent({ type, text, metadata }: Content, kept: KeptMetadata): StoredContent {
  return { type, text, metadata: metadata ?? kept?.metadata };
}

export function computeNewVersionDigests({ digest, metadataDigest }: Content, kept: KeptMetadata): ContentDigests {
  return { digest, metadataDigest: metadataDigest ?? kept?.metadataDigest ?? EMPTY_METADATA_DIGEST };
}

/** Digests under the property names of `StoredContent`. The digest of the text also covers the type. */
export type DigestsByProperty = { readonly [Property in Exclude<keyof StoredContent, 'type'>]: Digest };

/** promptsync hashes this object for the digests of plans and changes. */
export function mapDigestsByProperty({ digest, metadataDigest }: ContentDigests): DigestsByProperty {
  return { text: digest, metadata: metadataDigest };
}

/** The digest does not depend on line breaks at the end of the text, or on LF or CRLF line endings. */
export function computeContentDigest(text: string): Digest {
  return computeDigest(normalizeText(text));
}

/** Computes the digest of a version's metadata, without the version record. `null` counts as `{}`. */
export function computeMetadataDigest(metadata: JsonObject | null): Digest {
  return computeDigest(renderCanonicalJson(omitKey(metadata ?? {}, VERSION_RECORD_KEY)));
}

export function digestText(text: string): DigestedText {
  const normalized = normalizeText(text);
  return { type: 'text', text: normalized, digest: computeDigest(normalized) };
}

/** The digest covers the normalized messages, not the rendered text. */
export function digestChat(messages: readonly ChatMessage[]): DigestedText {
  const normalized = messages.map((message) =>
    'role' in message ? { ...message, content: normalizeText(message.content) } : message,
  );
  return { type: 'chat', text: renderChatText(normalized), digest: computeChatDigest(normalized) };
}

/** Converts CRLF to LF, and removes line breaks at the end, which editors add or trim. Keeps other carriage returns. */
export function normalizeText(text: string): string {
  return trimLineFeeds(normalizeLineEndings(text));
}
