import type { PlanningHistory } from '../domain/desired-state.ts';
import { chooseVersionToCreate, findPinTargets, type PinTarget } from '../domain/pin-target.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import {
  changedFields,
  type Change,
  type ContentsAtRefs,
  type CreateVersion,
  type NewVersionRef,
  type Provenance,
  type SetActive,
} from '../domain/plan.ts';
import { type Content, canServeContent } from '../domain/content.ts';
import { makeVersionRef, type VersionRef } from '../domain/versions.ts';
import type { EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import { makeProblem, type Problem } from '../problem.ts';

export type PinContext = {
  readonly file: PromptFile;
  readonly observed: ObservedPrompt;
  readonly contentsAtRefs: ContentsAtRefs;
};

/** A pin, with the version that it makes active or the problems that stop it. With neither, it is in sync. */
export type ResolvedPin = {
  readonly pin: EnvironmentPin;
  readonly after: VersionRef | NewVersionRef | null;
  readonly problems: readonly Problem[];
  /** Whether an apply must search for the version. */
  readonly finds: boolean;
};

/** What a plan does for one prompt. */
export type PromptChanges = {
  /** The pins in the order of the file. */
  readonly pins: readonly ResolvedPin[];
  /** The changes in the order in which promptsync applies them. */
  readonly changes: readonly Change[];
};

/** Plans the changes that make the service match one file. */
export function planChanges(context: PinContext, { provenance }: PlanningHistory): PromptChanges {
  const { file, observed, contentsAtRefs } = context;
  const meanings = findPinTargets(file, observed, contentsAtRefs);
  const pins = file.pins.map((pin, at) => resolvePin(pin, meanings[at] ?? { kind: 'unknown' }, context));
  const creates = contentsToCreate(context, meanings, provenance.get(file.path) ?? {});
  const activations = pins.flatMap((one) => makeActivation(one, observed));
  const fields = changedFields(file, observed.fields);
  const updates = Object.keys(fields).length === 0 ? [] : [{ kind: 'update-prompt' as const, fields }];
  const changes: readonly Change[] = [...creates, ...updates, ...activations];
  return { pins, changes };
}

function makeActivation({ pin: { environment }, after }: ResolvedPin, observed: ObservedPrompt): readonly SetActive[] {
  if (after === null) return [];
  const active = observed.active.get(environment) ?? null;
  return [{ kind: 'set-active', environment, before: active === null ? null : makeVersionRef(active), after }];
}

function resolvePin(pin: EnvironmentPin, meaning: PinTarget, context: PinContext): ResolvedPin {
  const inSync: ResolvedPin = { pin, after: null, problems: [], finds: false };
  if (meaning.kind === 'unknown') return { ...inSync, ...resolveUnknown(pin, context) };
  if (meaning.kind === 'in-sync') return inSync;
  return { ...inSync, after: meaning.kind === 'known' ? makeVersionRef(meaning.version) : meaning.target };
}

/**
 * Resolves a pin whose version is unknown. An id names one version for sure, so promptsync plans it and reads the version
 * before it goes live. A number is only planned after an apply has found it.
 */
function resolveUnknown(one: EnvironmentPin, context: PinContext): Partial<ResolvedPin> {
  const { pin } = one;
  const { missingIds, canFindNumbers } = context.observed;
  if (pin.kind === 'version' && !missingIds.includes(pin.id))
    return { after: { id: pin.id, number: null }, finds: true };
  const finds = pin.kind === 'number' && canFindNumbers;
  return { problems: pinProblems(one, finds, context), finds };
}

/** Returns why a pin has no version. */
function pinProblems(one: EnvironmentPin, lookable: boolean, { file, contentsAtRefs }: PinContext): readonly Problem[] {
  const { environment, pin, line, column } = one;
  const place = { path: file.path, line, column };
  if (pin.kind === 'number') {
    return [makeProblem('pin/unknown-number', { environment, number: pin.number, lookable }, place)];
  }
  if (pin.kind === 'version') return [makeProblem('pin/unknown-version', { environment, id: pin.id }, place)];
  if (pin.kind === 'latest') {
    return [makeProblem('internal/unexpected', { reason: 'a file has no content of its own' }, place)];
  }
  const at = contentsAtRefs.get(pin.ref);
  return at?.isSuccess === false ? at.problems : [makeProblem('pin/unknown-ref', { ref: pin.ref }, place)];
}

/**
 * Returns the versions to create. Those of `git:` pins come first, so that the version of the file's own content is the
 * newest. Equal contents become one version.
 * @param provenance where the file's own content comes from
 */
function contentsToCreate(
  { file, observed, contentsAtRefs }: PinContext,
  meanings: readonly PinTarget[],
  provenance: Provenance,
): readonly CreateVersion[] {
  const followed = meanings.flatMap((one) => (one.kind === 'new' ? [one.target.newContent] : []));
  const due = chooseVersionToCreate(file, observed, meanings);
  const from = observed.metadataFrom;
  const kept = (content: Content) => from !== undefined && content.metadata === undefined && { metadataFrom: from };
  if (due === 'baseline') return [{ ...makeCreateChange(file.content, contentsAtRefs, provenance), baseline: true }];
  const wanted = [...followed, ...(due === 'content' ? [file.content] : [])];
  return wanted
    .filter((content, index) => !wanted.some((other, at) => isServedByCreate(other, at, content, index)))
    .map((content) => ({
      ...makeCreateChange(content, contentsAtRefs, provenance),
      ...listOtherContents(content, wanted),
      ...kept(content),
    }));
}

/**
 * Whether the version of another content also serves this content. If two contents could serve each other, the plan
 * creates the later one: the file's own content rather than the equal content of a ref.
 */
function isServedByCreate(other: Content, at: number, content: Content, index: number): boolean {
  return canServeContent(other, content) && (!canServeContent(content, other) || at > index);
}

function listOtherContents(content: Content, wanted: readonly Content[]): Pick<CreateVersion, 'otherContents'> {
  const otherContents = [...new Set(wanted)].filter((other) => other !== content && canServeContent(content, other));
  return otherContents.length > 0 ? { otherContents } : {};
}

/**
 * Makes the change that creates a version. It finds the ref of the content by object identity: the file's own content
 * belongs to no ref, even if a ref has an equal one.
 */
function makeCreateChange(content: Content, refs: ContentsAtRefs, provenance: Provenance): CreateVersion {
  for (const [ref, at] of refs) {
    if (at.isSuccess && at.value.content === content) {
      return { kind: 'create-version', content, ref, provenance: at.value.provenance };
    }
  }
  return { kind: 'create-version', content, provenance };
}
