import type { History } from '../domain/desired.ts';
import { dueVersion, meaningsOf, type Meaning } from '../domain/meaning.ts';
import type { Observed } from '../domain/observed.ts';
import {
  changedFields,
  serves,
  type Change,
  type ContentsAtRefs,
  type CreateVersion,
  type NewVersionRef,
  type Provenance,
  type SetActive,
} from '../domain/plan.ts';
import { refOf, type VersionRef } from '../domain/versions.ts';
import type { Content, EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import { makeProblem, type Problem } from '../problem.ts';

export type PinContext = {
  readonly file: PromptFile;
  readonly observed: Observed;
  readonly contentsAtRefs: ContentsAtRefs;
};

/** A pin, with the version that it makes active or the problem that stops it; with neither it is in sync. */
export type Resolved = {
  readonly pin: EnvironmentPin;
  readonly after: VersionRef | NewVersionRef | null;
  readonly problem: Problem | null;
  /** Whether an apply looks for the version. */
  readonly finds: boolean;
};

/** What one file asks for in the order in which it is written, with what became of each pin. */
export function changesFor(context: PinContext, { provenance }: History) {
  const { file, observed, contentsAtRefs } = context;
  const meanings = meaningsOf(file, observed, contentsAtRefs);
  const pins = file.pins.map((pin, at) => resolvePin(pin, meanings[at] ?? { kind: 'unknown' }, context));
  const creates = contentsToCreate(context, meanings, provenance.get(file.path) ?? {});
  const activations = pins.flatMap((one) => activation(one, observed));
  const fields = changedFields(file, observed.fields);
  const updates = Object.keys(fields).length === 0 ? [] : [{ kind: 'update-prompt' as const, fields }];
  const changes: readonly Change[] = [...creates, ...updates, ...activations];
  return { pins, changes };
}

function activation({ pin: { environment }, after }: Resolved, observed: Observed): readonly SetActive[] {
  if (after === null) return [];
  const active = observed.active.get(environment) ?? null;
  return [{ kind: 'set-active', environment, before: active === null ? null : refOf(active), after }];
}

function resolvePin(pin: EnvironmentPin, meaning: Meaning, context: PinContext): Resolved {
  const inSync: Resolved = { pin, after: null, problem: null, finds: false };
  if (meaning.kind === 'unknown') return { ...inSync, ...resolveUnknown(pin, context) };
  if (meaning.kind === 'in-sync') return inSync;
  return { ...inSync, after: meaning.kind === 'known' ? refOf(meaning.version) : meaning.target };
}

/** An id is a promise by itself: unknown ones are planned, and read before they go live. */
function resolveUnknown(one: EnvironmentPin, context: PinContext): Partial<Resolved> {
  const { pin } = one;
  const { missing, findable } = context.observed;
  if (pin.kind === 'version' && !missing.includes(pin.id)) return { after: { id: pin.id, number: null }, finds: true };
  const finds = pin.kind === 'number' && findable;
  return { problem: unresolvable(one, finds, context), finds };
}

function unresolvable(one: EnvironmentPin, lookable: boolean, { file, contentsAtRefs }: PinContext): Problem {
  const { environment, pin, line, column } = one;
  const place = { path: file.path, line, column };
  if (pin.kind === 'number') {
    return makeProblem('pin/unknown-number', { environment, number: pin.number, lookable }, place);
  }
  if (pin.kind === 'version') return makeProblem('pin/unknown-version', { environment, id: pin.id }, place);
  if (pin.kind === 'latest') {
    return makeProblem('internal/unexpected', { reason: 'a file has no content of its own' }, place);
  }
  const at = contentsAtRefs.get(pin.ref);
  return at !== undefined && 'code' in at ? at : makeProblem('pin/unknown-ref', { ref: pin.ref }, place);
}

/**
 * The versions to make: those of `git:` pins first, so that the file's own is the newest. Equal contents are made once.
 * @param provenance of the file's own content
 */
function contentsToCreate(
  { file, observed, contentsAtRefs }: PinContext,
  meanings: readonly Meaning[],
  provenance: Provenance,
): readonly CreateVersion[] {
  const followed = meanings.flatMap((one) => (one.kind === 'new' ? [one.target.new] : []));
  const due = dueVersion(file, observed, meanings);
  const from = observed.metadataFrom;
  const kept = (content: Content) => from !== undefined && content.metadata === undefined && { metadataFrom: from };
  if (due === 'baseline') return [{ ...create(file.content, contentsAtRefs, provenance), baseline: true }];
  const wanted = [...followed, ...(due === 'content' ? [file.content] : [])];
  return wanted
    .filter((content, index) => !wanted.some((other, at) => replaces(other, at, content, index)))
    .map((content) => ({
      ...create(content, contentsAtRefs, provenance),
      ...othersOf(content, wanted),
      ...kept(content),
    }));
}

/** Of two that serve each other the later one is made: the file's own rather than an equal one of a ref. */
function replaces(other: Content, at: number, content: Content, index: number): boolean {
  return serves(other, content) && (!serves(content, other) || at > index);
}

function othersOf(content: Content, wanted: readonly Content[]): Pick<CreateVersion, 'others'> {
  const others = [...new Set(wanted)].filter((other) => other !== content && serves(content, other));
  return others.length > 0 ? { others } : {};
}

/** The file's own content is at no ref, however equal: contents are distinguished by identity here. */
function create(content: Content, refs: ContentsAtRefs, provenance: Provenance): CreateVersion {
  for (const [ref, at] of refs) {
    if ('content' in at && at.content === content) {
      return { kind: 'create-version', content, ref, provenance: at.provenance };
    }
  }
  return { kind: 'create-version', content, provenance };
}
