import { findCommitIdInMessage } from '../domain/commit-message.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import type { KnownVersion, VersionSource } from '../domain/versions.ts';
import type { PromptRepository } from './read-at-commit.ts';
import { findContentAtCommit, type PromptLocation } from './read-at-commit.ts';

/**
 * Returns the observed prompt with a git source for each version that has no version record but whose message contains
 * a commit id. A message alone proves nothing, so the version must also have the text of the prompt file at that
 * commit.
 */
export async function addMessageSources(
  prompt: PromptLocation,
  observed: ObservedPrompt,
  repository: PromptRepository,
): Promise<ObservedPrompt> {
  const active = [...observed.active];
  const served = active.flatMap(([, version]) => version ?? []);
  const sources = await readMessageSources(prompt, [...observed.known, ...served], repository);
  const addSource = (version: KnownVersion): KnownVersion => {
    const source = sources.get(version.id);
    return source === undefined ? version : { ...version, source };
  };
  return {
    ...observed,
    known: observed.known.map(addSource),
    active: new Map(active.map(([environment, version]) => [environment, version && addSource(version)])),
  };
}

/** Reads the git sources of the versions that have no version record, by version id. Reads each version only once. */
export async function readMessageSources(
  prompt: PromptLocation,
  versions: readonly KnownVersion[],
  repository: PromptRepository,
): Promise<ReadonlyMap<string, VersionSource>> {
  const byId = new Map(versions.map((version) => [version.id, version]));
  const sources = [...byId.values()].map(async (version): Promise<readonly [string, VersionSource][]> => {
    const source = await readMessageSource(prompt, version, repository);
    return source === null ? [] : [[version.id, source]];
  });
  return new Map((await Promise.all(sources)).flat());
}

/**
 * Reads the git source of a version from the commit id in its message. Returns null if the service shows who created
 * the version, if the clone does not have the commit, or if the file had different text at that commit.
 */
async function readMessageSource(
  { id, type, path }: PromptLocation,
  { isManaged, message = '', digest }: KnownVersion,
  repository: PromptRepository,
): Promise<VersionSource | null> {
  const shortId = isManaged === null ? findCommitIdInMessage(message) : null;
  if (shortId === null) return null;
  // `resolveRef` would prefer a branch or a tag with the name of the shortened commit id.
  const pinned = await repository.resolvePinnedRef(shortId, repository.branch);
  if (pinned.kind !== 'found') return null;
  const { commit } = pinned;
  const result = await findContentAtCommit({ id, type, path: repository.toRootPath(path) }, commit, repository);
  if (result.kind === 'missing' || result.file.content.digest !== digest) return null;
  return { digest, commit, path: result.path };
}
