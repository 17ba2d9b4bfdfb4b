import { entryOf, knownVersions, makeLedger, versionsRead } from '../domain/known-versions.ts';
import type { ChangeOutcome } from '../domain/outcome.ts';
import {
  isNew,
  serves,
  type Change,
  type CreateVersion,
  type NewVersionRef,
  type PromptPlan,
  type SetActive,
  type UpdatePrompt,
} from '../domain/plan.ts';
import type { Content } from '../domain/prompt-file.ts';
import type { PromptFields } from '../domain/prompt-service.ts';
import type { LedgerEntry, Stamp, Version, VersionRef } from '../domain/version.ts';
import { makeProblem, problemOf, ProblemError, type Problem } from '../problem.ts';
import type { ApplyDependencies } from './deps.ts';
import { verifyBeforeLive } from './looking.ts';
import { readBack, type Expected } from './reading-back.ts';

/** What is known while one prompt is written; it grows with every version made. */
export type Writing = {
  readonly plan: PromptPlan;
  readonly observed: NonNullable<PromptPlan['observed']>;
  readonly dependencies: ApplyDependencies;
  readonly known: LedgerEntry[];
  /** Ids of the versions that were read in this run. */
  readonly seen: Set<string>;
  readonly made: { readonly content: Content; readonly version: Version }[];
};

/** A change that was made; problems are those of what follows it by itself. */
export type Made = { readonly outcome: ChangeOutcome; readonly problems: readonly Problem[] };

type Activated = { readonly version: Version | null; readonly problems: readonly Problem[] };

export function beginWriting(plan: PromptPlan, dependencies: ApplyDependencies): Writing {
  const { observed } = plan;
  if (observed === null) throw new ProblemError(makeProblem('internal/unexpected', { reason: 'nothing was observed' }));
  const known = knownVersions(observed).map(({ version: _, ...entry }) => entry);
  const seen = new Set(versionsRead(observed).map(({ id }) => id));
  return { plan, observed, dependencies, known, seen, made: [] };
}

/** Makes one change. Throws a `ProblemError` when it was not made or when that is unknown. */
export async function makeChange(writing: Writing, change: Change): Promise<Made> {
  switch (change.kind) {
    case 'create-version':
      return createVersion(writing, change);
    case 'update-prompt':
      return updatePrompt(writing, change);
    case 'set-active':
      return setActive(writing, change);
  }
}

async function createVersion(writing: Writing, change: CreateVersion): Promise<Made> {
  const { content, provenance } = change;
  const { changeSummary } = provenance;
  const version = await writing.dependencies.service.createVersion(writing.observed.prompt.id, {
    text: content.text,
    metadata: content.metadata ?? {},
    stamp: stampFor(writing, change),
    ...(changeSummary === undefined ? {} : { changeSummary }),
  });
  writing.known.push(entryOf(version));
  writing.made.push({ content, version });
  const outcome: ChangeOutcome = { change, status: 'made', version: { id: version.id, number: version.number } };
  if (version.digest !== content.digest) {
    return { outcome, problems: [makeProblem('apply/rewritten', { version: `v${version.number}` })] };
  }
  return { outcome, problems: await track(writing, version) };
}

/** The tracking environment moves first: a run cut right after this still leaves its newest ledger readable. */
async function track(writing: Writing, version: Version): Promise<readonly Problem[]> {
  const { trackingEnvironment } = writing.dependencies;
  if (trackingEnvironment === null) return [];
  try {
    return (await activate(writing, trackingEnvironment, version)).problems;
  } catch (error) {
    return [problemOf(error)];
  }
}

/** Sets the active version and reads it back. Throws when it was not set; what is read back wrong is a problem. */
async function activate(writing: Writing, environment: string, expected: Expected): Promise<Activated> {
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

function stampFor(writing: Writing, { content, provenance }: CreateVersion): Stamp {
  const { known, observed, dependencies } = writing;
  const activeIds = new Set([...observed.active.values()].flatMap((version) => version?.id ?? []));
  const { commit, path } = provenance;
  return {
    digest: content.digest,
    ...(commit === undefined ? {} : { commit }),
    ...(path === undefined ? {} : { path }),
    operation: dependencies.newOperation(),
    ledger: makeLedger(known, activeIds, pinnedIds(writing)),
  };
}

/**
 * The versions that a pin other than `latest` stands on, those that an environment goes back to and those that it was
 * held back at: somebody may want them again, however old they have become.
 */
function pinnedIds({ plan, observed, known }: Writing): ReadonlySet<string> {
  const newest = Math.max(...known.map(({ number }) => number));
  const standing = plan.file.pins.flatMap(({ environment, pin }) => {
    const active = observed.active.get(environment) ?? null;
    return active !== null && (pin.kind !== 'latest' || active.number < newest) ? [active.id] : [];
  });
  const targets = plan.changes.flatMap((one) => (one.kind === 'set-active' && !isNew(one.after) ? [one.after.id] : []));
  return new Set([...standing, ...targets]);
}

async function updatePrompt({ dependencies, observed }: Writing, change: UpdatePrompt): Promise<Made> {
  const entries = Object.entries(change.fields).map(([field, { after }]) => [field, after]);
  const fields: PromptFields = Object.fromEntries(entries);
  await dependencies.service.updatePrompt(observed.prompt.id, fields);
  return { outcome: { change, status: 'made' }, problems: [] };
}

async function setActive(writing: Writing, change: SetActive): Promise<Made> {
  const expected = isNew(change.after) ? madeFor(writing, change.after) : await verified(writing, change.after);
  const { version, problems } = await activate(writing, change.environment, expected);
  if (version === null) return { outcome: { change, status: 'unknown' }, problems };
  return { outcome: { change, status: 'made', version: { id: version.id, number: version.number } }, problems };
}

function madeFor({ made }: Writing, target: NewVersionRef): Version {
  const found = made.find(({ content }) => serves(content, target.new));
  if (found !== undefined) return found.version;
  throw new ProblemError(makeProblem('internal/unexpected', { reason: 'a planned version was not made' }));
}

async function verified({ dependencies, observed, known, seen }: Writing, { id }: VersionRef): Promise<Expected> {
  const digest = known.find((entry) => entry.id === id)?.digest;
  const expected = digest === undefined ? { id } : { id, digest };
  if (!seen.has(id)) await verifyBeforeLive(dependencies, observed.prompt.id, expected);
  return expected;
}
