import type { DesiredState, PlanningHistory } from '../domain/desired-state.ts';
import {
  type Content,
  makeNewVersionContent,
  type StoredContent,
  holdsContent,
  omitDigests,
} from '../domain/content.ts';
import {
  type Change,
  listContents,
  findCreateFor,
  isNewVersionRef,
  type NewVersionRef,
  type PromptPlan,
  type SetActive,
} from '../domain/plan.ts';
import type { KnownVersion } from '../domain/versions.ts';
import type { PlannedTextChange, TextChange, TextChangesByPrompt } from '../domain/text-changes.ts';

/** Returns the texts before and after each activation of a plan, for diffs. Texts of unread versions come from git. */
export function collectTextChanges(
  prompts: readonly PromptPlan[],
  { contentsAtRefs }: Pick<DesiredState, 'contentsAtRefs'>,
  { contents }: Pick<PlanningHistory, 'contents'>,
): TextChangesByPrompt {
  return new Map(
    prompts.map((prompt) => {
      const { id, content } = prompt.file;
      return [id, textChanges(prompt, [content, ...listContents(contentsAtRefs.get(id))], contents)];
    }),
  );
}

/** @param wanted the contents of the file itself and of its `git:` pins */
function textChanges(
  { observed, changes }: PromptPlan,
  wanted: readonly Content[],
  contents: PlanningHistory['contents'],
): readonly PlannedTextChange[] {
  if (observed === null) return [];
  const after = (target: SetActive['after']): TextChange['after'] => {
    if (isNewVersionRef(target)) return contentOfNew(target, changes);
    const version = observed.known.find(({ id }) => id === target.id);
    if (version === undefined) return 'unknown';
    if (version.content !== null) return version.content;
    const content = contents.get(version.id) ?? wanted.find((one) => holdsContent(version, one));
    return content === undefined ? 'unknown' : contentOfUnread(version, content);
  };
  return changes
    .filter((change) => change.kind === 'set-active')
    .map((change): PlannedTextChange => {
      const active = observed.active.get(change.environment) ?? null;
      const before = active === null || change.before === null ? null : (active.content ?? 'unknown');
      return { change, environment: change.environment, before, after: after(change.after) };
    });
}

/**
 * Returns the content of a version that the plan creates. The version may serve several pins, so it can have metadata
 * that this pin does not manage, or metadata that it takes over from another version.
 */
function contentOfNew(target: NewVersionRef, changes: readonly Change[]): StoredContent {
  const { content, metadataFrom } = findCreateFor(target, changes) ?? { content: target.newContent };
  return makeNewVersionContent(content, metadataFrom);
}

/** Returns the content of an unread version. Its metadata is known only if the metadata digests match. */
function contentOfUnread(version: KnownVersion, content: Content): StoredContent {
  const isKnown = content.metadataDigest === version.metadataDigest;
  return { ...omitDigests(content), metadata: isKnown ? content.metadata : undefined };
}
