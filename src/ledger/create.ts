import { metadataDigest, RESERVED_KEY } from '../domain/digest.ts';
import type { ChangeStatus, CreateVersion } from '../domain/plan.ts';
import { asHeld, findContent, holds, refOf, type VersionRef } from '../domain/versions.ts';
import { followsLatest } from '../domain/prompt-file.ts';
import type { ServiceError } from '../service/prompt-service.ts';
import { failed, isLost, LOST_CREATE_WAITS, stopped } from '../service/written.ts';
import type { Created, Written } from '../domain/provider.ts';
import { makeProblem } from '../problem.ts';
import { lookAtNewest, look, lookVerified } from './look.ts';
import { entryOf, followsLedger, isRewritten, isTidied, mayFollow } from './ownership.ts';
import { knownEntries, metadataIn, unseenNewest, versionsRead } from './reading.ts';
import { present, stampToWire, toVersion, type LedgerEntry, type Stamp, type Version } from './stamp.ts';
import { followNewest, headOf, note, track, type Writing } from './writing.ts';

/** A version to make, with those that pins other than `latest` move to: they stay in the ledger. */
type Making = CreateVersion & { readonly activated: readonly VersionRef[] };

/**
 * Makes a version and moves the tracking environment to it. The newest version is looked at first where nobody has
 * read it: it may be this very content, left behind by a run that was cut short.
 */
export async function createVersion(writing: Writing, change: Making): Promise<Created> {
  try {
    return (await adoptFound(writing, change)) ?? (await makeVersion(writing, change));
  } catch (error) {
    if (!isLost(error)) return failed('Creating the version')(error);
    return stopped('unknown', makeProblem('apply/outcome-unknown', { reason: error.problem.message }));
  }
}

/**
 * What is there already in place of a new version; null where one has to be made. That is what the newest own or its
 * ledger holds, once the newest version was looked at: every other one is only noted.
 */
async function adoptFound(writing: Writing, change: Making): Promise<Created | null> {
  await lookAtNewest(writing);
  const { reading } = writing;
  const rewritten = versionsRead(reading).find((one) => isRewritten(one, change.content, knownEntries(reading)));
  if (rewritten !== undefined) return refuseRewritten(rewritten, 'not_made');
  const problems = await followNewest(writing);
  if (problems.length > 0) return stopped('not_made', ...problems);
  const head = headOf(writing) ?? null;
  if (head === null) return null;
  if (change.baseline === true) return adopted(head);
  const named = [entryOf(head), ...(head.stamp?.ledger ?? [])].filter((entry) => holdsAll(writing, change, entry));
  const found = findContent(named, asHeld(change.content, metadataOf(writing)));
  return found === undefined ? null : adopted(await lookVerified(writing, found));
}

/** A version that was there already is taken for the one that was to be made. */
function adopted(version: Version): Created {
  return { status: 'adopted', version: refOf(version), adoptedMetadata: version.metadataDigest, problems: [] };
}

/** What is adopted for a content also has to hold the others that it was to be made for: it need not be our own. */
function holdsAll(writing: Writing, { content, others = [] }: CreateVersion, entry: LedgerEntry): boolean {
  return [content, ...others].every((one) => holds(entry, asHeld(one, metadataOf(writing))));
}

function metadataOf({ world, reading }: Writing) {
  return metadataIn(reading, world.trackingEnvironment);
}

/** A version that holds something else than was sent is made active nowhere. */
function refuseRewritten(version: Version, status: ChangeStatus): Written {
  const problems = [makeProblem('apply/rewritten', { version: `v${version.number}` })];
  return status === 'unknown' ? { status, problems } : { status, version: refOf(version), problems };
}

/** Sends the version, once; where its answer is lost, finds out what became of it. */
async function makeVersion(writing: Writing, change: Making): Promise<Created> {
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

/** Of the newest versions, and of those that were pinned. */
const MOST_KEPT = 20;

/** With the newest versions that are known, those that are active, and the newest that were pinned once. */
function stampFor(writing: Writing, { content, provenance, activated, baseline }: Making): Stamp {
  const { reading, world, wanted } = writing;
  const pinned = pinnedIds(writing, activated);
  const newestFirst = knownEntries(reading).map((entry): LedgerEntry => {
    return pinned.has(entry.id) ? { ...entry, pinned: true } : entry;
  });
  // That of the file's own text is kept as well: it counts as there already.
  const own = wanted.own === null ? undefined : findContent(newestFirst, wanted.own);
  const newestPinned = newestFirst.filter((entry) => entry.pinned === true).slice(0, MOST_KEPT);
  const newest = [...newestFirst.slice(0, MOST_KEPT), ...newestPinned].map(({ id }) => id);
  const kept = new Set([...newest, ...[...reading.active.values()].map((version) => version?.id), own?.id]);
  const { commit, path } = provenance;
  return {
    digest: content.digest,
    metadataDigest: metadataDigest(content.metadata ?? null),
    ...present({ commit, path, baseline }),
    operation: world.newOperation(),
    ledger: newestFirst.filter(({ id }) => kept.has(id)),
  };
}

/** The versions that a pin other than `latest` stands on or moves to: somebody may want them again. */
function pinnedIds({ wanted, reading }: Writing, activated: readonly VersionRef[]): ReadonlySet<string | undefined> {
  const others = wanted.pins.filter(({ pin }) => pin.kind !== 'latest');
  const standing = others.map(({ environment }) => reading.active.get(environment)?.id);
  return new Set([...standing, ...activated.map(({ id }) => id)]);
}

/**
 * Finds out what became of a version whose answer was lost: waits until the service has a version that nobody has
 * read, and looks at it. Throws the failure where none turns up: then nothing is known, and nothing is sent again.
 */
async function resolveLostCreate(writing: Writing, change: CreateVersion, stamp: Stamp, lost: ServiceError) {
  const id = await awaitUnread(writing);
  if (id === null) throw lost;
  const version = await look(writing.world, writing.reading.prompt.id, id).catch(() => {
    throw lost;
  });
  const isOurs = version.stamp?.operation === stamp.operation && followsLedger(version);
  const rewritten = isRewritten(version, change.content, knownEntries(writing.reading));
  note(writing, version);
  if (rewritten) return refuseRewritten(version, isOurs ? 'made' : 'unknown');
  // Somebody else's will do only where a pin follows the content: nothing else would remember it.
  const isEnough = change.baseline !== true && (change.ref !== undefined || followsLatest(writing.wanted));
  const isFollowing = mayFollow(version, headOf(writing));
  if ((isEnough || isFollowing) && holdsAll(writing, change, entryOf(version))) {
    return { ...adopted(version), problems: await followNewest(writing) };
  }
  if (isTidied(version, change.content)) return refuseRewritten(version, 'unknown');
  const evidence = { id, number: version.number, reason: lost.problem.message };
  return stopped('unknown', makeProblem('apply/somebody-else-wrote', evidence));
}

/** The id of a newest version that is not known; null where none turns up in time, or it cannot be asked for. */
async function awaitUnread({ world, reading }: Writing): Promise<string | null> {
  try {
    for (const wait of LOST_CREATE_WAITS) {
      await world.sleep(wait);
      const id = unseenNewest({ ...reading, prompt: await world.service.readPrompt(reading.prompt.id) });
      if (id !== null) return id;
    }
  } catch {
    return null;
  }
  return null;
}
