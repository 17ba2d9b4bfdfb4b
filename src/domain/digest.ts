import { getBuiltinModule } from 'node:process';
import { canonicalJson, withoutKey, type JsonObject } from './json.ts';

/** `sha256:` and 64 hexadecimal digits. */
export type Digest = `sha256:${string}`;

/** The metadata key that belongs to promptsync; everything else in a version's metadata is the user's. */
export const RESERVED_KEY = 'promptsync';

/** What digests are made with is loaded by the first of them: a help and a validate need none. */
export function digestOf(text: string): Digest {
  return `sha256:${getBuiltinModule('node:crypto').hash('sha256', text)}`;
}

/** The first 16 of its digits: enough to distinguish a handful where there is little room. */
export function shortDigest(digest: string): string {
  return digest.slice('sha256:'.length, 'sha256:'.length + 16);
}

/** Digest of a prompt's text. CRLF and LF count as the same; a lone carriage return is content. */
export function contentDigest(content: string): Digest {
  return digestOf(withLineFeeds(content));
}

/** Digest of a version's metadata without the key `promptsync`; null counts as `{}`. */
export function metadataDigest(metadata: JsonObject | null): Digest {
  return digestOf(canonicalJson(withoutKey(metadata ?? {}, RESERVED_KEY)));
}

/** What a version made without any metadata of its own has. */
export const EMPTY_METADATA_DIGEST: Digest = 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';

export function withLineFeeds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
