import { canonicalJson } from '../domain/json.ts';
import type { ObservedPrompt, ReadRequest } from '../domain/observed-prompt.ts';
import { makeVersionRef, type VersionWithMetadata } from '../domain/versions.ts';
import { type Content, holdsContent } from '../domain/content.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { LangfuseService, RemoteLangfusePrompt, RemoteLangfuseVersion } from './client.ts';

/** Everything that promptsync has read of one prompt so far. */
export type LangfuseReading = {
  /** The version that has each requested label. Null if no version has the label. */
  readonly active: ReadonlyMap<string, RemoteLangfuseVersion | null>;
  /** Other versions: those that were read by their numbers or by other labels, and those that this run created. */
  readonly others: readonly RemoteLangfuseVersion[];
  /** The row of the prompt in the listing. Undefined if there is no such row. Null if the listing was not read. */
  readonly listed: RemoteLangfusePrompt | null | undefined;
};

/**
 * Reads the version of each requested label. Stops there if these versions show that the prompt is in sync. Otherwise
 * it also reads the versions that may hold the requested contents or have the pinned numbers. Throws a `ProblemError`
 * if the prompt cannot be read or is too large.
 */
export async function readLangfusePrompt(service: LangfuseService, request: ReadRequest): Promise<LangfuseReading> {
  const { promptId, environments, readDepth } = request;
  const limitedService = limitReadSize(service);
  const labeled = await readVersionsByLabel(limitedService, promptId, environments);
  const active = new Map(environments.map((label, index) => [label, labeled[index] ?? null]));
  const reading: LangfuseReading = { active, others: [], listed: null };
  if (readDepth !== 'versions' && request.isSynced(interpretLangfuseReading(reading, request))) return reading;
  const listed = await limitedService.find(promptId);
  if (listed === null) return { ...reading, listed: undefined };
  return readMoreVersions(limitedService, request, { ...reading, listed });
}

/**
 * The maximum size of the versions of one prompt in memory, in MiB. 1,000 versions of 200 kB stay within this limit.
 */
const MAX_PROMPT_MIB = 256;

/**
 * Returns a service that limits the total size of the versions that are read through it. Beyond the limit, a read
 * throws a `ProblemError`. Reads through the original service need no limit, because promptsync does not keep their
 * versions.
 */
function limitReadSize(service: LangfuseService): LangfuseService {
  let size = 0;
  return {
    ...service,
    read: async (name, selector) => {
      const version = await service.read(name, selector);
      size += version?.size ?? 0;
      if (size <= MAX_PROMPT_MIB * 1024 * 1024) return version;
      throw new ProblemError(makeProblem('langfuse/too-large', { name, limit: MAX_PROMPT_MIB }));
    },
  };
}

/** Reads the version of each label, in the order of the labels. Null if no version has the label. */
function readVersionsByLabel(
  service: LangfuseService,
  promptId: string,
  labels: readonly string[],
): Promise<readonly (RemoteLangfuseVersion | null)[]> {
  return Promise.all(labels.map((label) => service.read(promptId, { kind: 'label', label })));
}

/** The number of newest versions in which promptsync searches for a content. */
const MAX_SEARCHED_VERSIONS = 20;
/** The number of versions that a search reads at the same time. */
const MAX_PARALLEL_VERSION_READS = 5;

type ListedReading = LangfuseReading & { readonly listed: RemoteLangfusePrompt };

/**
 * Reads further versions of a listed prompt. With the read depth `versions`, reads all of them. Otherwise reads the
 * versions with other labels, the pinned versions and the newest version, and then searches the recent versions.
 */
async function readMoreVersions(
  service: LangfuseService,
  request: ReadRequest,
  reading: ListedReading,
): Promise<LangfuseReading> {
  const { listed, active } = reading;
  const newestFirst = listNumbersNewestFirst(listed);
  if (request.readDepth === 'versions') {
    return { ...reading, others: await readVersionsByNumber(service, request, reading, newestFirst) };
  }
  const otherLabels = listed.labels.filter((label) => label !== LATEST_LABEL && !active.has(label));
  const labeled = await readVersionsByLabel(service, request.promptId, otherLabels);
  const others = labeled.filter((version) => version !== null);
  const numbers = [...request.pinnedNumbers, ...newestFirst.slice(0, 1)];
  const numbered = await readVersionsByNumber(service, request, { ...reading, others }, numbers);
  return searchRecentVersions(service, request, { ...reading, others: [...others, ...numbered] });
}

/** Reads the versions with these numbers. Skips numbers that are not listed and versions that were already read. */
async function readVersionsByNumber(
  service: LangfuseService,
  { promptId }: ReadRequest,
  reading: ListedReading,
  numbers: readonly number[],
): Promise<readonly RemoteLangfuseVersion[]> {
  const knownNumbers = new Set(listLangfuseVersions(reading).map(({ number }) => number));
  const listedNumbers = new Set(reading.listed.versions);
  const missingNumbers = numbers.filter((number) => !knownNumbers.has(number) && listedNumbers.has(number));
  return Promise.all(missingNumbers.map((number) => readListedVersion(service, promptId, number)));
}

/** Reads the recent versions, newest first, until the reading contains every requested content. */
async function searchRecentVersions(
  service: LangfuseService,
  request: ReadRequest,
  reading: ListedReading,
): Promise<LangfuseReading> {
  const recentNumbers = listRecentNumbers(reading);
  const others = [...reading.others];
  const extended = { ...reading, others };
  for (let start = 0; start < recentNumbers.length; start += MAX_PARALLEL_VERSION_READS) {
    if (areContentsFound(extended, request)) break;
    const numbers = recentNumbers.slice(start, start + MAX_PARALLEL_VERSION_READS);
    const versions = await readVersionsByNumber(service, request, extended, numbers);
    // Adds versions only until every content is found, so that the newest version with a content is the one to use.
    for (const version of versions) {
      if (!areContentsFound(extended, request)) others.push(version);
    }
  }
  return extended;
}

/**
 * Whether a reading contains every requested content. If no pin is `latest`, a later run must also be able to find the
 * content of the file, even after all requested labels have moved.
 */
function areContentsFound(
  reading: LangfuseReading,
  { environments, fileContent, pins, contentsToFind }: ReadRequest,
): boolean {
  const staysFindable =
    fileContent === null ||
    pins.some(({ pin }) => pin.kind === 'latest') ||
    canFindContentLater(reading, fileContent, new Set(environments));
  if (!staysFindable) return false;
  const versions = listLangfuseVersions(reading);
  return contentsToFind.every((content) => versions.some((version) => holdsContent(version, content)));
}

/**
 * Whether a later run can find a content after some labels have moved to other versions. A later run finds only the
 * recent versions and the versions that still have a label.
 */
function canFindContentLater(reading: LangfuseReading, content: Content, movingLabels: ReadonlySet<string>): boolean {
  const recentNumbers = listRecentNumbers(reading);
  const staysFindable = ({ number, labels }: RemoteLangfuseVersion) =>
    recentNumbers.includes(number) || labels.some((label) => !movingLabels.has(label));
  return listLangfuseVersions(reading).some((version) => staysFindable(version) && holdsContent(version, content));
}

/** Returns the numbers of the 20 newest versions. Returns none if the listing was not read or lacks the prompt. */
function listRecentNumbers({ listed }: LangfuseReading): readonly number[] {
  return listed ? listNumbersNewestFirst(listed).slice(0, MAX_SEARCHED_VERSIONS) : [];
}

/**
 * Reads a version that is listed. Throws a `ProblemError` if the version cannot be read, because it may hold the
 * content that promptsync would otherwise create again.
 */
async function readListedVersion(
  service: LangfuseService,
  name: string,
  number: number,
): Promise<RemoteLangfuseVersion> {
  const version = await service.read(name, { kind: 'version', version: number });
  if (version !== null) return version;
  const reason = `version ${number} is listed, but reading it returns 404`;
  throw new ProblemError(makeProblem('service/invalid-answer', { reason }));
}

/** The label that Langfuse moves to each new version. */
export const LATEST_LABEL = 'latest';

function listNumbersNewestFirst({ versions }: RemoteLangfusePrompt): readonly number[] {
  return versions.toSorted((a, b) => b - a);
}

/** Returns all versions that were read, newest first and without duplicates. */
export function listLangfuseVersions({ active, others }: LangfuseReading): readonly RemoteLangfuseVersion[] {
  const activeVersions = [...active.values()].filter((version) => version !== null);
  const byNumber = new Map([...others, ...activeVersions].map((version) => [version.number, version]));
  return [...byNumber.values()].toSorted((a, b) => b.number - a.number);
}

/** Converts a reading to the form that all providers have in common. */
export function interpretLangfuseReading(reading: LangfuseReading, request: ReadRequest): ObservedPrompt {
  const { active, listed } = reading;
  const known = listLangfuseVersions(reading);
  const exists = listed !== undefined;
  return {
    fields: null,
    active: new Map([...listAllLabels(known, request), ...active]),
    known,
    willKnowContent: (content, movingLabels) => canFindContentLater(reading, content, movingLabels),
    lacksLedger: false,
    canFindNumbers: false,
    missingIds: [],
    metadata: 'kept',
    metadataFrom: findMetadataSource(reading, request),
    problems: exists ? [] : [makeProblem('langfuse/new-prompt', { name: request.promptId })],
    fingerprint: canonicalJson([
      exists,
      [...active].map(([label, version]) => [label, version && version.id]),
      known.map(({ id }) => id),
    ]),
  };
}

/**
 * Returns every label with its version if the request reads all versions. Otherwise returns none. Leaves out `latest`,
 * which Langfuse moves itself.
 */
function listAllLabels(
  known: readonly RemoteLangfuseVersion[],
  { readDepth }: ReadRequest,
): readonly (readonly [string, RemoteLangfuseVersion])[] {
  if (readDepth !== 'versions') return [];
  return known.flatMap((version) =>
    version.labels.filter((label) => label !== LATEST_LABEL).map((label) => [label, version] as const),
  );
}

/**
 * Finds the version whose config a new version takes over, because applications read their model from the config. It is
 * the version of the first pinned environment that has one, or else the newest version. Returns undefined if its config
 * is empty.
 */
function findMetadataSource(reading: LangfuseReading, { pins }: ReadRequest): VersionWithMetadata | undefined {
  const [pinned] = pins.flatMap(({ environment }) => reading.active.get(environment) ?? []);
  const source = pinned ?? listLangfuseVersions(reading)[0];
  if (source === undefined || canonicalJson(source.content.metadata) === '{}') return undefined;
  return { ...makeVersionRef(source), metadata: source.content.metadata, metadataDigest: source.metadataDigest };
}
