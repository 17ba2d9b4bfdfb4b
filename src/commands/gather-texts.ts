import { withLineFeeds } from '../domain/digest.ts';
import { knownVersions, type KnownVersion } from '../domain/known-versions.ts';
import { isNew, type Plan, type PromptPlan, type SetActive } from '../domain/plan.ts';
import type { Version, VersionRef } from '../domain/version.ts';
import type { Repository } from '../git/repository.ts';
import type { Side, TextChange, Texts } from '../rendering/texts.ts';
import { contentInGit } from './content-in-git.ts';

/** The texts behind a plan's activations, for diffs: from the service, the files, and git for versions never read. */
export async function gatherTexts(plan: Plan, repository: Repository | null): Promise<Texts> {
  const entries = await Promise.all(
    plan.prompts.map(async (prompt): Promise<[string, readonly TextChange[]]> => [
      prompt.file.id,
      await textChanges(prompt, repository),
    ]),
  );
  return new Map(entries);
}

async function textChanges(prompt: PromptPlan, repository: Repository | null): Promise<readonly TextChange[]> {
  const { observed } = prompt;
  const activations = prompt.changes.filter((change) => change.kind === 'set-active');
  if (observed === null || activations.length === 0) return [];
  const known = knownVersions(observed);
  return Promise.all(
    activations.map(async (change): Promise<TextChange> => {
      const { environment, after } = change;
      const active = observed.active.get(environment) ?? null;
      const before = active === null ? null : sideOf(active, labelOf(change.before));
      return { environment, before, after: await sideAfter(known, after, repository) };
    }),
  );
}

async function sideAfter(
  known: readonly KnownVersion[],
  after: SetActive['after'],
  repository: Repository | null,
): Promise<TextChange['after']> {
  if (isNew(after)) {
    const { text, metadata } = after.new;
    return { label: 'new version', text, ...(metadata === undefined ? {} : { metadata }) };
  }
  const version = known.find(({ id }) => id === after.id);
  if (version === undefined) return 'unknown';
  return version.version === null ? fromGit(version, repository) : sideOf(version.version, labelOf(after));
}

/** The file at the ledger's commit, provided that it holds what the ledger says; a plan can be shown without it. */
async function fromGit(
  { commit, path, digest, metadataDigest, number }: KnownVersion,
  repository: Repository | null,
): Promise<Side | 'unknown'> {
  if (commit === undefined || path === undefined) return 'unknown';
  const content = await contentInGit(repository, commit, path);
  if (content?.digest !== digest) return 'unknown';
  const managed = content.metadataDigest === metadataDigest && content.metadata !== undefined;
  return { label: `v${number}`, text: content.text, ...(managed && { metadata: content.metadata }) };
}

function sideOf({ text, metadata, unread }: Version, label: string): Side | 'unknown' {
  return unread === true ? 'unknown' : { label, text: withLineFeeds(text), metadata };
}

function labelOf(ref: VersionRef | null): string {
  if (ref === null) return 'none';
  return ref.number === null ? ref.id : `v${ref.number}`;
}
