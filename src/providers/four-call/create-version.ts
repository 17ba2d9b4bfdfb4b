import { canReuseVersion, isSameVersionContent } from '../../domain/compare-content.ts';
import { toStoredContent, computeNewVersionDigests, VERSION_RECORD_KEY } from '../../domain/content.ts';
import { TRACKING_ENVIRONMENT } from '../../domain/policy.ts';
import type { CreateVersion } from '../../domain/plan.ts';
import { findVersionWithContent, makeVersionRef, MAX_LEDGER_VERSIONS, type VersionRef } from '../../domain/versions.ts';
import { followsLatest } from '../../domain/prompt-file.ts';
import type { ServiceError } from '../../http/service-error.ts';
import {
  makeFailureHandler,
  findLostVersion,
  isLostResponse,
  makeRewrittenOutcome,
  makeUnknownCreateOutcome,
  makeStoppedOutcome,
} from '../write-outcome.ts';
import type { CreateOutcome, WriteOutcome, VersionUses } from '../provider-interface.ts';
import { makeProblem } from '../../problem.ts';
import { DEFAULT_WORDS } from '../../service-words.ts';
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

/** The pinned versions stay in the ledger of the new version, because somebody may want to activate them again. */
type CreateRequest = CreateVersion & Pick<VersionUses, 'pinnedVersions'>;

/**
 * Creates a version and activates it in the tracking environment. If a version with the same content already exists,
 * for example from an interrupted run, adopts that version instead.
 */
export async function createManagedVersion(state: LedgerWriteState, change: CreateRequest): Promise<CreateOutcome> {
  try {
    return (await adoptExistingVersion(state, change)) ?? (await sendCreate(state, change));
  } catch (error) {
    if (!isLostResponse(error)) return makeFailureHandler('Creating the version')(error);
    return makeUnknownCreateOutcome(error, DEFAULT_WORDS);
  }
}

/**
 * Returns null if promptsync has to create the version. Otherwise it has adopted a version, or a problem prevents it
 * from creating one. Probes the newest version first, because it may not be in any ledger.
 */
async function adoptExistingVersion(state: LedgerWriteState, change: CreateRequest): Promise<CreateOutcome | null> {
  await probeNewestVersion(state);
  const { reading } = state;
  const known = listKnownEntries(reading);
  const rewritten = listVersionsRead(reading).find((version) => isRewritten(version, change.content, known));
  if (rewritten !== undefined) return makeRewrittenOutcome(rewritten, 'not_made', []);
  const problems = await trackNewestVersion(state);
  if (problems.length > 0) return makeStoppedOutcome('not_made', ...problems);
  const head = getLedgerHead(state) ?? null;
  if (head === null) return null;
  // A baseline only has to carry the ledger. If the tracking environment now serves a version, that version carries it.
  if (change.baseline === true) return makeAdoptedOutcome(head);
  const candidates = [makeLedgerEntry(head), ...(head.record?.ledger ?? [])].filter((entry) =>
    holdsAllContents(state, change, entry),
  );
  const content = toStoredContent(change.content, detectMetadataSupport(state.reading));
  const match = findVersionWithContent(candidates, content);
  return match === undefined ? null : makeAdoptedOutcome(await probeVerifiedVersion(state, match));
}

/** Builds the outcome of a planned create call if promptsync adopted an existing version instead. */
function makeAdoptedOutcome(version: LedgerVersion): CreateOutcome {
  return {
    status: 'adopted',
    version: makeVersionRef(version),
    adoptedMetadataDigest: version.content.metadataDigest,
    problems: [],
  };
}

/** Returns true if promptsync can adopt the version: it has the planned content and also all `otherContents`. */
function holdsAllContents(
  { reading }: LedgerWriteState,
  { content, otherContents = [] }: CreateVersion,
  entry: LedgerEntry,
): boolean {
  const metadata = detectMetadataSupport(reading);
  return [content, ...otherContents].every((each) => canReuseVersion(entry, toStoredContent(each, metadata)));
}

/** Sends the create call only once, even if the response is lost. */
async function sendCreate(state: LedgerWriteState, change: CreateRequest): Promise<CreateOutcome> {
  const { content, provenance } = change;
  const { changeSummary } = provenance;
  const record = makeVersionRecord(state, change);
  try {
    const created = await state.dependencies.service.createVersion(state.reading.prompt.id, {
      content: {
        type: content.type,
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

/** Activates the version in the tracking environment, unless the service changed the content. */
async function checkCreatedVersion(
  state: LedgerWriteState,
  { content }: CreateVersion,
  version: LedgerVersion,
): Promise<WriteOutcome> {
  if (!isStoredAsSent(content, version)) return makeRewrittenOutcome(version, 'made', []);
  const isFirstDrop = version.record === null && detectMetadataSupport(state.reading) === 'kept';
  rememberVersions(state, version);
  const problems = await trackVersion(state, version);
  const warnings = isFirstDrop ? [makeProblem('service/drops-metadata', { environment: TRACKING_ENVIRONMENT })] : [];
  return { status: 'made', version: makeVersionRef(version), problems: [...problems, ...warnings] };
}

/**
 * Returns true if the service stored the content that promptsync sent. Also accepts a version without any metadata,
 * because some services drop it. promptsync recognizes such a version later, because it is active in the tracking
 * environment.
 */
function isStoredAsSent(content: CreateVersion['content'], version: LedgerVersion): boolean {
  return isSameVersionContent(version.content, version.record === null ? toStoredContent(content, 'dropped') : content);
}

/**
 * Builds the version record of a new version. Its ledger contains these versions:
 * - the newest known versions
 * - the newest versions with the mark `pinned`
 * - all versions that are active in an observed environment
 * - the version with the content of the prompt file
 */
function makeVersionRecord(
  state: LedgerWriteState,
  { content, provenance, pinnedVersions, baseline }: CreateRequest,
): VersionRecord {
  const { reading, dependencies, request } = state;
  const pinned = listPinnedIds(state, pinnedVersions);
  const newestFirst = listKnownEntries(reading).map((entry): LedgerEntry => {
    return pinned.has(entry.id) ? { ...entry, pinned: true } : entry;
  });
  // Keep the version with the content of the prompt file. Otherwise a later sync would create this content again.
  const own = request.fileContent === null ? undefined : findVersionWithContent(newestFirst, request.fileContent);
  const newestPinned = newestFirst.filter((entry) => entry.pinned === true).slice(0, MAX_LEDGER_VERSIONS);
  const newest = [...newestFirst.slice(0, MAX_LEDGER_VERSIONS), ...newestPinned].map(({ id }) => id);
  const kept = new Set([...newest, ...[...reading.active.values()].map((version) => version?.id), own?.id]);
  const { commit, path } = provenance;
  return {
    ...computeNewVersionDigests(content, undefined),
    ...pickPresentFacts({ commit, path, baseline }),
    operation: dependencies.newOperation(),
    ledger: newestFirst.filter(({ id }) => kept.has(id)),
  };
}

/** Returns the versions that are active, or that this plan activates, because of pins other than `latest`. */
function listPinnedIds(
  { request, reading }: LedgerWriteState,
  pinnedVersions: readonly VersionRef[],
): ReadonlySet<string | undefined> {
  const pins = request.pins.filter(({ pin }) => pin.kind !== 'latest');
  const active = pins.map(({ environment }) => reading.active.get(environment)?.id);
  return new Set([...active, ...pinnedVersions.map(({ id }) => id)]);
}

/**
 * Waits up to 15 seconds for a new version in the service, and probes it. Otherwise throws the error of the call. Never
 * sends the create call again, because that could create a second version.
 */
async function resolveLostCreate(
  state: LedgerWriteState,
  change: CreateVersion,
  record: VersionRecord,
  error: ServiceError,
): Promise<CreateOutcome> {
  const id = await awaitUnreadNewestId(state);
  if (id === null) throw error;
  const version = await probeVersion(state.dependencies, state.reading.prompt.id, id).catch(() => {
    throw error;
  });
  const isOwnVersion = hasCreated(record, version);
  const rewritten = isRewritten(version, change.content, listKnownEntries(state.reading));
  rememberVersions(state, version);
  if (rewritten) return makeRewrittenOutcome(version, isOwnVersion ? 'made' : 'unknown', []);
  // Adopt a foreign version only if a pin requires its content. Otherwise no ledger would contain it, and promptsync
  // would lose track of it.
  const isPinFollowing = change.baseline !== true && (change.ref !== undefined || followsLatest(state.request));
  const isNextManaged = mayFollowHead(version, getLedgerHead(state));
  if ((isPinFollowing || isNextManaged) && holdsAllContents(state, change, makeLedgerEntry(version))) {
    const problems = await trackNewestVersion(state);
    return { ...makeAdoptedOutcome(version), ...(isOwnVersion && { isRecovered: true as const }), problems };
  }
  if (mayBeTidiedCreate(version, change.content)) return makeRewrittenOutcome(version, 'unknown', []);
  const evidence = { id, number: version.number, reason: error.problem.message };
  return makeStoppedOutcome('unknown', makeProblem('apply/somebody-else-wrote', evidence));
}

/** Returns true if the create call that sent a version record created a version. */
function hasCreated({ operation }: VersionRecord, version: LedgerVersion): boolean {
  return version.record?.operation === operation && directlyFollowsLedger(version);
}

/** Returns null if the newest version is still one that promptsync knows after 15 seconds. */
async function awaitUnreadNewestId({ dependencies, reading }: LedgerWriteState): Promise<string | null> {
  const findUnread = async () =>
    findUnreadNewestId({ ...reading, prompt: await dependencies.service.readPrompt(reading.prompt.id) });
  return findLostVersion(findUnread, dependencies.sleep);
}
