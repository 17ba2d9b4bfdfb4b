import { hash } from 'node:crypto';
import { canonicalJson, withoutKey, type JsonObject } from './json.ts';

/** `sha256:` and 64 hexadecimal digits. */
export type Digest = `sha256:${string}`;

/** The metadata key that belongs to promptsync; everything else in a version's metadata is the user's. */
export const STAMP_KEY = 'promptsync';

export function digestOf(text: string): Digest {
  return `sha256:${hash('sha256', text)}`;
}

/** The first 16 of its digits: enough to tell a handful apart where there is little room. */
export function shortDigest(digest: string): string {
  return digest.slice('sha256:'.length, 'sha256:'.length + 16);
}

/** Digest of a prompt's text. CRLF and LF count as the same; a lone carriage return is content. */
export function contentDigest(content: string): Digest {
  return digestOf(withLineFeeds(content));
}

/** Digest of a version's metadata without the key `promptsync`; null counts as `{}`. */
export function metadataDigest(metadata: JsonObject | null): Digest {
  return digestOf(canonicalJson(withoutKey(metadata ?? {}, STAMP_KEY)));
}

/** What a version made without any metadata of its own has. */
export const EMPTY_METADATA_DIGEST = metadataDigest(null);

export function withLineFeeds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
