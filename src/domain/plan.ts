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

/**
 * The source of a content in git. promptsync stores it with the version that it creates from the content. All
 * properties are absent if the content is not committed.
 */
export type Provenance = {
  /** The id of the commit that contains the content. */
  readonly commit?: string;
  /** The path of the prompt file at that commit, from the root of the repository. */
  readonly path?: string;
  /** The subject of the commit that last touched the file. */
  readonly changeSummary?: string;
};

/** The content that a prompt file has at a git ref, with the source of the content. */
export type ContentAtRef = { readonly content: Content; readonly provenance: Provenance };

/**
 * The contents that the `git:` pins of one prompt name, by ref. The result is a failure if the ref lacks the prompt.
 */
export type ContentsAtRefs = ReadonlyMap<string, Result<ContentAtRef>>;

/** Returns the content that a prompt has at a ref. Null if the ref does not have the prompt. */
export function contentAtRef(atRefs: ContentsAtRefs, ref: string): Content | null {
  const at = atRefs.get(ref);
  return at?.isSuccess === true ? at.value.content : null;
}

/**
 * Returns the contents that one prompt has at its refs.
 * @param atRefs undefined if no pin of the prompt names a ref
 */
export function listContents(atRefs: ContentsAtRefs | undefined): readonly Content[] {
  return [...(atRefs?.values() ?? [])].flatMap((at) => (at.isSuccess ? [at.value.content] : []));
}

/** A reference to a version that the plan creates: its content and, for a `git:` pin, the ref that the pin names. */
export type NewVersionRef = { readonly newContent: Content; readonly ref?: string };

/** The change that creates a version, because promptsync knows no version with this content. */
export type CreateVersion = {
  readonly kind: 'create-version';
  readonly content: Content;
  /**
   * The other contents in the plan that this version serves, too. If promptsync adopts an existing version instead,
   * that version must hold these contents as well.
   */
  readonly otherContents?: readonly Content[];
  /** The ref of the `git:` pin that names the content. Absent if the content is the file's own. */
  readonly ref?: string;
  readonly provenance: Provenance;
  /** Present if the version is a baseline. It only carries the ledger, and no pinned environment moves to it. */
  readonly baseline?: true;
  /** The version whose metadata the new version takes over. Present only if the file does not manage metadata. */
  readonly metadataFrom?: VersionWithMetadata;
};

/** The names of the fields of a prompt. A prompt has the same fields for all of its versions. */
export const FIELDS = ['key', 'name', 'description'] as const;
/** The name of one field of a prompt. */
export type FieldName = (typeof FIELDS)[number];
/** The value of a field in the service (`before`) and in the file (`after`). */
export type FieldChange = { readonly before: string; readonly after: string };

/** The change that updates the fields of a prompt. */
export type UpdatePrompt = {
  readonly kind: 'update-prompt';
  readonly fields: { readonly [Field in FieldName]?: FieldChange };
};

/**
 * Returns the fields that the file manages and that have another value in the service.
 * @param fields the fields in the service; null if prompts have no fields there
 */
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

/** The change that makes a version active in an environment. */
export type SetActive = {
  readonly kind: 'set-active';
  readonly environment: string;
  /** The version that is active before the change. Null if none is. */
  readonly before: VersionRef | null;
  readonly after: VersionRef | NewVersionRef;
};

/** One step of a plan, which writes to the service. */
export type Change = CreateVersion | UpdatePrompt | SetActive;

/** The properties that drifts of environments and drifts of fields have in common. */
type DriftCause = {
  /**
   * The kind of drift. `unfinished`: an earlier commit wanted the current state, or no version is active yet.
   * `outside`: somebody changed the service without promptsync.
   */
  readonly kind: 'outside' | 'unfinished';
  /** Whether the base and the head want the same. If so, a sync restores the state that the base wanted. */
  readonly restoresBase: boolean;
};

/** The version that a drifted environment serves. Neither the base nor the head wants it there. */
export type ServedVersion = VersionRef & {
  /** The commit that promptsync created the version from. Absent if there is none, as for a foreign version. */
  readonly commit?: string;
  /** The version number as a pin. Absent if only a pin by id can name the version. */
  readonly pin?: string;
};

/** An environment or field that differs both from what the base commit wants and from what the head wants. */
export type Drift =
  | (DriftCause & {
      readonly subject: 'environment';
      readonly environment: string;
      /** The version that the base wants. */
      readonly expected: VersionRef | NewVersionRef;
      /** The version that the environment serves. Null if no version is active there. */
      readonly observed: ServedVersion | null;
    })
  | (DriftCause & {
      readonly subject: 'field';
      readonly field: FieldName;
      readonly expected: string;
      readonly observed: string;
    });

/** The status of a prompt in a plan. `not_attempted`: the run was interrupted before promptsync observed the prompt. */
export type PlanStatus = 'unchanged' | 'pending' | 'blocked' | 'failed' | 'not_attempted';

/** The plan for one prompt. */
export type PromptPlan = {
  readonly file: PromptFile;
  /** The state that the plan is based on. Null if promptsync could not observe the prompt. */
  readonly observed: ObservedPrompt | null;
  readonly status: PlanStatus;
  /** The changes, in the order in which promptsync applies them. */
  readonly changes: readonly Change[];
  readonly drift: readonly Drift[];
  readonly problems: readonly Problem[];
  /** The pins whose versions are unknown. An apply searches for these versions before it writes anything else. */
  readonly pinsToFind: readonly Pin[];
};

/** The changes that would make the service match the files. If everything is in sync, the plan has no changes. */
export type Plan = {
  /** The plans for the prompts, sorted by the paths of their files. */
  readonly prompts: readonly PromptPlan[];
  /**
   * The digest of all changes. Two plans that do the same have the same digest, even if they come from other commits.
   */
  readonly digest: string;
};

export function isNewVersionRef(ref: VersionRef | NewVersionRef): ref is NewVersionRef {
  return 'newContent' in ref;
}

/**
 * The result of one change. `adopted`: promptsync used an existing version instead of creating one. `unknown`: the
 * response was lost, so the service may have made the change or not.
 */
export type ChangeStatus = 'made' | 'adopted' | 'not_made' | 'unknown';

/** A change of a plan, with its result after an apply. */
export type ChangeOutcome = {
  readonly change: Change;
  readonly status: ChangeStatus;
  /**
   * The version that the change created, adopted or activated. An activation that was not made names the version that
   * it would have activated, if that version was created.
   */
  readonly version?: VersionRef;
};

/** The status of a prompt after an apply. */
export type OutcomeStatus = 'unchanged' | 'applied' | 'blocked' | 'failed' | 'not_attempted';

/** The result of applying the plan for one prompt. */
export type PromptOutcome = {
  /**
   * The applied plan. It can differ from the plan that the user saw, because promptsync plans again if the service
   * changed.
   */
  readonly plan: PromptPlan;
  readonly status: OutcomeStatus;
  readonly changes: readonly ChangeOutcome[];
  readonly problems: readonly Problem[];
};

/**
 * Whether anybody other than promptsync can see the effect of a change. Only the creation of a baseline is invisible.
 */
export function isVisibleChange(change: Change): boolean {
  return change.kind !== 'create-version' || change.baseline !== true;
}

/**
 * Computes the digest of the changes of a plan. It leaves out commits, paths and change summaries, so a squash merge
 * does not change the digest. It leaves out baselines, so the first sync of another user does not change the digest. It
 * sorts prompts by id, so renaming a file does not change the digest.
 */
export function digestPlan(prompts: readonly PromptPlan[]): string {
  const digestInputs = prompts.map((prompt) => {
    const changes = prompt.changes.filter(isVisibleChange).map((change) => toDigestInput(change, prompt));
    return { id: prompt.file.id, changes };
  });
  const changing = digestInputs.filter(({ changes }) => changes.length > 0);
  return computeDigest(canonicalJson(changing.toSorted((a, b) => (a.id < b.id ? -1 : 1))));
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
 * Returns the digests of the version that a change creates or activates. For an activation, the digests are the same
 * whether the version exists already or the plan creates it. Returns null if only the id of the version is known.
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

/** Returns the digests of the version that a `create-version` change creates. */
export function computeCreatedDigests({
  content,
  metadataFrom,
}: Pick<CreateVersion, 'content' | 'metadataFrom'>): ContentDigests {
  return computeNewVersionDigests(content, metadataFrom);
}

/** Finds the change that creates the version for an activation. Returns the first one if several create its content. */
export function findCreateFor(target: NewVersionRef, changes: readonly Change[]): CreateVersion | undefined {
  return changes
    .filter((change) => change.kind === 'create-version')
    .find(({ content }) => canServeContent(content, target.newContent));
}

/** Whether two activations make the same version active, or new versions with the same content. */
export function isSameTarget(one: VersionRef | NewVersionRef, other: VersionRef | NewVersionRef): boolean {
  if (!isNewVersionRef(one)) return !isNewVersionRef(other) && one.id === other.id;
  return isNewVersionRef(other) && makeContentKey(one.newContent) === makeContentKey(other.newContent);
}
