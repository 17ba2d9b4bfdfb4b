import {
  toStoredContent,
  computeNewVersionDigests,
  holdsContent,
  VERSION_RECORD_KEY,
  isSameContent,
} from '../domain/content.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import type { CreateVersion } from '../domain/plan.ts';
import { findVersionWithContent, makeVersionRef, type VersionRef } from '../domain/versions.ts';
import { followsLatest } from '../domain/prompt-file.ts';
import type { ServiceError } from '../service/prompt-service.ts';
import {
  makeFailureHandler,
  findLostVersion,
  isLostResponse,
  refuseRewritten,
  reportUnknownCreate,
  makeStoppedOutcome,
} from '../service/write-outcome.ts';
import type { CreateOutcome, WriteOutcome } from '../domain/provider.ts';
import { makeProblem } from '../problem.ts';
import { probeNewestVersion, probeVersion, probeVerifiedVersion } from './probe.ts';
import { makeLedgerEntry, directlyFollowsLedger, isRewritten, mayBeTidiedCreate, mayFollowHead } from './ownership.ts';
import { listKnownEntries, detectMetadataSupport, findUnreadNewestId, listVersionsRead } from './reading.ts';
import {
  pickPresentFacts,
  renderVersionRecord,
  makeLedgerVersion,
  type LedgerEntry,
  type VersionRecord,
  type LedgerVersion,
} from './version-record.ts';
import { trackNewestVersion, getLedgerHead, rememberVersions, trackVersion, type LedgerWriteState } from './writing.ts';

/**
 * The version to create, and the existing versions that the plan activates for pins other than `latest`. The ledger of
 * the new version keeps the activated versions, because somebody may want them again.
 */
type CreateRequest = CreateVersion & { readonly activated: readonly VersionRef[] };

/**
 * Creates a version and makes it active in the tracking environment. Adopts an existing version instead if one holds
 * the content: an interrupted run may have created that version.
 */
export async function createManagedVersion(state: LedgerWriteState, change: CreateRequest): Promise<CreateOutcome> {
  try {
    return (await adoptExistingVersion(state, change)) ?? (await sendCreate(state, change));
  } catch (error) {
    if (!isLostResponse(error)) return makeFailureHandler('Creating the version')(error);
    return reportUnknownCreate(error);
  }
}

/**
 * Searches for an existing version that makes the create call unnecessary. Probes the newest version, and then searches
 * the version in the tracking environment and its ledger. Returns the outcome if promptsync adopts a version or must
 * not create one. Returns null if promptsync has to create the version.
 */
async function adoptExistingVersion(state: LedgerWriteState, change: CreateRequest): Promise<CreateOutcome | null> {
  await probeNewestVersion(state);
  const { reading } = state;
  const rewritten = listVersionsRead(reading).find((version) =>
    isRewritten(version, change.content, listKnownEntries(reading)),
  );
  if (rewritten !== undefined) return refuseRewritten(rewritten, 'not_made');
  const problems = await trackNewestVersion(state);
  if (problems.length > 0) return makeStoppedOutcome('not_made', ...problems);
  const head = getLedgerHead(state) ?? null;
  if (head === null) return null;
  if (change.baseline === true) return makeAdoptedOutcome(head);
  const candidates = [makeLedgerEntry(head), ...(head.record?.ledger ?? [])].filter((entry) =>
    holdsAllContents(state, change, entry),
  );
  const match = findVersionWithContent(candidates, toStoredContent(change.content, detectMetadata(state)));
  return match === undefined ? null : makeAdoptedOutcome(await probeVerifiedVersion(state, match));
}

/** Makes the outcome of a planned create for which promptsync adopts an existing version instead. */
function makeAdoptedOutcome(version: LedgerVersion): CreateOutcome {
  return {
    status: 'adopted',
    version: makeVersionRef(version),
    adoptedMetadataDigest: version.content.metadataDigest,
    problems: [],
  };
}

/** Whether a version holds the content to create and all other contents that the new version would serve. */
function holdsAllContents(
  state: LedgerWriteState,
  { content, otherContents = [] }: CreateVersion,
  entry: LedgerEntry,
): boolean {
  const metadata = detectMetadata(state);
  return [content, ...otherContents].every((each) => holdsContent(entry, toStoredContent(each, metadata)));
}

/** Detects whether the service keeps the metadata of versions, as far as the versions read so far show it. */
function detectMetadata({ world, reading }: LedgerWriteState): ObservedPrompt['metadata'] {
  return detectMetadataSupport(reading, world.trackingEnvironment);
}

/** Sends the create call once. If the response is lost, finds out whether the service created the version. */
async function sendCreate(state: LedgerWriteState, change: CreateRequest): Promise<CreateOutcome> {
  const { content, provenance } = change;
  const { changeSummary } = provenance;
  const record = makeVersionRecord(state, change);
  try {
    const created = await state.world.service.createVersion(state.reading.prompt.id, {
      content: {
        text: content.text,
        metadata: { ...content.metadata, [VERSION_RECORD_KEY]: renderVersionRecord(record) },
      },
      ...(changeSummary === undefined ? {} : { changeSummary }),
    });
    return await checkCreatedVersion(state, change, makeLedgerVersion(created));
  } catch (error) {
    if (isLostResponse(error)) return resolveLostCreate(state, change, record, error);
    throw error;
  }
}

/**
 * Compares the content of a created version with the sent content. If they are equal, makes the version active in the
 * tracking environment.
 */
async function checkCreatedVersion(
  state: LedgerWriteState,
  { content }: CreateVersion,
  version: LedgerVersion,
): Promise<WriteOutcome> {
  if (!isStoredAsSent(content, version)) return refuseRewritten(version, 'made');
  const { trackingEnvironment: environment } = state.world;
  const isFirstDrop = version.record === null && detectMetadata(state) === 'kept';
  rememberVersions(state, version);
  const problems = await trackVersion(state, version);
  const warnings = isFirstDrop ? [makeProblem('service/drops-metadata', { environment })] : [];
  return { status: 'made', version: makeVersionRef(version), problems: [...problems, ...warnings] };
}

/**
 * Whether the service stored the content that promptsync sent. A service that drops all metadata is acceptable, because
 * the tracking environment still shows which versions promptsync created.
 */
function isStoredAsSent(content: CreateVersion['content'], version: LedgerVersion): boolean {
  return isSameContent(version.content, version.record === null ? toStoredContent(content, 'dropped') : content);
}

/** The number of newest versions that a ledger keeps, and also the number of pinned versions. */
const MAX_LEDGER_VERSIONS = 20;

/**
 * Makes the version record of a new version. Its ledger contains the newest known versions, the newest versions that
 * were ever pinned, all active versions, and the version that holds the text of the file.
 */
function makeVersionRecord(
  state: LedgerWriteState,
  { content, provenance, activated, baseline }: CreateRequest,
): VersionRecord {
  const { reading, world, request } = state;
  const pinned = listPinnedIds(state, activated);
  const newestFirst = listKnownEntries(reading).map((entry): LedgerEntry => {
    return pinned.has(entry.id) ? { ...entry, pinned: true } : entry;
  });
  // Without this entry, a later sync would create the text of the file again.
  const own = request.fileContent === null ? undefined : findVersionWithContent(newestFirst, request.fileContent);
  const newestPinned = newestFirst.filter((entry) => entry.pinned === true).slice(0, MAX_LEDGER_VERSIONS);
  const newest = [...newestFirst.slice(0, MAX_LEDGER_VERSIONS), ...newestPinned].map(({ id }) => id);
  const kept = new Set([...newest, ...[...reading.active.values()].map((version) => version?.id), own?.id]);
  const { commit, path } = provenance;
  return {
    ...computeNewVersionDigests(content, undefined),
    ...pickPresentFacts({ commit, path, baseline }),
    operation: world.newOperation(),
    ledger: newestFirst.filter(({ id }) => kept.has(id)),
  };
}

/** Returns the ids of the versions that are active under a pin other than `latest`, now or after this plan. */
function listPinnedIds(
  { request, reading }: LedgerWriteState,
  activated: readonly VersionRef[],
): ReadonlySet<string | undefined> {
  const pins = request.pins.filter(({ pin }) => pin.kind !== 'latest');
  const active = pins.map(({ environment }) => reading.active.get(environment)?.id);
  return new Set([...active, ...activated.map(({ id }) => id)]);
}

/**
 * Finds out whether the service created the version of a call whose response was lost. Waits until the newest version
 * is a version that promptsync has not read, and probes that version. Throws the error of the call if there is no such
 * version within 15 seconds. promptsync never sends the create again.
 */
async function resolveLostCreate(
  state: LedgerWriteState,
  change: CreateVersion,
  record: VersionRecord,
  error: ServiceError,
): Promise<CreateOutcome> {
  const id = await awaitUnreadNewestId(state);
  if (id === null) throw error;
  const version = await probeVersion(state.world, state.reading.prompt.id, id).catch(() => {
    throw error;
  });
  const isOwnVersion = version.record?.operation === record.operation && directlyFollowsLedger(version);
  const rewritten = isRewritten(version, change.content, listKnownEntries(state.reading));
  rememberVersions(state, version);
  if (rewritten) return refuseRewritten(version, isOwnVersion ? 'made' : 'unknown');
  // A foreign version is adopted only if a pin follows its content. Otherwise no ledger would remember the version.
  const isPinFollowing = change.baseline !== true && (change.ref !== undefined || followsLatest(state.request));
  const isNextManaged = mayFollowHead(version, getLedgerHead(state));
  if ((isPinFollowing || isNextManaged) && holdsAllContents(state, change, makeLedgerEntry(version))) {
    return { ...makeAdoptedOutcome(version), problems: await trackNewestVersion(state) };
  }
  if (mayBeTidiedCreate(version, change.content)) return refuseRewritten(version, 'unknown');
  const evidence = { id, number: version.number, reason: error.problem.message };
  return makeStoppedOutcome('unknown', makeProblem('apply/somebody-else-wrote', evidence));
}

/**
 * Returns the id of the newest version as soon as promptsync has not read that version. Returns null after 15 seconds.
 */
async function awaitUnreadNewestId({ world, reading }: LedgerWriteState): Promise<string | null> {
  const findUnread = async () =>
    findUnreadNewestId({ ...reading, prompt: await world.service.readPrompt(reading.prompt.id) });
  return findLostVersion(findUnread, world.sleep);
}
