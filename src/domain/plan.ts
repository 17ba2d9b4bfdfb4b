import { computeDigest } from './digest.ts';
import { isInSync, isSameFileContent } from './compare-content.ts';
import {
  type Content,
  type ContentDigests,
  mapDigestsByProperty,
  type DigestsByProperty,
  computeNewVersionDigests,
} from './content.ts';
import { renderCanonicalJson, type JsonValue } from './json.ts';
import type { ObservedPrompt, ObservedFields } from './observed-prompt.ts';
import type { VersionRef, VersionWithMetadata } from './versions.ts';
import type { Pin, PromptFile } from './prompt-file.ts';
import type { Result } from './result.ts';
import type { Problem } from '../problem.ts';

/** The source of content in git, stored with a new version. All properties are absent if it is not committed. */
export type Provenance = {
  /** The id of the commit that contains the content. */
  readonly commit?: string;
  /** The path of the prompt file at that commit, relative to the repository root. */
  readonly path?: string;
  /** The subject of the commit that last changed the file. */
  readonly changeSummary?: string;
  /** The id of the commit that last changed the file. Absent if it is the same as `commit`, or unknown. */
  readonly changeCommit?: string;
};

/** The source has no change summary, because promptsync reads it only for versions that it has to create. */
export type ContentAtRef = { readonly content: Content; readonly provenance: Provenance };

/** The content by the ref of a `git:` pin. The value is a failure if the ref does not contain the prompt. */
export type ContentsAtRefs = ReadonlyMap<string, Result<ContentAtRef>>;

export function findContentAtRef(atRefs: ContentsAtRefs, ref: string): Content | null {
  const at = atRefs.get(ref);
  return at?.isSuccess === true ? at.value.content : null;
}

/** Omits refs that do not contain the prompt. */
export function listContentsAtRefs(atRefs: ContentsAtRefs): readonly Content[] {
  return [...atRefs.values()].flatMap((at) => (at.isSuccess ? [at.value.content] : []));
}

/** A version that the plan creates, identified by its content. `ref` is the ref of its `git:` pin, if any. */
export type NewVersionRef = { readonly newContent: Content; readonly ref?: string };

/** A reference to a version that a pin names by its number but that promptsync does not know. */
export type UnknownVersionRef = { readonly id: null; readonly number: number };

export type WantedVersionRef = VersionRef | NewVersionRef | UnknownVersionRef;

/** A change that creates a version, because promptsync knows no version with this content that it could reuse. */
export type CreateVersion = {
  readonly kind: 'create-version';
  readonly content: Content;
  /**
   * Other content that this version can serve, too, such as the same text without managed metadata. promptsync adopts
   * an existing version only if it matches this content as well.
   */
  readonly otherContents?: readonly Content[];
  /** The ref of the `git:` pin that the content comes from. Absent if the content is the file's own. */
  readonly ref?: string;
  readonly provenance: Provenance;
  /** Present if the version is a baseline. It exists only to store the ledger, so no pinned environment moves to it. */
  readonly baseline?: true;
  /** Present if the prompt does not exist yet, so that the service creates it with this version. */
  readonly createsPrompt?: true;
  /** The version whose metadata the new version copies. Present only if the file does not manage metadata. */
  readonly metadataFrom?: VersionWithMetadata;
  /** The first environment in promotion order, if it has no pin, allows `latest`, and no pin uses the version. */
  readonly missingPin?: string;
};

/** The names of the fields of a prompt. Fields belong to the prompt itself, so all of its versions share them. */
export const FIELDS = ['key', 'name', 'description'] as const;
export type FieldName = (typeof FIELDS)[number];
/** The value in the service (`before`) and in the file (`after`). */
export type FieldChange = { readonly before: string; readonly after: string };

export type UpdatePrompt = {
  readonly kind: 'update-prompt';
  readonly fields: { readonly [Field in FieldName]?: FieldChange };
};

/** Returns the managed fields that differ. `fields` is null if the service stores no fields for prompts. */
export function compareFields(
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

export type SetActive = {
  readonly kind: 'set-active';
  readonly environment: string;
  /** Null if no version is active. */
  readonly before: VersionRef | null;
  readonly after: VersionRef | NewVersionRef;
};

/** One step of a plan. promptsync applies it by writing to the service. */
export type Change = CreateVersion | UpdatePrompt | SetActive;

export function listChangingEnvironments(changes: readonly Change[]): ReadonlySet<string> {
  return new Set(changes.flatMap((change) => (change.kind === 'set-active' ? [change.environment] : [])));
}

/** The properties that environment drift and field drift have in common. */
type DriftCause = {
  /**
   * The kind of drift:
   * - `unfinished`: A sync has not finished, or somebody restored an earlier state.
   * - `outside`: Somebody changed the service without using promptsync.
   */
  readonly kind: 'outside' | 'unfinished';
  /** Whether the head wants the same state as the base, so that a sync restores it. */
  readonly restoresBase: boolean;
};

/** The version that a drifted environment serves. Neither the base nor the head wants this version there. */
export type ServedVersion = VersionRef & {
  /** Whether it is certain that promptsync created the version. */
  readonly isManaged: boolean;
  /** Whether git has the content of the version, as far as promptsync has read the history. */
  readonly isInGit: boolean;
  /** Absent if the version was not created from a commit, for example because somebody else created it. */
  readonly commit?: string;
  /** True if the clone does not have that commit. */
  readonly isCommitMissing?: true;
};

/** An environment or a field whose state differs from what the base wants and from what the head wants. */
export type Drift =
  | (DriftCause & {
      readonly subject: 'environment';
      readonly environment: string;
      /** The version that the base wants. */
      readonly expected: WantedVersionRef;
      /** Null if no version is active. */
      readonly observed: ServedVersion | null;
      /** True if the service's timestamps show that somebody moved the environment back to this older version. */
      readonly isMovedBack?: true;
    })
  | (DriftCause & {
      readonly subject: 'field';
      readonly field: FieldName;
      readonly expected: string;
      readonly observed: string;
    });

/**
 * A note that explains where a change comes from:
 * - `wanted-since`: An earlier commit already wanted the result of the change. Either no sync has applied it since, or
 *   somebody restored an earlier state.
 * - `behind`: The live branch wants the current state, but HEAD does not contain the commit that wants it.
 */
export type ChangeNote =
  | {
      readonly kind: 'wanted-since';
      /** The oldest commit of the run. All states since then want the result of the change. */
      readonly commit: string;
      /** The committer date of the commit, in seconds since 1970. */
      readonly time: number;
      /** Whether the live branch contains the commit, according to the tip that the clone knows. */
      readonly isMerged: boolean;
    }
  | { readonly kind: 'behind' };

export type ChangeAnnotation = (
  | { readonly subject: 'environment'; readonly environment: string }
  | { readonly subject: 'field'; readonly field: FieldName }
) & { readonly note: ChangeNote };

/** `not_attempted` means that the run was interrupted before promptsync observed the prompt. */
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
  readonly annotations: readonly ChangeAnnotation[];
  readonly problems: readonly Problem[];
  /** The pins to unknown versions. An apply searches for these versions before it makes any change. */
  readonly pinsToFind: readonly Pin[];
  /**
   * The existing versions that pins other than `latest` make active. They also include those of environments that the
   * run does not cover, because the version record of a new version must keep them.
   */
  readonly pinnedVersions: readonly VersionRef[];
};

export type ObservedPromptPlan = PromptPlan & { readonly observed: ObservedPrompt };

export function isObserved(plan: PromptPlan): plan is ObservedPromptPlan {
  return plan.observed !== null;
}

/** The changes that make the service match the files. If everything is in sync, the plan has no changes. */
export type Plan = {
  /** Sorted by the path of the file. */
  readonly prompts: readonly PromptPlan[];
  /** Plans with the same changes have the same digest, even if they come from different commits. */
  readonly digest: string;
};

export function isNewVersionRef(ref: WantedVersionRef): ref is NewVersionRef {
  return 'newContent' in ref;
}

/** Returns null if the number is unknown, or if the version does not exist yet. */
export function getWantedNumber(wanted: WantedVersionRef | null): number | null {
  return wanted === null || isNewVersionRef(wanted) ? null : wanted.number;
}

/** Returns true if a version certainly has a lower number than the version that a pin wants. */
export function isOlderVersion({ number }: VersionRef, wanted: WantedVersionRef | null): boolean {
  const wantedNumber = getWantedNumber(wanted);
  return number !== null && wantedNumber !== null && number < wantedNumber;
}

/** `adopted`: an existing version was used. `unknown`: the response was lost, so the change may have been made. */
export type ChangeStatus = 'made' | 'adopted' | 'not_made' | 'unknown';

export type ChangeOutcome = {
  readonly change: Change;
  readonly status: ChangeStatus;
  /**
   * The version that the change created, adopted or activated. If promptsync created or adopted a version but did not
   * activate it, the result of the activation still contains this version.
   */
  readonly version?: VersionRef;
  /** True if the change created the adopted version, but the response of the service was lost. */
  readonly isRecovered?: true;
};

export type OutcomeStatus = 'unchanged' | 'applied' | 'blocked' | 'failed' | 'not_attempted';

/** The result of applying the plan for one prompt. */
export type PromptOutcome = {
  /** The applied plan, which can differ from the one that the user saw if the service changed in the meantime. */
  readonly plan: PromptPlan;
  readonly status: OutcomeStatus;
  readonly changes: readonly ChangeOutcome[];
  readonly problems: readonly Problem[];
};

/** Every change is visible to anybody other than promptsync, except for the creation of a baseline. */
export function isVisibleChange(change: Change): boolean {
  return change.kind !== 'create-version' || change.baseline !== true;
}

/**
 * Ignores commits, paths and change summaries, because a squash merge changes them. Ignores the order of the files,
 * because a rename changes it, and baselines, because another sync may create the baseline first.
 */
export function computePlanDigest(prompts: readonly PromptPlan[]): string {
  const digestInputs = prompts.map((prompt) => {
    const changes = prompt.changes.filter(isVisibleChange).map((change) => toDigestInput(change, prompt));
    return { id: prompt.file.id, changes };
  });
  const changing = digestInputs.filter(({ changes }) => changes.length > 0);
  return computeDigest(renderCanonicalJson(changing.toSorted((a, b) => (a.id < b.id ? -1 : 1))));
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

/** For an activation, the digests are the same whether or not the version exists. Null if only its id is known. */
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

export function computeCreatedDigests({
  content,
  metadataFrom,
}: Pick<CreateVersion, 'content' | 'metadataFrom'>): ContentDigests {
  return computeNewVersionDigests(content, metadataFrom);
}

/** Finds the change that creates the version for an activation. If several match, returns the first. */
export function findCreateFor(target: NewVersionRef, changes: readonly Change[]): CreateVersion | undefined {
  return changes
    .filter((change) => change.kind === 'create-version')
    .find(({ content }) => isInSync(content, target.newContent));
}

/** Returns true if both references are to the same existing version, or to new versions with the same content. */
export function isSameTarget(one: WantedVersionRef, other: WantedVersionRef): boolean {
  if (isNewVersionRef(one)) return isNewVersionRef(other) && isSameFileContent(one.newContent, other.newContent);
  if (isNewVersionRef(other)) return false;
  return one.id === null ? other.number === one.number : one.id === other.id;
}
