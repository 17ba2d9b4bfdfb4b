import { getBuiltinModule } from 'node:process';

/** `sha256:` and 64 hexadecimal digits. */
export type Digest = `sha256:${string}`;

/** What digests are made with is loaded by the first of them: a help and a validate need none. */
export function computeDigest(text: string): Digest {
  return `sha256:${getBuiltinModule('node:crypto').hash('sha256', text)}`;
}

/** The first 16 of its digits: enough to distinguish a handful where there is little room. */
export function shortDigest(digest: string): string {
  return digest.slice('sha256:'.length, 'sha256:'.length + 16);
}
