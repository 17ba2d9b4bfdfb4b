import type { PromptHistory } from '../history/prompt-history.ts';
import { chooseVersionToCreate, findPinTargets, type PinTarget } from '../domain/pin-target.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import {
  compareFields,
  type Change,
  type ContentsAtRefs,
  type CreateVersion,
  type NewVersionRef,
  type Provenance,
  type SetActive,
} from '../domain/plan.ts';
import { isInSync } from '../domain/compare-content.ts';
import type { Content } from '../domain/content.ts';
import { makeVersionRef, type VersionRef } from '../domain/versions.ts';
import { locatePin, type EnvironmentPin, type PromptFile } from '../domain/prompt-file.ts';
import { makeProblem, type Problem } from '../problem.ts';

/** What promptsync needs to resolve the pins of a prompt file. */
export type PinContext = {
  readonly file: PromptFile;
  readonly observed: ObservedPrompt;
  readonly contentsAtRefs: ContentsAtRefs;
};

/** A pin, with the version that it activates or the problems that prevent this. If it has neither, it is in sync. */
export type ResolvedPin = {
  readonly pin: EnvironmentPin;
  readonly after: VersionRef | NewVersionRef | null;
  readonly problems: readonly Problem[];
  /** Whether an apply must search for the version that the pin refers to. */
  readonly needsSearch: boolean;
};

export type PromptChanges = {
  /** The targets of the pins, in the order of the file. */
  readonly targets: readonly PinTarget[];
  /** The pins in the order of the file. */
  readonly pins: readonly ResolvedPin[];
  /** The changes in the order in which promptsync applies them. */
  readonly changes: readonly Change[];
};

/** The commits that new versions name as the sources of their content. */
type ContentSources = Pick<PromptHistory, 'provenance' | 'changeSummaries'>;

export function planChanges(context: PinContext, sources: ContentSources): PromptChanges {
  const { file, observed, contentsAtRefs } = context;
  const targets = findPinTargets(file, observed, contentsAtRefs);
  const pins = file.pins.map((pin, index) => resolvePin(pin, targets[index] ?? { kind: 'unknown' }, context));
  const creates = planCreates(context, targets, sources);
  const activations = pins.flatMap((pin) => makeActivation(pin, observed));
  const fields = compareFields(file, observed.fields);
  const updates = Object.keys(fields).length === 0 ? [] : [{ kind: 'update-prompt' as const, fields }];
  const changes: readonly Change[] = [...creates, ...updates, ...activations];
  return { targets, pins, changes };
}

function makeActivation({ pin: { environment }, after }: ResolvedPin, observed: ObservedPrompt): readonly SetActive[] {
  if (after === null) return [];
  const active = observed.active.get(environment) ?? null;
  return [{ kind: 'set-active', environment, before: active === null ? null : makeVersionRef(active), after }];
}

function resolvePin(pin: EnvironmentPin, target: PinTarget, context: PinContext): ResolvedPin {
  switch (target.kind) {
    case 'in-sync':
      return { pin, after: null, problems: [], needsSearch: false };
    case 'known':
      return { pin, after: makeVersionRef(target.version), problems: [], needsSearch: false };
    case 'new':
      return { pin, after: target.target, problems: [], needsSearch: false };
    case 'unknown':
      return resolveUnknownPin(pin, context);
  }
}

/**
 * An id refers to exactly one version, so promptsync plans its activation, unless it knows that the prompt has no such
 * version. It activates a version number only after an apply has found the version.
 */
function resolveUnknownPin(environmentPin: EnvironmentPin, context: PinContext): ResolvedPin {
  const { pin } = environmentPin;
  const { missingIds, canFindNumbers, knowsAllVersions } = context.observed;
  if (pin.kind === 'version' && knowsAllVersions !== true && !missingIds.includes(pin.id)) {
    return { pin: environmentPin, after: { id: pin.id, number: null }, problems: [], needsSearch: true };
  }
  const needsSearch = pin.kind === 'number' && canFindNumbers;
  const problems = makePinProblems(environmentPin, needsSearch, context);
  return { pin: environmentPin, after: null, problems, needsSearch };
}

/** Returns the problems that explain why promptsync found no version for a pin. */
function makePinProblems(
  environmentPin: EnvironmentPin,
  needsSearch: boolean,
  { file, observed, contentsAtRefs }: PinContext,
): readonly Problem[] {
  const { environment, pin } = environmentPin;
  const place = locatePin(environmentPin, file);
  if (pin.kind === 'number') {
    const hasPathId = file.idSource === 'path';
    const evidence = { environment, number: pin.number, key: file.key, hasPathId };
    return [makeProblem('pin/unknown-number', { ...evidence, known: chooseReason(observed, needsSearch) }, place)];
  }
  if (pin.kind === 'version') return [makeProblem('pin/unknown-version', { environment, id: pin.id }, place)];
  if (pin.kind === 'latest') {
    return [makeProblem('internal/unexpected', { reason: 'a `latest` pin does not specify any content' }, place)];
  }
  const at = contentsAtRefs.get(pin.ref);
  return at?.isSuccess === false ? at.problems : [makeProblem('pin/unknown-ref', { ref: pin.ref }, place)];
}

/** Returns the reason why promptsync does not know a pinned version number, for the problem `pin/unknown-number`. */
function chooseReason({ isMissing, known }: ObservedPrompt, needsSearch: boolean) {
  if (isMissing === true) return 'no-prompt';
  if (needsSearch) return 'newest-unread';
  return known.length === 0 ? 'no-version' : 'others';
}

/** Versions for `git:` pins come first, so that the file's own content is newest. Equal contents share one version. */
function planCreates(
  { file, observed, contentsAtRefs }: PinContext,
  targets: readonly PinTarget[],
  sources: ContentSources,
): readonly CreateVersion[] {
  const pinnedContents = targets.flatMap((target) => (target.kind === 'new' ? [target.target.newContent] : []));
  const dueVersion = chooseVersionToCreate(file, observed, targets);
  if (dueVersion === 'baseline') return [makeBaseline(file, sources.provenance)];
  const contents = dueVersion === 'content' ? [...pinnedContents, file.content] : pinnedContents;
  return contents
    .filter((content, index) => {
      return !contents.some((other, otherIndex) => isServedByOther(content, index, other, otherIndex));
    })
    .map((content) => ({
      ...makeCreateChange(content, contentsAtRefs, sources),
      ...listOtherContents(content, contents),
      ...chooseMetadataSource(content, observed),
    }));
}

export function makeBaseline({ content }: PromptFile, provenance: Provenance): CreateVersion {
  return { kind: 'create-version', content, provenance, baseline: true };
}

/**
 * Returns true if the version for `other` can also serve `content`. If each can serve the other, only the later one
 * gets a version: the file's own content comes last, so that it has priority over equal content at a ref.
 */
function isServedByOther(content: Content, index: number, other: Content, otherIndex: number): boolean {
  return isInSync(other, content) && (!isInSync(content, other) || otherIndex > index);
}

function listOtherContents(content: Content, contents: readonly Content[]): Pick<CreateVersion, 'otherContents'> {
  const otherContents = [...new Set(contents)].filter((other) => other !== content && isInSync(content, other));
  return otherContents.length > 0 ? { otherContents } : {};
}

function chooseMetadataSource(
  content: Content,
  { metadataFrom }: Pick<ObservedPrompt, 'metadataFrom'>,
): Pick<CreateVersion, 'metadataFrom'> {
  return metadataFrom !== undefined && content.metadata === undefined ? { metadataFrom } : {};
}

/** Finds the ref whose content is the same object, because the file's own content may equal the content at a ref. */
function makeCreateChange(
  content: Content,
  atRefs: ContentsAtRefs,
  { provenance, changeSummaries }: ContentSources,
): CreateVersion {
  for (const [ref, at] of atRefs) {
    if (!at.isSuccess || at.value.content !== content) continue;
    const provenanceAtRef = { ...at.value.provenance, ...changeSummaries.get(ref) };
    return { kind: 'create-version', content, ref, provenance: provenanceAtRef };
  }
  return { kind: 'create-version', content, provenance };
}
