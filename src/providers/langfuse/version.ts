import { computeDigest, shortenDigest } from '../../domain/digest.ts';
import { digestChat, digestText, type StoredContent } from '../../domain/content.ts';
import { renderCanonicalJson, type JsonValue } from '../../domain/json.ts';
import type { PromptBody } from '../../domain/served-prompt.ts';
import type { KnownVersion, VersionTimes } from '../../domain/versions.ts';

/** What Langfuse stores in the property `prompt` of a version: the text of a text prompt, or the messages of a chat prompt. */
export type LangfusePrompt = PromptBody['prompt'];

/** A version as Langfuse stores it. Composition tags, which embed other prompts, are not yet replaced. */
export type RawLangfuseVersion = {
  readonly number: number;
  readonly prompt: LangfusePrompt;
  /** promptsync treats the config as metadata. */
  readonly config: JsonValue;
  readonly labels: readonly string[];
  /** The commit message of the version. Null if it has none. */
  readonly message: string | null;
  /** Null if Langfuse, or a gateway in front of it, omits the times. */
  readonly times: VersionTimes | null;
  /** The id of the user who created the version, or `API`. Null if it is unknown. */
  readonly createdBy: string | null;
  /** The id of the Langfuse project. Null if it is unknown. */
  readonly projectId: string | null;
};

/** A version that promptsync has read from Langfuse. Extends `KnownVersion` with the labels and the content. */
export type RemoteLangfuseVersion = KnownVersion &
  Pick<RawLangfuseVersion, 'labels' | 'projectId'> & {
    /** The text, normalized for comparison, and the config of the version. */
    readonly content: StoredContent<JsonValue>;
    /** The approximate memory use of the version, in bytes. */
    readonly size: number;
  };

/**
 * The estimated memory use of a parsed config, in bytes per character of its JSON. The factor is high, because even
 * `{}` takes more than 50 bytes.
 */
const CONFIG_BYTES_PER_CHARACTER = 20;

/**
 * Converts a Langfuse version to a `KnownVersion`:
 * - `staysKnown` is true, because promptsync can read any version again by its number.
 * - `isManaged` is null, because Langfuse does not show who created a version. promptsync recognizes versions by
 *   comparing their content with git instead.
 * - `id` contains a digest of the text or the messages and of the config, because Langfuse reuses the numbers of deleted
 *   versions. Therefore an id in a plan always refers to the same content.
 */
export function digestVersion(raw: RawLangfuseVersion): RemoteLangfuseVersion {
  const { number, prompt, config, labels, message, times, createdBy, projectId } = raw;
  const { type, text, digest } = typeof prompt === 'string' ? digestText(prompt) : digestChat(prompt);
  const configJson = renderCanonicalJson(config);
  return {
    id: `${number}-${shortenDigest(computeDigest(renderCanonicalJson([prompt, config])))}`,
    number,
    digest,
    labels,
    projectId,
    size: text.length + configJson.length * CONFIG_BYTES_PER_CHARACTER,
    // The digest covers the whole config. promptsync stores nothing in the config, so even a key named `promptsync`
    // belongs to the user.
    metadataDigest: computeDigest(configJson),
    isManaged: null,
    staysKnown: true,
    source: null,
    content: { type, text, metadata: config },
    ...(message !== null && { message }),
    ...(times !== null && { times }),
    ...(createdBy !== null && { createdBy }),
  };
}
