import type { Desired, History } from '../domain/desired.ts';
import { holds, type KnownVersion } from '../domain/versions.ts';
import { contentsIn, isNew, type PromptPlan, type SetActive } from '../domain/plan.ts';
import type { Content } from '../domain/prompt-file.ts';
import type { ServedTexts, Side, TextChange, Texts } from '../domain/text-changes.ts';

/** The texts behind a plan's activations, for diffs: from the service, the files, and git for versions never read. */
export function textsOf(
  prompts: readonly PromptPlan[],
  { contentsAtRefs }: Pick<Desired, 'contentsAtRefs'>,
  history: Pick<History, 'contents'>,
): Texts {
  return new Map(
    prompts.map((prompt) => {
      const { id, content } = prompt.file;
      return [id, textChanges(prompt, [content, ...contentsIn(contentsAtRefs.get(id))], history)];
    }),
  );
}

/** @param wanted the file's own content and those that its `git:` pins mean */
function textChanges(
  { observed, changes }: PromptPlan,
  wanted: readonly Content[],
  { contents }: Pick<History, 'contents'>,
): readonly ServedTexts[] {
  if (observed === null) return [];
  const after = (target: SetActive['after']): TextChange['after'] => {
    if (isNew(target)) return newSide(target.new);
    const version = observed.known.find(({ id }) => id === target.id);
    if (version === undefined) return 'unknown';
    if (version.content !== null) return sideOf(version);
    const content = contents.get(version.id) ?? wanted.find((one) => holds(version, one));
    return content === undefined ? 'unknown' : unreadSide(version, content);
  };
  return changes
    .filter((change) => change.kind === 'set-active')
    .map((change): ServedTexts => {
      const active = observed.active.get(change.environment) ?? null;
      const before = active === null || change.before === null ? null : sideOf(active);
      return { change, environment: change.environment, before, after: after(change.after) };
    });
}

function newSide({ text, metadata }: Content): Side {
  return { text, ...(metadata === undefined ? {} : { metadata }) };
}

function sideOf({ content }: KnownVersion): Side | 'unknown' {
  return content ?? 'unknown';
}

function unreadSide(version: KnownVersion, { text, metadata, metadataDigest }: Content): Side {
  const managed = metadataDigest === version.metadataDigest && metadata !== undefined;
  return { text, ...(managed && { metadata }) };
}
