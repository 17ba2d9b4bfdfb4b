import { entryAsServed, findContent, holds, type KnownVersion } from '../domain/known-versions.ts';
import type { Observed } from '../domain/observed.ts';
import { asKept, type Head } from '../domain/ownership.ts';
import type { ContentAtRef, NewVersionRef } from '../domain/plan.ts';
import type { Content, EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import { refOf, type Version, type VersionRef } from '../domain/version.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

/** Everything that a pin's meaning depends on. */
export type PinContext = {
  readonly file: PromptFile;
  readonly observed: Observed;
  readonly known: readonly KnownVersion[];
  /** The content at each ref that the file's `git:` pins name, or why there is none. */
  readonly contentsAtRefs: ReadonlyMap<string, ContentAtRef | Problem>;
  readonly head: Head;
  /** Whether the service drops the metadata of versions. */
  readonly forgets: boolean;
};

/** What a pin asks for: nothing, another active version, or more than is known. */
export type Resolution =
  | { readonly kind: 'in-sync' }
  | { readonly kind: 'set'; readonly after: VersionRef | NewVersionRef; readonly lookups: readonly string[] }
  | { readonly kind: 'blocked'; readonly problem: Problem; readonly lookups: readonly string[] };

const IN_SYNC: Resolution = { kind: 'in-sync' };

/** Finds the version that a pin means, and whether it is the active one already. */
export function resolvePin(pin: EnvironmentPin, context: PinContext): Resolution {
  const active = context.observed.active.get(pin.environment) ?? null;
  switch (pin.pin.kind) {
    case 'latest':
      return followContent(context.file.content, active, context);
    case 'git':
      return followRef(pin, pin.pin.ref, context);
    case 'number':
      return active?.number === pin.pin.number ? IN_SYNC : findNumber(pin, pin.pin.number, context);
    case 'version':
      return active?.id === pin.pin.id ? IN_SYNC : findId(pin, pin.pin.id, context);
  }
}

/** Equal content is in sync whatever its id: such pins name content, ids are the service's business. */
function followContent(
  content: Content,
  active: Version | null,
  { known, forgets }: PinContext,
  from: { readonly ref?: string } = {},
): Resolution {
  const sought = asKept(content, forgets);
  if (active !== null && holds(entryAsServed(active, known), sought)) return IN_SYNC;
  const found = findContent(known, sought);
  return set(found === undefined ? { new: content, ...from } : refOf(found));
}

function followRef(pin: EnvironmentPin, ref: string, context: PinContext): Resolution {
  const at = context.contentsAtRefs.get(ref) ?? makeProblem('pin/unknown-ref', { ref }, placeOf(pin, context));
  if ('code' in at) return blocked(at);
  return followContent(at.content, context.observed.active.get(pin.environment) ?? null, context, { ref });
}

function findNumber(pin: EnvironmentPin, number: number, context: PinContext): Resolution {
  const found = context.known.find((version) => version.number === number);
  if (found !== undefined) return set(refOf(found));
  const unseen = unseenLatest(context);
  const lookups = unseen === null ? [] : [unseen];
  const evidence = { environment: pin.environment, number, lookable: lookups.length > 0 };
  return blocked(makeProblem('pin/unknown-number', evidence, placeOf(pin, context)), lookups);
}

/** An id is a promise by itself: unknown ones are planned, and read before they go live. */
function findId(pin: EnvironmentPin, id: string, context: PinContext): Resolution {
  const { known, observed } = context;
  const found = known.find((version) => version.id === id);
  if (found !== undefined) return set(refOf(found));
  if (!observed.missing.includes(id)) return set({ id, number: null }, [id]);
  return blocked(makeProblem('pin/unknown-version', { environment: pin.environment, id }, placeOf(pin, context)));
}

/** The service's newest version, where it was never read and no ledger names it. */
function unseenLatest({ observed, known }: PinContext): string | null {
  const { prompt, missing } = observed;
  const id = prompt.latestVersionId;
  return id === null || missing.includes(id) || known.some((version) => version.id === id) ? null : id;
}

function placeOf({ line, column }: EnvironmentPin, { file }: PinContext): Place {
  return { path: file.path, line, column };
}

function set(after: VersionRef | NewVersionRef, lookups: readonly string[] = []): Resolution {
  return { kind: 'set', after, lookups };
}

function blocked(problem: Problem, lookups: readonly string[] = []): Resolution {
  return { kind: 'blocked', problem, lookups };
}
