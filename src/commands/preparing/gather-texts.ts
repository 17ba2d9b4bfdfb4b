import { withLineFeeds } from '../../domain/digest.ts';
import { holds, knownVersions, type KnownVersion } from '../../domain/known-versions.ts';
import { isNew, type Plan, type PromptPlan, type SetActive } from '../../domain/plan.ts';
import type { Content } from '../../domain/prompt-file.ts';
import type { Version } from '../../domain/version.ts';
import type { Repository } from '../../git/repository.ts';
import type { ServedTexts, Side, TextChange, Texts } from '../../domain/texts.ts';
import { contentInGit } from '../past/content-in-git.ts';
import { contentsIn } from '../past/contents-at-refs.ts';
import type { Prepared } from './prepare-plan.ts';

/** Where a text is found that the service did not show. */
type Sources = Pick<Prepared, 'repository' | 'rules'>;

/** The texts behind a plan's activations, for diffs: from the service, the files, and git for versions never read. */
export async function gatherTexts(plan: Pick<Plan, 'prompts'>, sources: Sources): Promise<Texts> {
  const entries = await Promise.all(
    plan.prompts.map(async (prompt): Promise<[string, readonly ServedTexts[]]> => [
      prompt.file.id,
      await textChanges(prompt, sources),
    ]),
  );
  return new Map(entries);
}

async function textChanges(prompt: PromptPlan, { repository, rules }: Sources): Promise<readonly ServedTexts[]> {
  const { observed } = prompt;
  const activations = prompt.changes.filter((change) => change.kind === 'set-active');
  if (observed === null || activations.length === 0) return [];
  const known = knownVersions(observed);
  const wanted = wantedContents(prompt, rules);
  return Promise.all(
    activations.map(async (change): Promise<ServedTexts> => {
      const { environment, before: ref, after } = change;
      const active = observed.active.get(environment) ?? null;
      const before = active === null || ref === null ? null : sideOf(active);
      return { change, environment, before, after: await sideAfter(after, known, wanted, repository) };
    }),
  );
}

/** The file's own content and those that its `git:` pins mean. */
function wantedContents({ file }: PromptPlan, { contentsAtRefs }: Sources['rules']): readonly Content[] {
  return [file.content, ...contentsIn(contentsAtRefs.get(file.id))];
}

async function sideAfter(
  after: SetActive['after'],
  known: readonly KnownVersion[],
  wanted: readonly Content[],
  repository: Repository | null,
): Promise<TextChange['after']> {
  if (isNew(after)) {
    const { text, metadata } = after.new;
    return { text, ...(metadata === undefined ? {} : { metadata }) };
  }
  const version = known.find(({ id }) => id === after.id);
  if (version === undefined) return 'unknown';
  if (version.version !== null) return sideOf(version.version);
  const content = (await fromGit(version, repository)) ?? wanted.find((content) => holds(version, content));
  if (content === undefined) return 'unknown';
  const managed = content.metadataDigest === version.metadataDigest && content.metadata !== undefined;
  return { text: content.text, ...(managed && { metadata: content.metadata }) };
}

/** The file at the ledger's commit, provided that it holds what the ledger says; a plan can be shown without it. */
async function fromGit({ commit, path, digest }: KnownVersion, repository: Repository | null): Promise<Content | null> {
  if (commit === undefined || path === undefined) return null;
  const content = await contentInGit(repository, commit, path);
  return content?.digest === digest ? content : null;
}

function sideOf({ text, metadata, unread }: Version): Side | 'unknown' {
  return unread === true ? 'unknown' : { text: withLineFeeds(text), metadata };
}
