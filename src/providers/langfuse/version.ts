import { computeDigest, computeShortDigest } from '../../domain/digest.ts';
import { digestChat, digestText, type StoredContent } from '../../domain/content.ts';
import { renderCanonicalJson, type JsonValue } from '../../domain/json.ts';
import type { PromptBody } from '../../domain/served-prompt.ts';
import type { KnownVersion, VersionTimes } from '../../domain/versions.ts';

export type LangfusePrompt = PromptBody['prompt'];

/** A version as Langfuse stores it. Composition tags, which embed other prompts, are not yet replaced. */
export type RawLangfuseVersion = {
  readonly number: number;
  readonly prompt: LangfusePrompt;
  /** promptsync treats the config as metadata. */
  readonly config: JsonValue;
  readonly labels: readonly string[];
  /** The commit message. */
  readonly message: string | null;
  /** Null if Langfuse, or a gateway in front of it, omits the times. */
  readonly times: VersionTimes | null;
  /** The id of the user who created the version, or `API`. Null if it is unknown. */
  readonly createdBy: string | null;
  /** Null if it is unknown. */
  readonly projectId: string | null;
};

/** A version that promptsync has read from Langfuse. */
export type RemoteLangfuseVersion = KnownVersion &
  Pick<RawLangfuseVersion, 'labels' | 'projectId'> & {
    /** The text, normalized for comparison, and the config of the version. */
    readonly content: StoredContent<JsonValue>;
    /** The approximate memory use of the version, in bytes. */
    readonly size: number;
  };

/** The memory use of a parsed config per character of its JSON. It is high, because even `{}` takes over 50 bytes. */
const CONFIG_BYTES_PER_CHARACTER = 20;

/**
 * `staysKnown` is true, because any version can be read again by its number. `isManaged` is null, because Langfuse does
 * not show who created a version. `id` contains a digest, because Langfuse reuses the numbers of deleted versions.
 * Therefore an id in a plan always refers to the same content.
 */
export function digestVersion(raw: RawLangfuseVersion): RemoteLangfuseVersion {
  const { number, prompt, config, labels, message, times, createdBy, projectId } = raw;
  const { type, text, digest } = typeof prompt === 'string' ? digestText(prompt) : digestChat(prompt);
  const configJson = renderCanonicalJson(config);
  return {
    id: `${number}-${computeShortDigest(renderCanonicalJson([prompt, config]))}`,
    number,
    digest,
    labels,
    projectId,
    size: text.length + configJson.length * CONFIG_BYTES_PER_CHARACTER,
    // promptsync stores nothing in the config, so even a key named `promptsync` belongs to the user.
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
