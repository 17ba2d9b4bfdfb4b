import { findCommitIdInMessage } from '../domain/commit-message.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import type { KnownVersion, VersionSource } from '../domain/versions.ts';
import type { PromptRepository } from './read-at-commit.ts';
import { findContentAtCommit, type PromptLocation } from './read-at-commit.ts';

/** A commit id in a message proves nothing, so the version must also have the text of the file at that commit. */
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

/** Returns the sources by version id, for versions without a version record. Reads each version only once. */
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

/** Returns null if the service shows the creator, if the clone lacks the commit, or if the text differs there. */
async function readMessageSource(
  { id, type, path }: PromptLocation,
  { isManaged, message = '', digest }: KnownVersion,
  repository: PromptRepository,
): Promise<VersionSource | null> {
  const shortId = isManaged === null ? findCommitIdInMessage(message) : null;
  if (shortId === null) return null;
  // `resolveRef` would prefer a branch or a tag with the name of the shortened commit id.
  const pinned = await repository.resolvePinnedRef(shortId);
  if (pinned.kind !== 'found') return null;
  const { commit } = pinned;
  const result = await findContentAtCommit({ id, type, path: repository.toRootPath(path) }, commit, repository);
  if (result.kind === 'missing' || result.file.content.digest !== digest) return null;
  return { digest, commit, path: result.path };
}
