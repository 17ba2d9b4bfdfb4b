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

export function contentDigest(text: string): Digest {
  return digestOf(comparable(text));
}

/** A text as it is compared, its digest, and how many line breaks it had at its end where they were more than one. */
export type Digested = { readonly text: string; readonly digest: Digest; readonly lineBreaks?: number };

/** Its lines end as LF, and it has no line breaks at its end: editors add and trim them. A lone carriage return is content. */
export function comparable(text: string): string {
  const lines = withLineFeeds(text);
  let end = lines.length;
  while (lines[end - 1] === '\n') end -= 1;
  return lines.slice(0, end);
}

export function digested(text: string): Digested {
  const rest = comparable(text);
  const lineBreaks = withLineFeeds(text).length - rest.length;
  return { text: rest, digest: digestOf(rest), ...(lineBreaks > 1 && { lineBreaks }) };
}

const olderDigests = new WeakMap<Digested, ReadonlySet<Digest>>();

/** Whether a digest is that of a text. Until 0.1 the line breaks at its end counted, of a file's all but the last. */
export function isDigestOf(digest: Digest, content: Digested): boolean {
  if (digest === content.digest) return true;
  const older = olderDigests.get(content) ?? digestsBefore(content);
  olderDigests.set(content, older);
  return older.has(digest);
}

function digestsBefore({ text, lineBreaks = 1 }: Digested): ReadonlySet<Digest> {
  const counts = new Set([1, 2, lineBreaks - 1, lineBreaks]);
  return new Set([...counts].map((count) => digestOf(text + '\n'.repeat(count))));
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
