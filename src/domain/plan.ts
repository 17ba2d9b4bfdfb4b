import { computeDigest } from './digest.ts';
import {
  type Content,
  type ContentDigests,
  mapDigestsByProperty,
  type DigestsByProperty,
  computeNewVersionDigests,
  makeContentKey,
  canServeContent,
} from './content.ts';
import { canonicalJson, type JsonValue } from './json.ts';
import type { ObservedPrompt, ObservedFields } from './observed-prompt.ts';
import type { VersionRef, VersionWithMetadata } from './versions.ts';
import type { Pin, PromptFile } from './prompt-file.ts';
import type { Result } from './result.ts';
import type { Problem } from '../problem.ts';

/** Where a content comes from: what a version that is made of it says of itself. All absent when it was not committed. */
export type Provenance = {
  readonly commit?: string;
  /** From the repository's root. */
  readonly path?: string;
  /** Subject of the commit that last touched the file. */
  readonly changeSummary?: string;
};

export type ContentAtRef = { readonly content: Content; readonly provenance: Provenance };

/** The contents that the `git:` pins of one prompt name, by ref. Some refs do not exist, or do not have the prompt. */
export type ContentsAtRefs = ReadonlyMap<string, Result<ContentAtRef>>;

/** Returns the content that a prompt has at a ref. Returns null if it has none there. */
export function contentAtRef(atRefs: ContentsAtRefs, ref: string): Content | null {
  const at = atRefs.get(ref);
  return at?.isSuccess === true ? at.value.content : null;
}

/** Returns the contents that one prompt has at its refs. Undefined stands for a prompt without refs. */
export function listContents(atRefs: ContentsAtRefs | undefined): readonly Content[] {
  return [...(atRefs?.values() ?? [])].flatMap((at) => (at.isSuccess ? [at.value.content] : []));
}

/** A version that this plan makes, named by its content, and by the ref that a `git:` pin has it from. */
export type NewVersionRef = { readonly newContent: Content; readonly ref?: string };

/** Makes a version of a content that the service is not known to have. */
export type CreateVersion = {
  readonly kind: 'create-version';
  readonly content: Content;
  /** What else this version is for: it serves all of them. What is adopted in its place has to hold them as well. */
  readonly otherContents?: readonly Content[];
  /** The `git:` pin that the content is for; absent for the file's own. */
  readonly ref?: string;
  readonly provenance: Provenance;
  /** It only carries promptsync's record: no environment is moved to it. */
  readonly baseline?: true;
  /** The version whose metadata it takes over, because the file manages none. */
  readonly metadataFrom?: VersionWithMetadata;
};

export const FIELDS = ['key', 'name', 'description'] as const;
/** A field of the prompt itself, which is the same for all of its versions. */
export type FieldName = (typeof FIELDS)[number];
/** What the service has, and what the file has. */
export type FieldChange = { readonly before: string; readonly after: string };

export type UpdatePrompt = {
  readonly kind: 'update-prompt';
  readonly fields: { readonly [Field in FieldName]?: FieldChange };
};

/** The fields that a file manages and that stand otherwise in the service. */
export function changedFields(
  file: Pick<PromptFile, FieldName>,
  fields: ObservedFields | null,
): UpdatePrompt['fields'] {
  if (fields === null) return {};
  const entries = FIELDS.flatMap((field): [FieldName, FieldChange][] => {
    const after = file[field];
    return after === undefined || after === fields[field] ? [] : [[field, { before: fields[field], after }]];
  });
  return Object.fromEntries(entries);
}

/** Makes a version the active one of an environment; before is null where none is active. */
export type SetActive = {
  readonly kind: 'set-active';
  readonly environment: string;
  readonly before: VersionRef | null;
  readonly after: VersionRef | NewVersionRef;
};

/** One step of a plan, and one write to the service. */
export type Change = CreateVersion | UpdatePrompt | SetActive;

type Deviation = {
  /**
   * `outside`: somebody moved the service. `unfinished`: an earlier commit wanted what stands there, or nothing stands
   * there yet.
   */
  readonly kind: 'outside' | 'unfinished';
  /** Both want the same: a sync would only put it back. */
  readonly restoresBase: boolean;
};

/** A version that an environment serves although no file says so, and the commit that it was made from, if any. */
export type ServedVersion = VersionRef & {
  readonly commit?: string;
  /** The number that pins it; absent where only its id does. */
  readonly pin?: string;
};

/** An environment or field that differs both from what the base commit wants and from what the head wants. */
export type Drift =
  | (Deviation & {
      readonly subject: 'environment';
      readonly environment: string;
      readonly expected: VersionRef | NewVersionRef;
      readonly observed: ServedVersion | null;
    })
  | (Deviation & {
      readonly subject: 'field';
      readonly field: FieldName;
      readonly expected: string;
      readonly observed: string;
    });

/** `not_attempted`: the run was interrupted before the prompt was observed. */
export type PlanStatus = 'unchanged' | 'pending' | 'blocked' | 'failed' | 'not_attempted';

/** What is to be done for one prompt, in order. */
export type PromptPlan = {
  readonly file: PromptFile;
  /** Null when the prompt could not be observed. */
  readonly observed: ObservedPrompt | null;
  readonly status: PlanStatus;
  readonly changes: readonly Change[];
  readonly drift: readonly Drift[];
  readonly problems: readonly Problem[];
  /** Pins of versions that nobody knows, which an apply looks for before it goes on. */
  readonly pinsToFind: readonly Pin[];
};

/** The changes that would make the service match the files; a plan without changes is a plan. */
export type Plan = {
  /** In the order of the files' paths. */
  readonly prompts: readonly PromptPlan[];
  /** Stable over everything that would be done, whatever commit it comes from. */
  readonly digest: string;
};

export function isNewVersionRef(ref: VersionRef | NewVersionRef): ref is NewVersionRef {
  return 'newContent' in ref;
}

/** `adopted`: the version was there already; `unknown`: the answer was lost. */
export type ChangeStatus = 'made' | 'adopted' | 'not_made' | 'unknown';

export type ChangeOutcome = {
  readonly change: Change;
  readonly status: ChangeStatus;
  /** The version that was made, or that is active from now on. */
  readonly version?: VersionRef;
};

export type OutcomeStatus = 'unchanged' | 'applied' | 'blocked' | 'failed' | 'not_attempted';

/** What became of one prompt's plan. */
export type PromptOutcome = {
  /** The plan that was carried out; it may be newer than the one that was shown. */
  readonly plan: PromptPlan;
  readonly status: OutcomeStatus;
  readonly changes: readonly ChangeOutcome[];
  readonly problems: readonly Problem[];
};

/** Whether a change is seen by anybody but promptsync: a baseline is not. */
export function isVisibleChange(change: Change): boolean {
  return change.kind !== 'create-version' || change.baseline !== true;
}

/**
 * A digest over what would be done. Commits, paths, change summaries and baselines are left out: a squash merge keeps
 * it, and nobody else's first sync changes it. Prompts are ordered by id, so that a renamed file keeps it as well.
 */
export function digestPlan(prompts: readonly PromptPlan[]): string {
  const all = prompts.map((prompt) => {
    const changes = prompt.changes.filter(isVisibleChange).map((change) => toDigestInput(change, prompt));
    return { id: prompt.file.id, changes };
  });
  const rows = all.filter(({ changes }) => changes.length > 0);
  return computeDigest(canonicalJson(rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))));
}

function toDigestInput(change: Change, prompt: PromptPlan): JsonValue {
  switch (change.kind) {
    case 'create-version':
      return { kind: change.kind, content: computeDigestsAfter(change, prompt) };
    case 'update-prompt':
      return { kind: change.kind, fields: { ...change.fields } };
    case 'set-active':
      return {
        kind: change.kind,
        environment: change.environment,
        before: change.before === null ? null : change.before.id,
        after: isNewVersionRef(change.after) ? null : change.after.id,
        content: computeDigestsAfter(change, prompt),
      };
  }
}

/**
 * Returns the digests of the version that a change creates or activates. For an activation, they are the same whether
 * the plan still has to create that version or it exists already. Returns null for a version of which only the id is
 * known.
 */
export function computeDigestsAfter(
  change: CreateVersion | SetActive,
  { changes, observed }: Pick<PromptPlan, 'changes' | 'observed'>,
): DigestsByProperty | null {
  if (change.kind === 'create-version') return mapDigestsByProperty(computeCreatedDigests(change));
  const { after } = change;
  if (isNewVersionRef(after)) {
    return mapDigestsByProperty(computeCreatedDigests(findCreateFor(after, changes) ?? { content: after.newContent }));
  }
  const version = observed?.known.find(({ id }) => id === after.id);
  return version === undefined ? null : mapDigestsByProperty(version);
}

/** Returns the digests of the version that a create makes. */
export function computeCreatedDigests({
  content,
  metadataFrom,
}: Pick<CreateVersion, 'content' | 'metadataFrom'>): ContentDigests {
  return computeNewVersionDigests(content, metadataFrom);
}

/** Finds the create whose version serves an activation: the first one, if several have its text. */
export function findCreateFor(target: NewVersionRef, changes: readonly Change[]): CreateVersion | undefined {
  return changes
    .filter((change) => change.kind === 'create-version')
    .find(({ content }) => canServeContent(content, target.newContent));
}

/** Whether two activations lead to the same version or content. */
export function isSameTarget(one: VersionRef | NewVersionRef, other: VersionRef | NewVersionRef): boolean {
  if (!isNewVersionRef(one) || !isNewVersionRef(other))
    return !isNewVersionRef(one) && !isNewVersionRef(other) && one.id === other.id;
  return makeContentKey(one.newContent) === makeContentKey(other.newContent);
}
