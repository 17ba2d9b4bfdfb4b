import type { Desired, History } from '../domain/desired.ts';
import { withLineFeeds } from '../domain/digest.ts';
import { type ChangeOutcome, isNew, type PromptOutcome, type PromptPlan, type SetActive } from '../domain/plan.ts';
import { holds, type KnownVersion, labelOf } from '../domain/versions.ts';
import type { Content } from '../domain/prompt-file.ts';
import type { Side, TextChange, Texts } from '../domain/text-changes.ts';

/** The texts behind a plan's activations, for diffs: from the service, the files, and git for versions never read. */
export function textsOf(
  prompts: readonly PromptPlan[],
  { contentsAtRefs }: Pick<Desired, 'contentsAtRefs'>,
  history: Pick<History, 'contents'>,
): Texts {
  return new Map(
    prompts.map((prompt) => {
      const atRefs = contentsAtRefs.get(prompt.file.id)?.values() ?? [];
      const refs = [...atRefs].flatMap((at) => ('content' in at ? [at.content] : []));
      return [prompt.file.id, textChanges(prompt, [prompt.file.content, ...refs], history)];
    }),
  );
}

/** @param wanted the file's own content and those that its `git:` pins mean */
function textChanges(
  { observed, changes }: PromptPlan,
  wanted: readonly Content[],
  { contents }: Pick<History, 'contents'>,
): readonly TextChange[] {
  if (observed === null) return [];
  const after = (target: SetActive['after']): TextChange['after'] => {
    if (isNew(target)) return newSide(target.new);
    const version = observed.known.find(({ id }) => id === target.id);
    if (version === undefined) return 'unknown';
    if (version.content !== null) return sideOf(version, labelOf(target));
    const content = contents.get(version.id) ?? wanted.find((one) => holds(version, one));
    return content === undefined ? 'unknown' : unreadSide(version, content, labelOf(target));
  };
  return changes
    .filter((change) => change.kind === 'set-active')
    .map((change): TextChange => {
      const active = observed.active.get(change.environment) ?? null;
      const before = active === null || change.before === null ? null : sideOf(active, labelOf(change.before));
      return { environment: change.environment, before, after: after(change.after) };
    });
}

function newSide({ text, metadata }: Content): Side {
  return { label: 'new version', text, ...(metadata === undefined ? {} : { metadata }) };
}

function sideOf({ content }: KnownVersion, label: string): Side | 'unknown' {
  return content === null ? 'unknown' : { label, text: withLineFeeds(content.text), metadata: content.metadata };
}

function unreadSide(version: KnownVersion, { text, metadata, metadataDigest }: Content, label: string): Side {
  const managed = metadataDigest === version.metadataDigest && metadata !== undefined;
  return { label, text, ...(managed && { metadata }) };
}

/** The texts of an apply, with versions that were new called by their numbers, which are known now. */
export function labelMade(texts: Texts, outcomes: readonly PromptOutcome[]): Texts {
  const changesOf = new Map(outcomes.map(({ plan, changes }) => [plan.file.id, changes]));
  return new Map([...texts].map(([id, all]) => [id, all.flatMap((one) => labelOne(one, changesOf.get(id) ?? []))]));
}

function labelOne(text: TextChange, changes: readonly ChangeOutcome[]): readonly TextChange[] {
  const { environment, after } = text;
  const made = changes.find(({ change }) => change.kind === 'set-active' && change.environment === environment);
  if (made?.version === undefined) return [text];
  // It was read and checked meanwhile, and not kept.
  if (after === 'unknown') return [];
  const label = labelOf(made.version);
  return label === after.label ? [text] : [{ ...text, after: { ...after, label } }];
}
