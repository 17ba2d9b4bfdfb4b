import { entryOf, knownVersions, stillPinned } from '../domain/known-versions.ts';
import { versionsRead } from '../domain/observed.ts';
import type { ChangeOutcome } from '../domain/outcome.ts';
import { dropsMetadata, headOf, type Head } from '../domain/ownership.ts';
import { serves, type NewVersionRef, type PromptPlan } from '../domain/plan.ts';
import type { Content } from '../domain/prompt-file.ts';
import type { LedgerEntry, Version } from '../domain/version.ts';
import { makeProblem, problemOf, ProblemError, type Problem } from '../problem.ts';
import type { ApplyDependencies } from './deps.ts';
import { readBack, type Expected } from './reading-back.ts';

/** What is known while one prompt is written; it grows with every version made or looked at. */
export type Writing = {
  readonly plan: PromptPlan;
  readonly observed: NonNullable<PromptPlan['observed']>;
  readonly dependencies: ApplyDependencies;
  /** By id. */
  readonly known: Map<string, LedgerEntry>;
  /** Ids of the versions that were read in this run. */
  readonly seen: Set<string>;
  /** The versions that were looked at meanwhile, the newest last. */
  readonly looked: Version[];
  readonly made: { readonly content: Content; readonly version: Version }[];
  /** Whether the service drops the metadata of versions. */
  readonly forgets: boolean;
  head: Head;
};

/** A change that was made; problems are those of what follows it by itself. */
export type Made = { readonly outcome: ChangeOutcome; readonly problems: readonly Problem[] };

type Activated = { readonly version: Version | null; readonly problems: readonly Problem[] };

export function beginWriting(plan: PromptPlan, dependencies: ApplyDependencies): Writing {
  const { observed } = plan;
  if (observed === null) throw new ProblemError(makeProblem('internal/unexpected', { reason: 'nothing was observed' }));
  const known = new Map(knownVersions(observed).map(({ version: _, ...entry }) => [entry.id, entry]));
  const seen = new Set(versionsRead(observed).map(({ id }) => id));
  const { trackingEnvironment } = dependencies;
  const head = headOf(observed, trackingEnvironment);
  const forgets = dropsMetadata(observed, trackingEnvironment);
  return { plan, observed, dependencies, known, seen, looked: [], made: [], head, forgets };
}

/** Remembers a version that was read, with all that its ledger tells of: of what is known already, whether it was pinned. */
export function note({ known, seen, looked }: Writing, version: Version): void {
  for (const entry of version.stamp?.ledger ?? []) {
    known.set(entry.id, stillPinned(known.get(entry.id) ?? entry, entry));
  }
  known.set(version.id, stillPinned(entryOf(version), known.get(version.id)));
  seen.add(version.id);
  looked.push(version);
}

/** The version that was made for a target of this plan, once there is one. */
export function findMade({ made }: Writing, target: NewVersionRef): Version | undefined {
  return made.find(({ content }) => serves(content, target.new))?.version;
}

/** Sets the active version and reads it back. Throws when it was not set; what is read back wrong is a problem. */
export async function activate(writing: Writing, environment: string, expected: Expected): Promise<Activated> {
  const { dependencies, observed } = writing;
  await dependencies.service.setActive(observed.prompt.id, environment, expected.id);
  try {
    const version = await readBack(dependencies.service, observed.prompt.id, environment, expected);
    writing.seen.add(version.id);
    return { version, problems: [] };
  } catch (error) {
    return { version: null, problems: [problemOf(error)] };
  }
}
