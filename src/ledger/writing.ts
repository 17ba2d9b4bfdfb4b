import type { Digest } from '../domain/digest.ts';
import type { Observed, Wanted } from '../domain/observed.ts';
import type { ChangeStatus } from '../domain/plan.ts';
import { refOf } from '../domain/versions.ts';
import { ServiceError, type PromptService } from '../service/prompt-service.ts';
import type { Written } from '../domain/provider.ts';
import { during, makeProblem, problemOf, ProblemError } from '../problem.ts';
import { entryOf, type Head } from './ownership.ts';
import { dropsMetadata, knownEntries, stillPinned, versionsRead, type Reading } from './reading.ts';
import { toVersion, type LedgerEntry, type Version } from './stamp.ts';

/** What the ledger works with. */
export type LedgerWorld = {
  readonly service: PromptService;
  /** For every prompt it stands on the newest version that promptsync made. */
  readonly trackingEnvironment: string;
  /** A text that is unique to one attempt to create a version. */
  readonly newOperation: () => string;
  /** The digest of the text that git has at a commit and path of a ledger; null where it has none. */
  readonly digestAt: (commit: string, path: string) => Promise<Digest | null>;
  /** Waits so many milliseconds; rejects when the run is interrupted. */
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** What is known while one prompt is written; it grows with every version made or looked at. */
export type Writing = {
  readonly world: LedgerWorld;
  readonly wanted: Wanted;
  readonly reading: Reading;
  /** By id. */
  readonly known: Map<string, LedgerEntry>;
  /** Ids of the versions that were read in this run. */
  readonly seen: Set<string>;
  /** The versions that were looked at meanwhile, the newest last. */
  readonly looked: Version[];
  /** `dropped`: the service forgets the metadata of versions. */
  readonly metadata: Observed['metadata'];
  head: Head;
};

export function beginWriting(world: LedgerWorld, wanted: Wanted, reading: Reading): Writing {
  const { trackingEnvironment } = world;
  return {
    ...{ world, wanted, reading, looked: [] },
    known: new Map(knownEntries(reading).map((entry) => [entry.id, entry])),
    seen: new Set(versionsRead(reading).map(({ id }) => id)),
    metadata: dropsMetadata(reading, trackingEnvironment) ? 'dropped' : 'kept',
    head: reading.active.get(trackingEnvironment),
  };
}

/** Remembers a version that was read, with all that its ledger names: of what is known already, whether it was pinned. */
export function note({ known, seen, looked }: Writing, version: Version): void {
  for (const entry of version.stamp?.ledger ?? []) {
    known.set(entry.id, stillPinned(known.get(entry.id) ?? entry, entry));
  }
  known.set(version.id, stillPinned(entryOf(version), known.get(version.id)));
  seen.add(version.id);
  looked.push(version);
}

/** What a write that threw has become. */
export function failed(step: string, error: unknown): Written {
  const unknown = error instanceof ServiceError && error.effect === 'unknown';
  return { status: unknown ? 'unknown' : 'not_made', problems: [during(step, problemOf(error))] };
}

export function stopped(status: ChangeStatus, ...problems: Written['problems']): Written {
  return { status, problems };
}

/** What should be active. */
export type Expected = { readonly id: string; readonly digest: Digest };

/** Sets the active version and reads it back. Throws when it was not set; what is read back wrong is a problem. */
export async function activate(
  { world, reading, seen }: Pick<Writing, 'world' | 'reading' | 'seen'>,
  environment: string,
  expected: Expected,
): Promise<Written> {
  const { service } = world;
  await service.setActive(reading.prompt.id, environment, expected.id);
  try {
    const version = await readBack(service, reading.prompt.id, environment, expected);
    seen.add(version.id);
    return { status: 'made', version: refOf(version), problems: [] };
  } catch (error) {
    return { status: 'unknown', problems: [problemOf(error)] };
  }
}

/** Reads an environment after it was set. Throws a `ProblemError` when it serves another version or another text. */
export async function readBack(
  service: PromptService,
  promptId: string,
  environment: string,
  expected: Expected,
): Promise<Version> {
  const { activeVersion } = await service.readPrompt(promptId, environment);
  const active = activeVersion === null ? null : toVersion(activeVersion);
  if (active === null || active.id !== expected.id) {
    const found = active === null ? 'nothing' : `version "${active.id}"`;
    const evidence = { environment, expected: `version "${expected.id}"`, found };
    throw new ProblemError(makeProblem('apply/not-active', evidence));
  }
  if (active.digest === expected.digest) return active;
  const evidence = { environment, expected: 'the planned text', found: `another text (v${active.number})` };
  throw new ProblemError(makeProblem('apply/not-active', evidence));
}
