import { getBuiltinModule } from 'node:process';

/** The string `sha256:` followed by 64 hexadecimal digits. */
export type Digest = `sha256:${string}`;

/** Loads `node:crypto` only on the first call, because `--help` needs no digest. */
export function computeDigest(text: string): Digest {
  return `sha256:${getBuiltinModule('node:crypto').hash('sha256', text)}`;
}

/** Returns the first 16 hexadecimal digits of the digest, which are enough to tell a handful of texts apart. */
export function computeShortDigest(text: string): string {
  return computeDigest(text).slice('sha256:'.length, 'sha256:'.length + 16);
}
