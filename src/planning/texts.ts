import type { Desired, History } from '../domain/desired.ts';
import { holds } from '../domain/versions.ts';
import {
  type Change,
  contentsIn,
  createFor,
  isNew,
  type NewVersionRef,
  type PromptPlan,
  type SetActive,
} from '../domain/plan.ts';
import type { Content } from '../domain/prompt-file.ts';
import type { ServedTexts, Side, TextChange, Texts } from '../domain/text-changes.ts';

/** The texts behind a plan's activations, for diffs: from the service, the files, and git for versions never read. */
export function textsOf(
  prompts: readonly PromptPlan[],
  { contentsAtRefs }: Pick<Desired, 'contentsAtRefs'>,
  { contents }: Pick<History, 'contents'>,
): Texts {
  return new Map(
    prompts.map((prompt) => {
      const { id, content } = prompt.file;
      return [id, textChanges(prompt, [content, ...contentsIn(contentsAtRefs.get(id))], contents)];
    }),
  );
}

/** @param wanted the file's own content and those that its `git:` pins mean */
function textChanges({ observed, changes }: PromptPlan, wanted: readonly Content[], contents: History['contents']) {
  if (observed === null) return [];
  const after = (target: SetActive['after']): TextChange['after'] => {
    if (isNew(target)) return newSide(target, changes);
    const version = observed.known.find(({ id }) => id === target.id);
    if (version === undefined) return 'unknown';
    if (version.content !== null) return version.content;
    const content = contents.get(version.id) ?? wanted.find((one) => holds(version, one));
    return content === undefined ? 'unknown' : sideOf(content, content.metadataDigest === version.metadataDigest);
  };
  return changes
    .filter((change) => change.kind === 'set-active')
    .map((change): ServedTexts => {
      const active = observed.active.get(change.environment) ?? null;
      const before = active === null || change.before === null ? null : (active.content ?? 'unknown');
      return { change, environment: change.environment, before, after: after(change.after) };
    });
}

/** The version that the plan creates may have other metadata than the pin asks for, or metadata taken over. */
function newSide(target: NewVersionRef, changes: readonly Change[]): Side {
  const { content, metadataFrom } = createFor(target, changes) ?? { content: target.new };
  const metadata = content.metadata ?? metadataFrom?.metadata;
  return { text: content.text, ...(metadata !== undefined && { metadata }) };
}

/** Of a version that was not read, its metadata may be other than what the file or git has. */
function sideOf({ text, metadata }: Content, isManaged = true): Side {
  return { text, ...(isManaged && metadata !== undefined && { metadata }) };
}
