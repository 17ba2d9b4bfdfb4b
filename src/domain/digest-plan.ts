import { digestOf } from './digest.ts';
import { canonicalJson, type JsonValue } from './json.ts';
import { type Change, isNew, type NewVersionRef, type PromptPlan } from './plan.ts';
import type { Content } from './prompt-file.ts';
import type { VersionRef } from './versions.ts';

/**
 * A digest over what would be done. Commits, paths and change summaries are left out: a squash merge keeps it.
 * Prompts are ordered by id, so that a renamed file keeps it as well.
 */
export function digestPlan(prompts: readonly PromptPlan[]): string {
  const changing = prompts.filter((prompt) => prompt.changes.length > 0);
  const rows = changing.map(({ file, changes }) => ({ id: file.id, changes: changes.map(digestible) }));
  return digestOf(canonicalJson(rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))));
}

function digestible(change: Change): JsonValue {
  switch (change.kind) {
    case 'create-version':
      return { kind: change.kind, content: contentKey(change.content) };
    case 'update-prompt':
      return { kind: change.kind, fields: { ...change.fields } };
    case 'set-active':
      return {
        kind: change.kind,
        environment: change.environment,
        before: change.before === null ? null : change.before.id,
        after: targetKey(change.after),
      };
  }
}

/** Whether two activations lead to the same version or content. */
export function isSameTarget(one: VersionRef | NewVersionRef, other: VersionRef | NewVersionRef): boolean {
  return canonicalJson(targetKey(one)) === canonicalJson(targetKey(other));
}

function targetKey(after: VersionRef | NewVersionRef): JsonValue {
  return isNew(after) ? { new: contentKey(after.new) } : after.id;
}

function contentKey({ digest, metadataDigest }: Content): JsonValue {
  return { digest, metadata: metadataDigest ?? null };
}
