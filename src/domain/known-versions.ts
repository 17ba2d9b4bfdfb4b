import { EMPTY_METADATA_DIGEST } from './digest.ts';
import type { KnownVersion, Observed, VersionFacts } from './observed.ts';
import { followsLatest, type Content, type EnvironmentPin, type Pin, type PromptFile } from './prompt-file.ts';
import type { ContentAtRef } from './plan.ts';
import type { Problem } from '../problem.ts';

/**
 * Whether a version holds a wanted content. Where the file manages no metadata, any metadata of a version that
 * promptsync made will do, and of another's none: it may carry settings that nobody has reviewed.
 */
export function holds(version: Omit<VersionFacts, 'id' | 'number'>, content: Content): boolean {
  if (version.digest !== content.digest) return false;
  if (content.metadataDigest !== undefined) return version.metadataDigest === content.metadataDigest;
  return version.ours || version.metadataDigest === EMPTY_METADATA_DIGEST;
}

/** The version to use for a content: one that promptsync made before another's, then the newest. */
export function findContent<Known extends VersionFacts>(known: readonly Known[], content: Content): Known | undefined {
  const holding = known.filter((version) => holds(version, content));
  return holding.find(({ ours }) => ours) ?? holding[0];
}

/** The version that a number or an id names; undefined where it is not known, and for pins that name a content. */
export function findNamed<Known extends VersionFacts>(known: readonly Known[], pin: Pin): Known | undefined {
  if (pin.kind === 'number') return known.find(({ number }) => number === pin.number);
  return pin.kind === 'version' ? known.find(({ id }) => id === pin.id) : undefined;
}

/** Whether a version between two numbers is not known. Numbers come from the service, and may be as large as they like. */
export function hasGap(known: readonly VersionFacts[], older: number, newer: number): boolean {
  const between = known.map(({ number }) => number).filter((number) => number > older && number < newer);
  return new Set(between).size < newer - older - 1;
}

/** A content as the service can hold it: where it drops metadata, a text without any is all that it ever shows. */
export function asHeld({ text, digest, ...rest }: Content, metadata: Observed['metadata']): Content {
  return metadata === 'dropped' ? { text, digest } : { text, digest, ...rest };
}

/** What the `git:` pins of a prompt mean, by ref, or why they mean nothing. */
export type ContentsAtRefs = ReadonlyMap<string, ContentAtRef | Problem>;

/** What a pin asks for: nothing, a known version, a content that no known version holds, or what nobody knows. */
export type Meaning =
  | { readonly kind: 'in-sync' }
  | { readonly kind: 'known'; readonly version: KnownVersion }
  | { readonly kind: 'new'; readonly content: Content; readonly ref?: string }
  | { readonly kind: 'unknown' };

/** Compares a pin with what its environment serves. Equal content is in sync whatever its id: such pins name content. */
export function meaningOf(
  { environment, pin }: EnvironmentPin,
  file: PromptFile,
  { active, known, metadata }: Observed,
  atRefs: ContentsAtRefs,
): Meaning {
  const serves = active.get(environment) ?? null;
  const content = wantedContent(pin, file, atRefs);
  const sought = content === null ? null : asHeld(content, metadata);
  const isServed =
    serves !== null && (sought === null ? findNamed([serves], pin) !== undefined : holds(serves, sought));
  if (isServed) return { kind: 'in-sync' };
  const version = sought === null ? findNamed(known, pin) : findContent(known, sought);
  if (version !== undefined) return { kind: 'known', version };
  if (content === null) return { kind: 'unknown' };
  return { kind: 'new', content, ...(pin.kind === 'git' && { ref: pin.ref }) };
}

/** The content that a pin names; null for numbers and ids, and for refs that have none. */
function wantedContent(pin: Pin, file: PromptFile, atRefs: ContentsAtRefs): Content | null {
  if (pin.kind === 'latest') return file.content;
  const at = pin.kind === 'git' ? atRefs.get(pin.ref) : undefined;
  return at !== undefined && 'content' in at ? at.content : null;
}

/**
 * Whether a version of the file's own content is to be made. It is made even when no pin follows it; then somebody
 * else's version of equal content does not stand in for it, unless it is found again later.
 */
export function wantsOwnVersion(file: PromptFile, observed: Observed, meanings: readonly Meaning[]): boolean {
  if (followsLatest(file)) return meanings.some((one) => one.kind === 'new' && one.content === file.content);
  const left = file.pins.filter(({ pin }, at) => leaves(meanings[at], pin, observed));
  return !observed.remembers(file.content, new Set(left.map(({ environment }) => environment)));
}

/** Whether an environment is to serve something else. An id is a promise by itself: unknown ones are planned for. */
function leaves(meaning: Meaning | undefined, pin: Pin, { missing }: Observed): boolean {
  if (meaning?.kind === 'unknown') return pin.kind === 'version' && !missing.includes(pin.id);
  return meaning?.kind === 'known' || meaning?.kind === 'new';
}
