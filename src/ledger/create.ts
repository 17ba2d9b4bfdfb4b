import { metadataDigest, RESERVED_KEY } from '../domain/digest.ts';
import type { ChangeStatus, CreateVersion } from '../domain/plan.ts';
import { asHeld, findContent, holds, refOf, type VersionRef } from '../domain/versions.ts';
import { followsLatest } from '../domain/prompt-file.ts';
import type { ServiceError } from '../service/prompt-service.ts';
import type { Written } from '../domain/provider.ts';
import { makeProblem } from '../problem.ts';
import { lookAtNewest, look, lookVerified } from './look.ts';
import { entryOf, followsLedger, isRewritten, isTidied, mayFollow } from './ownership.ts';
import { knownEntries, metadataIn, unseenNewest, versionsRead } from './reading.ts';
import { present, stampToWire, toVersion, type LedgerEntry, type Stamp, type Version } from './stamp.ts';
import { failed, follow, headOf, isLost, note, stopped, track, type Writing } from './writing.ts';

/** A version to make, with those that the plan makes active: they stay in the ledger. */
type Making = CreateVersion & { readonly activated: readonly VersionRef[] };

/**
 * Makes a version and moves the tracking environment to it. The newest version is looked at first where nobody has
 * read it: it may be this very content, left behind by a run that was cut short.
 */
export async function createVersion(writing: Writing, change: Making): Promise<Written> {
  try {
    return (await adoptFound(writing, change)) ?? (await makeVersion(writing, change));
  } catch (error) {
    if (!isLost(error)) return failed('Creating the version', error);
    return stopped('unknown', makeProblem('apply/outcome-unknown', { reason: error.problem.message }));
  }
}

/** What is there already in place of a new version; null where one has to be made. */
async function adoptFound(writing: Writing, change: CreateVersion): Promise<Written | null> {
  const newest = await lookAtNewest(writing);
  const leads = newest !== null && classify(writing, change, newest) !== 'rewritten';
  const problems = leads ? await follow(writing, newest) : [];
  if (problems.length > 0) return stopped('not_made', ...problems);
  for (const version of versionsRead(writing.reading)) {
    const found = await adoptRead(writing, change, version);
    if (found !== null) return found;
  }
  return null;
}

/** Adopts what was read, or what its ledger names; null where neither holds the content. */
async function adoptRead(writing: Writing, change: CreateVersion, version: Version): Promise<Written | null> {
  const kind = classify(writing, change, version);
  if (kind === 'wanted') return adopt(writing, version, version);
  if (kind === 'rewritten') return refuseRewritten(version, 'not_made');
  const named = namedBy(writing, change, version);
  return named === undefined ? null : adopt(writing, await lookVerified(writing, named), version);
}

/**
 * What a version is to somebody who is about to make one. Where no pin follows the content it must be one that the
 * tracking environment can move to, or whose head names it: nothing else would remember it. One that may be somebody's
 * copy is never wanted.
 */
function classify(writing: Writing, change: CreateVersion, version: Version): 'wanted' | 'rewritten' | 'other' {
  const kept = isFollowed(writing, change) || isKept(writing, version, version);
  if (kept && holdsAll(writing, change, entryOf(version))) return 'wanted';
  return isRewritten(version, change.content, knownEntries(writing.reading)) ? 'rewritten' : 'other';
}

/** What is adopted for a content also has to hold the others that it was to be made for: it need not be our own. */
function holdsAll(writing: Writing, { content, others = [] }: CreateVersion, entry: LedgerEntry): boolean {
  return [content, ...others].every((one) => holds(entry, asHeld(one, metadataOf(writing))));
}

/** The version of the wanted content that the ledger of a version read names, on the same condition. */
function namedBy(writing: Writing, change: CreateVersion, version: Version): LedgerEntry | undefined {
  const kept = ({ id }: LedgerEntry) => isFollowed(writing, change) || isKept(writing, { id }, version);
  const named = (version.stamp?.ledger ?? []).filter((entry) => kept(entry) && holdsAll(writing, change, entry));
  return findContent(named, asHeld(change.content, metadataOf(writing)));
}

function isKept(writing: Writing, { id }: Pick<Version, 'id'>, newest: Version): boolean {
  const head = headOf(writing);
  const named = [head, ...(head?.stamp?.ledger ?? [])];
  return mayFollow(newest, head) || named.some((entry) => entry?.id === id);
}

function metadataOf({ world, reading }: Writing) {
  return metadataIn(reading, world.trackingEnvironment);
}

function isFollowed({ wanted }: Writing, { ref }: CreateVersion): boolean {
  return ref !== undefined || followsLatest(wanted);
}

/** Takes a version for the one that was to be made: it was there already. `newest` is what it was found by. */
async function adopt(writing: Writing, version: Version, newest: Version): Promise<Written> {
  return { status: 'adopted', version: refOf(version), problems: await follow(writing, newest) };
}

/** A version that holds something else than was sent is made active nowhere. */
function refuseRewritten(version: Version, status: ChangeStatus): Written {
  const problems = [makeProblem('apply/rewritten', { version: `v${version.number}` })];
  return status === 'unknown' ? { status, problems } : { status, version: refOf(version), problems };
}

/** Sends the version, once; where its answer is lost, finds out what became of it. */
async function makeVersion(writing: Writing, change: Making): Promise<Written> {
  const { content, provenance } = change;
  const { changeSummary } = provenance;
  const stamp = stampFor(writing, change);
  try {
    const made = await writing.world.service.createVersion(writing.reading.prompt.id, {
      text: content.text,
      metadata: { ...content.metadata, [RESERVED_KEY]: stampToWire(stamp) },
      ...(changeSummary === undefined ? {} : { changeSummary }),
    });
    return await finishMade(writing, change, toVersion(made));
  } catch (error) {
    if (isLost(error)) return resolveLostCreate(writing, change, stamp, error);
    throw error;
  }
}

async function finishMade(writing: Writing, { content }: CreateVersion, version: Version): Promise<Written> {
  if (!isAsSent(content, version)) return refuseRewritten(version, 'made');
  const { trackingEnvironment: environment } = writing.world;
  const dropped = version.stamp === null && metadataOf(writing) === 'kept';
  note(writing, version);
  const problems = await track(writing, version);
  const warnings = dropped ? [makeProblem('service/drops-metadata', { environment })] : [];
  return { status: 'made', version: refOf(version), problems: [...problems, ...warnings] };
}

/** Metadata that is dropped altogether can be lived with: the tracking environment shows that it was. */
function isAsSent(content: CreateVersion['content'], version: Version): boolean {
  if (version.digest !== content.digest) return false;
  const kept = content.metadataDigest === undefined || version.metadataDigest === content.metadataDigest;
  return kept || version.stamp === null;
}

const NEWEST_KEPT = 20;

/** With the newest versions that are known, those that are active, and all that were pinned once. */
function stampFor(writing: Writing, { content, provenance, activated }: Making): Stamp {
  const { reading, world, wanted } = writing;
  const newestFirst = knownEntries(reading);
  // That of the file's own text is kept as well: it counts as there already.
  const own = wanted.own === null ? undefined : findContent(newestFirst, wanted.own);
  const kept = new Set([...[...reading.active.values()].map((version) => version?.id), own?.id]);
  const pinned = pinnedIds(writing, newestFirst[0]?.number ?? 0, activated);
  const ledger = newestFirst
    .map((entry): LedgerEntry => (pinned.has(entry.id) ? { ...entry, pinned: true } : entry))
    .filter((entry, index) => index < NEWEST_KEPT || kept.has(entry.id) || entry.pinned === true);
  const { commit, path } = provenance;
  return {
    digest: content.digest,
    metadataDigest: metadataDigest(content.metadata ?? null),
    ...present({ commit, path }),
    operation: world.newOperation(),
    ledger,
  };
}

/**
 * The versions that a pin other than `latest` stands on, those that an environment goes back to and those that it was
 * held back at: somebody may want them again, however old they have become.
 */
function pinnedIds(
  { wanted, reading }: Writing,
  newest: number,
  activated: readonly VersionRef[],
): ReadonlySet<string> {
  const standing = wanted.pins.flatMap(({ environment, pin }) => {
    const active = reading.active.get(environment) ?? null;
    return active !== null && (pin.kind !== 'latest' || active.number < newest) ? [active.id] : [];
  });
  return new Set([...standing, ...activated.map(({ id }) => id)]);
}

/** In milliseconds: a version may be stored well after its answer was given up. */
const WAITS = [250, 1_000, 2_000, 4_000, 8_000];

/**
 * Finds out what became of a version whose answer was lost: waits until the service has a version that nobody has
 * read, and looks at it. Throws the failure where none turns up: then nothing is known, and nothing is sent again.
 */
async function resolveLostCreate(
  writing: Writing,
  change: CreateVersion,
  stamp: Stamp,
  lost: ServiceError,
): Promise<Written> {
  const id = await awaitUnread(writing);
  if (id === null) throw lost;
  const version = await look(writing.world, writing.reading.prompt.id, id).catch(() => {
    throw lost;
  });
  note(writing, version);
  const kind = classify(writing, change, version);
  if (kind === 'wanted') return adopt(writing, version, version);
  const isOurs = version.stamp?.operation === stamp.operation && followsLedger(version);
  if (kind === 'rewritten') return refuseRewritten(version, isOurs ? 'made' : 'unknown');
  if (isTidied(version, change.content)) return refuseRewritten(version, 'unknown');
  const evidence = { id, number: version.number, reason: lost.problem.message };
  return stopped('unknown', makeProblem('apply/somebody-else-wrote', evidence));
}

/** The id of a newest version that is not known; null where none turns up in time, or it cannot be asked for. */
async function awaitUnread({ world, reading }: Writing): Promise<string | null> {
  try {
    for (const wait of WAITS) {
      await world.sleep(wait);
      const id = unseenNewest({ ...reading, prompt: await world.service.readPrompt(reading.prompt.id) });
      if (id !== null) return id;
    }
  } catch {
    return null;
  }
  return null;
}
