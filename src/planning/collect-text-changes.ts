import { type DesiredState, getContentsAtRefs } from '../domain/desired-state.ts';
import type { PlanningHistory, PromptHistory } from '../history/prompt-history.ts';
import { canReuseVersion } from '../domain/compare-content.ts';
import { type Content, makeNewVersionContent, type StoredContent, omitDigests } from '../domain/content.ts';
import {
  type Change,
  listContentsAtRefs,
  findCreateFor,
  isNewVersionRef,
  type NewVersionRef,
  type PromptPlan,
  type SetActive,
} from '../domain/plan.ts';
import type { KnownVersion } from '../domain/versions.ts';
import type { PlannedTextChange, TextChange, TextChangesByPrompt } from '../domain/text-changes.ts';

/**
 * Returns the content before and after each activation, by prompt id. If promptsync has not read the new version, uses
 * content from git or from the file.
 */
export function collectTextChanges(
  prompts: readonly PromptPlan[],
  desired: Pick<DesiredState, 'contentsAtRefs'>,
  history: PlanningHistory,
): TextChangesByPrompt {
  return new Map(
    prompts.map((prompt) => {
      const { id, content } = prompt.file;
      const fileContents = [content, ...listContentsAtRefs(getContentsAtRefs(desired, id))];
      return [id, listTextChanges(prompt, fileContents, history.get(id)?.contents ?? new Map())];
    }),
  );
}

/** `fileContents` are the contents of the file and of each of its `git:` pins. */
function listTextChanges(
  { observed, changes }: PromptPlan,
  fileContents: readonly Content[],
  contents: PromptHistory['contents'],
): readonly PlannedTextChange[] {
  if (observed === null) return [];
  const getContentAfter = (target: SetActive['after']): TextChange['after'] => {
    if (isNewVersionRef(target)) return makeCreatedContent(target, changes);
    const version = observed.known.find(({ id }) => id === target.id);
    if (version === undefined) return 'unknown';
    if (version.content !== null) return version.content;
    const content = contents.get(version.id) ?? fileContents.find((one) => canReuseVersion(version, one));
    return content === undefined ? 'unknown' : makeUnreadContent(version, content);
  };
  return changes
    .filter((change) => change.kind === 'set-active')
    .map((change): PlannedTextChange => {
      const active = observed.active.get(change.environment) ?? null;
      const before = active === null || change.before === null ? null : (active.content ?? 'unknown');
      return { change, environment: change.environment, before, after: getContentAfter(change.after) };
    });
}

/**
 * The version may have metadata that the pinned content does not manage: another pin may need it, or the version copies
 * the metadata of an existing version.
 */
function makeCreatedContent(target: NewVersionRef, changes: readonly Change[]): StoredContent {
  const { content, metadataFrom } = findCreateFor(target, changes) ?? { content: target.newContent };
  return makeNewVersionContent(content, metadataFrom);
}

/**
 * Returns the content of a version that promptsync has not read. `content` has the same text. Its metadata counts only
 * if the metadata digests match. Otherwise, the metadata is undefined, because it is unknown.
 */
function makeUnreadContent(version: KnownVersion, content: Content): StoredContent {
  const isKnown = content.metadataDigest === version.metadataDigest;
  return { ...omitDigests(content), metadata: isKnown ? content.metadata : undefined };
}
