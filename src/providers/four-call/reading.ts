import type { ObservedPrompt, ReadRequest } from '../../domain/observed-prompt.ts';
import { TRACKING_ENVIRONMENT } from '../../domain/policy.ts';
import { hasGap, type KnownVersion } from '../../domain/versions.ts';
import { canReuseVersion } from '../../domain/compare-content.ts';
import { toStoredContent, omitDigests, VERSION_RECORD_KEY } from '../../domain/content.ts';
import { omitKey, renderCanonicalJson, type JsonObject } from '../../domain/json.ts';
import type { ServedPrompt } from '../../domain/served-prompt.ts';
import type { PromptService, ServicePrompt } from './prompt-service.ts';
import { returnNullIfMissing } from '../../http/service-error.ts';
import { readUntil } from '../../http/retry.ts';
import { makeProblem } from '../../problem.ts';
import { makeLedgerEntry, isManagedVersion, findNextHead } from './ownership.ts';
import { pickPresentFacts, makeLedgerVersion, type LedgerEntry, type LedgerVersion } from './version-record.ts';

/** Everything that promptsync has read about one prompt so far. */
export type LedgerReading = {
  readonly prompt: Omit<ServicePrompt, 'activeVersion'>;
  /** The active version of each environment that was read. */
  readonly active: ReadonlyMap<string, LedgerVersion | null>;
  /** The versions that promptsync probed or created, and those that it replaced in an environment. */
  readonly others: readonly LedgerVersion[];
  /** The version ids that do not exist in this prompt, as a probe has shown. */
  readonly missingIds: readonly string[];
};

/**
 * Reads a prompt in each requested environment, and in the tracking environment if that is not sufficient. Throws a
 * `ServiceError` if the prompt cannot be read.
 */
export async function readLedgerPrompt(service: PromptService, request: ReadRequest): Promise<LedgerReading> {
  const { promptId, environments } = request;
  const reading = await readEnvironments(
    service,
    promptId,
    environments.length > 0 ? environments : [TRACKING_ENVIRONMENT],
  );
  if (reading.active.has(TRACKING_ENVIRONMENT) || isReadingSufficient(request, reading)) return reading;
  const head = await readPromptIfPresent(service, promptId, TRACKING_ENVIRONMENT);
  return { ...reading, active: new Map([...reading.active, [TRACKING_ENVIRONMENT, getActiveVersion(head)]]) };
}

/**
 * Returns true if promptsync does not need the tracking environment, which has the most complete ledger: the read depth
 * is `minimal`, the prompt is in sync, and an environment serves a managed version that is not a baseline.
 */
function isReadingSufficient({ readDepth, isSynced, environments }: ReadRequest, reading: LedgerReading): boolean {
  const servesManaged = listVersionsRead(reading).some(
    (version) => isManagedVersion(version) && version.record?.baseline !== true,
  );
  return readDepth === 'minimal' && servesManaged && isSynced(interpretLedgerReading(reading, environments));
}

/** If a request fails, waits for the other requests before throwing the error. */
async function readEnvironments(
  service: PromptService,
  promptId: string,
  environments: readonly string[],
): Promise<LedgerReading> {
  const results = await Promise.allSettled(
    environments.map((environment) => readPromptIfPresent(service, promptId, environment)),
  );
  const prompts = results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
  const { activeVersion: _, ...prompt } =
    prompts.findLast((each) => each !== null) ?? (await service.readPrompt(promptId));
  const active = new Map(environments.map((environment, index) => [environment, getActiveVersion(prompts[index])]));
  return { prompt, active, others: [], missingIds: [] };
}

/** Returns null for a 404 response, because some services send it for an environment without an active version. */
async function readPromptIfPresent(
  service: PromptService,
  promptId: string,
  environment: string,
): Promise<ServicePrompt | null> {
  return returnNullIfMissing(service.readPrompt(promptId, environment), 'service/prompt-not-found');
}

/** Reads what applications receive. Throws a `ServiceError` if the prompt does not exist or cannot be read. */
export async function readServedPrompt(
  service: PromptService,
  promptId: string,
  environment: string,
): Promise<ServedPrompt | null> {
  const prompt = await readPromptIfPresent(service, promptId, environment);
  // Read the prompt without the environment to find out which of the two is missing.
  if (prompt === null) await service.readPrompt(promptId);
  const active = prompt?.activeVersion ?? null;
  if (active === null) return null;
  const { text, metadata } = active.content;
  return { type: 'text', prompt: text, number: active.number, config: omitKey(metadata, VERSION_RECORD_KEY) };
}

type ReadBackOptions = { readonly service: PromptService; readonly sleep: (milliseconds: number) => Promise<void> };

/** Reads an environment, for up to ten seconds, until it serves the expected version. Returns the last version read. */
export async function readActiveBack(
  { service, sleep }: ReadBackOptions,
  promptId: string,
  environment: string,
  isExpected: (version: LedgerVersion) => boolean,
): Promise<LedgerVersion | null> {
  const readOnce = async () => getActiveVersion(await readPromptIfPresent(service, promptId, environment));
  return readUntil(readOnce, (version) => version !== null && isExpected(version), sleep);
}

function getActiveVersion(prompt: ServicePrompt | null = null): LedgerVersion | null {
  const active = prompt?.activeVersion ?? null;
  return active === null ? null : makeLedgerVersion(active);
}

/** A version can occur more than once. */
export function listVersionsRead({ active, others }: LedgerReading): readonly LedgerVersion[] {
  return [...[...active.values()].filter((version) => version !== null), ...others];
}

/** Returns one entry for each version that promptsync has read or that a ledger contains, newest first. */
export function listKnownEntries(reading: LedgerReading): readonly LedgerEntry[] {
  const read = listVersionsRead(reading);
  const known = new Map<string, LedgerEntry>();
  const note = (entry: LedgerEntry): void => {
    // An entry keeps the mark `pinned` even if a newer ledger does not contain the mark.
    const { pinned } = known.get(entry.id) ?? {};
    known.set(entry.id, { ...pickPresentFacts({ pinned }), ...entry });
  };
  // Newer ledgers overwrite older ones, and versions that promptsync has read overwrite both.
  for (const { record } of read.toSorted((a, b) => a.number - b.number)) (record?.ledger ?? []).forEach(note);
  for (const version of read) note(makeLedgerEntry(version));
  const ids = new Set(read.map(({ id }) => id));
  // Two versions can have the same number if somebody copied a ledger from a different prompt. Put the version that
  // promptsync has read first.
  const rank = ({ id }: LedgerEntry) => (ids.has(id) ? 0 : 1);
  return [...known.values()].toSorted((a, b) => b.number - a.number || rank(a) - rank(b));
}

/**
 * The service drops metadata if a version is active in the tracking environment, and no version that was read has a
 * record: promptsync activates only its own versions there, and each has a record. If other versions have a record, the
 * service keeps metadata, and somebody else moved the tracking environment.
 */
export function detectMetadataSupport(reading: LedgerReading): ObservedPrompt['metadata'] {
  const head = reading.active.get(TRACKING_ENVIRONMENT) ?? null;
  return head !== null && listVersionsRead(reading).every(({ record }) => record === null) ? 'dropped' : 'kept';
}

export function findKnownEntry(reading: LedgerReading, id: string): LedgerEntry | undefined {
  return listKnownEntries(reading).find((entry) => entry.id === id);
}

/** Returns the id of the newest version if promptsync has neither read it nor found it in a ledger. */
export function findUnreadNewestId(reading: LedgerReading, known = listKnownEntries(reading)): string | null {
  const id = reading.prompt.latestVersionId;
  return id === null || reading.missingIds.includes(id) || known.some((entry) => entry.id === id) ? null : id;
}

/** Converts a reading to the format that all providers share. */
export function interpretLedgerReading(reading: LedgerReading, environments: readonly string[]): ObservedPrompt {
  const known = listKnownEntries(reading);
  const read = new Map(listVersionsRead(reading).map((version) => [version.id, version]));
  const metadata = detectMetadataSupport(reading);
  const { id, key, name, description } = reading.prompt;
  const head = reading.active.get(TRACKING_ENVIRONMENT);
  const lastingNow = findLastingIds(reading, new Set());
  const toKnownVersion = (entry: LedgerEntry, version?: LedgerVersion): KnownVersion =>
    makeKnownVersion(entry, lastingNow.has(entry.id), version);
  const getServedVersion = (environment: string): KnownVersion | null => {
    const version = reading.active.get(environment) ?? null;
    return version === null ? null : toKnownVersion(makeLedgerEntry(version), version);
  };
  return {
    type: 'text',
    fields: { id, key, name, description },
    active: new Map(environments.map((environment) => [environment, getServedVersion(environment)])),
    known: known.map((entry) => toKnownVersion(entry, read.get(entry.id))),
    willKnowContent: (content, movingEnvironments) => {
      const lastingIds = findLastingIds(reading, movingEnvironments);
      return known.some(
        (entry) => lastingIds.has(entry.id) && canReuseVersion(entry, toStoredContent(content, metadata)),
      );
    },
    lacksLedger: head === null && (reading.prompt.latestVersionId !== null || read.size > 0),
    canFindNumbers: findUnreadNewestId(reading, known) !== null,
    missingIds: reading.missingIds,
    ...(knowsAllVersions(reading, known) && { knowsAllVersions: true as const }),
    metadata,
    problems:
      metadata === 'dropped' ? [makeProblem('service/drops-metadata', { environment: TRACKING_ENVIRONMENT })] : [],
    fingerprint: computeFingerprint(reading),
  };
}

/** Returns true if the newest known version is the newest in the service, and the numbers begin at 1 without a gap. */
function knowsAllVersions({ prompt }: LedgerReading, known: readonly LedgerEntry[]): boolean {
  const [newest] = known;
  return newest !== undefined && newest.id === prompt.latestVersionId && !hasGap(known, 0, newest.number);
}

/** `read` is undefined if promptsync knows the version only from a ledger. */
function makeKnownVersion(entry: LedgerEntry, staysKnown: boolean, read?: LedgerVersion): KnownVersion {
  const { id, number, digest, metadataDigest, isManaged, baseline, commit, path } = entry;
  const facts = { id, number, digest, metadataDigest, isManaged, staysKnown, ...pickPresentFacts({ baseline }) };
  if (read === undefined) {
    return { ...facts, source: isManaged ? { digest, ...pickPresentFacts({ commit, path }) } : null, content: null };
  }
  const { record, createdAt } = read;
  const times = createdAt === undefined ? {} : { times: { createdAt } };
  const source = record && { digest: record.digest, ...pickPresentFacts({ commit: record.commit, path: record.path }) };
  return { ...facts, source, content: omitDigests<JsonObject>(read.content), ...times };
}

/**
 * Returns the ids of the versions that a later run will find again:
 * - managed versions that are active; the head always counts as managed, because it lacks a record only if the
 *   service drops metadata
 * - the version that the tracking environment will move to
 * - versions in the ledgers of these and of all other active versions
 * promptsync loses track of other versions, for example of a foreign version when its environment moves, or of a
 * version that was only probed. Versions that are active only in `movingEnvironments` do not count as active.
 */
function findLastingIds(
  { active, others }: LedgerReading,
  movingEnvironments: ReadonlySet<string>,
): ReadonlySet<string> {
  const head = active.get(TRACKING_ENVIRONMENT);
  const served = [...active]
    .filter(([environment]) => !movingEnvironments.has(environment))
    .flatMap(([, version]) => version ?? []);
  const managed = served.filter((version) => version === head || isManagedVersion(version));
  const next = findNextHead(others, head);
  const following = next === undefined ? [] : [next];
  const inLedgers = [...served, ...following].flatMap(({ record }) => record?.ledger ?? []);
  return new Set([...managed, ...following, ...inLedgers].map(({ id }) => id));
}

/** Equal readings have equal fingerprints. Digests reveal new content in a version that keeps its id. */
function computeFingerprint({ prompt, active }: LedgerReading): string {
  const environments = [...active].map(([environment, version]) => [
    environment,
    version === null ? null : [version.id, version.number, version.content.digest, version.content.metadataDigest],
  ]);
  return renderCanonicalJson([{ ...prompt }, environments]);
}
