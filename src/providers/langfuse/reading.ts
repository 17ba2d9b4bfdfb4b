import type { PromptType } from '../../domain/chat.ts';
import { renderCanonicalJson } from '../../domain/json.ts';
import type { ObservedPrompt, ReadRequest } from '../../domain/observed-prompt.ts';
import { makeVersionRef, type VersionWithMetadata } from '../../domain/versions.ts';
import { canReuseVersion } from '../../domain/compare-content.ts';
import type { Content } from '../../domain/content.ts';
import { makeProblem, ProblemError } from '../../problem.ts';
import type { LangfuseService } from './client.ts';
import type { RemoteLangfuseVersion } from './version.ts';
import { followsLatest } from '../../domain/prompt-file.ts';
import { LATEST_LABEL } from './file-rules.ts';
import type { RemoteLangfusePrompt } from './parse-responses.ts';

/** Everything that promptsync has read about one prompt so far. */
export type LangfuseReading = {
  /** The requested labels, each with the version that has it. Null for a label that no version has. */
  readonly active: ReadonlyMap<string, RemoteLangfuseVersion | null>;
  /** The versions that promptsync read by number or by another label, and those that it created. */
  readonly others: readonly RemoteLangfuseVersion[];
  /** The row in Langfuse's prompt list. Null if promptsync did not read the list. Undefined if the list lacks it. */
  readonly listed: RemoteLangfusePrompt | null | undefined;
};

/**
 * Reads the versions of the requested labels. If they do not show that the prompt is in sync, also reads the pinned
 * versions, and searches others for the requested content. With the read depth `versions`, always reads all versions.
 * Throws a `ProblemError` if the prompt cannot be read or is too large.
 * @param previous the last reading; its versions are used again if the prompt has not changed since then
 */
export async function readLangfusePrompt(
  service: LangfuseService,
  request: ReadRequest,
  previous: LangfuseReading | null = null,
): Promise<LangfuseReading> {
  const { promptId, readDepth } = request;
  const limitedService = limitReadSize(service);
  const active = await readActiveVersions(limitedService, request);
  const reading: LangfuseReading = { active, others: [], listed: null };
  if (readDepth !== 'versions' && request.isSynced(interpretLangfuseReading(reading, request))) return reading;
  const listed = await limitedService.find(promptId);
  if (listed === null) return { ...reading, listed: undefined };
  const isUnchanged = listed.lastUpdatedAt !== null && isSameListing(previous?.listed, listed);
  const reusableVersions = isUnchanged ? (previous?.others ?? []) : [];
  return readMoreVersions(reuseVersions(limitedService, reusableVersions), request, { ...reading, listed });
}

function isSameListing(a: LangfuseReading['listed'], b: RemoteLangfusePrompt): boolean {
  return a !== undefined && a !== null && renderCanonicalJson({ ...a }) === renderCanonicalJson({ ...b });
}

/**
 * Wraps a service to return the given versions without a request if they are read by number. Call this only if the row
 * of the prompt in the prompt list has not changed since they were read: then no version was created or deleted.
 */
function reuseVersions(service: LangfuseService, versions: readonly RemoteLangfuseVersion[]): LangfuseService {
  return {
    ...service,
    read: async (name, selector) => {
      const known =
        selector.kind === 'version' ? versions.find(({ number }) => number === selector.version) : undefined;
      return known ?? service.read(name, selector);
    },
  };
}

/** The maximum memory for the versions of one prompt, in MiB. 1,000 versions of 200 kB fit within this limit. */
const MAX_PROMPT_MIB = 256;

/**
 * Limits the total size of the versions that are read through the result. A read beyond it throws a `ProblemError`.
 * Reads through the original service do not count, because promptsync does not keep their versions in memory.
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

async function readActiveVersions(
  service: LangfuseService,
  { promptId, environments }: ReadRequest,
): Promise<LangfuseReading['active']> {
  const labeled = await readVersionsByLabel(service, promptId, environments);
  return new Map(environments.map((label, index) => [label, labeled[index] ?? null]));
}

/** The result is in the order of the labels. It contains null for a label that no version has. */
function readVersionsByLabel(
  service: LangfuseService,
  promptId: string,
  labels: readonly string[],
): Promise<readonly (RemoteLangfuseVersion | null)[]> {
  return Promise.all(labels.map((label) => service.read(promptId, { kind: 'label', label })));
}

/** How many of the newest versions promptsync searches for matching content. */
const MAX_SEARCHED_VERSIONS = 20;
const MAX_PARALLEL_VERSION_READS = 5;

type ListedReading = LangfuseReading & { readonly listed: RemoteLangfusePrompt };

/**
 * With the read depth `versions`, reads all versions. Otherwise reads those with other labels, those pinned by number,
 * the newest, and recent ones until all requested content is found.
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

/** Skips numbers that Langfuse does not list and versions that were already read. */
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

/** Reads recent versions, newest first, until all requested content is found. */
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
    // promptsync uses the oldest match that it knows, so an older version with the same content in the rest of the
    // batch would replace the match.
    for (const version of versions) {
      if (!areContentsFound(extended, request)) others.push(version);
    }
  }
  return extended;
}

/**
 * Returns true if all requested content was found, and the file either has a `latest` pin, or its content can still be
 * found after all requested labels have moved.
 */
function areContentsFound(
  reading: LangfuseReading,
  { environments, fileContent, pins, contentsToFind }: ReadRequest,
): boolean {
  const staysFindable =
    fileContent === null || followsLatest({ pins }) || canFindContentLater(reading, fileContent, new Set(environments));
  if (!staysFindable) return false;
  const versions = listLangfuseVersions(reading);
  return contentsToFind.every((content) => versions.some((version) => canReuseVersion(version, content)));
}

/** A later run finds only recent versions and versions that still have a label. */
function canFindContentLater(reading: LangfuseReading, content: Content, movingLabels: ReadonlySet<string>): boolean {
  const recentNumbers = listRecentNumbers(reading);
  const staysFindable = ({ number, labels }: RemoteLangfuseVersion) =>
    recentNumbers.includes(number) || labels.some((label) => !movingLabels.has(label));
  return listLangfuseVersions(reading).some((version) => staysFindable(version) && canReuseVersion(version, content));
}

/** Returns the 20 newest numbers, or an empty list if promptsync did not read the list or the list lacks the prompt. */
function listRecentNumbers({ listed }: LangfuseReading): readonly number[] {
  return listed ? listNumbersNewestFirst(listed).slice(0, MAX_SEARCHED_VERSIONS) : [];
}

/**
 * Throws a `ProblemError` if Langfuse does not return a listed version. Otherwise promptsync might create the content
 * of that version a second time.
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

function listNumbersNewestFirst({ versions }: RemoteLangfusePrompt): readonly number[] {
  return versions.toSorted((a, b) => b - a);
}

/** Returns all versions in a reading, newest first and without duplicates. */
export function listLangfuseVersions({ active, others }: LangfuseReading): readonly RemoteLangfuseVersion[] {
  const activeVersions = [...active.values()].filter((version) => version !== null);
  const byNumber = new Map([...others, ...activeVersions].map((version) => [version.number, version]));
  return [...byNumber.values()].toSorted((a, b) => b.number - a.number);
}

/** Converts a reading to the format that all providers share. */
export function interpretLangfuseReading(reading: LangfuseReading, request: ReadRequest): ObservedPrompt {
  const { active, listed } = reading;
  const known = listLangfuseVersions(reading);
  const isMissing = listed === undefined;
  return {
    fields: null,
    type: findType(reading),
    ...(isMissing && { isMissing }),
    active: new Map([...listAllLabels(known, request), ...active]),
    known,
    willKnowContent: (content, movingLabels) => canFindContentLater(reading, content, movingLabels),
    lacksLedger: false,
    canFindNumbers: false,
    missingIds: [],
    metadata: 'kept',
    metadataFrom: findMetadataSource(reading, request),
    problems: [],
    fingerprint: renderCanonicalJson([
      isMissing,
      [...active].map(([label, version]) => [label, version && version.id]),
      known.map(({ id }) => id),
    ]),
  };
}

/** All versions of a prompt have the same type. Null if there are no versions. */
function findType(reading: LangfuseReading): PromptType | null {
  return listLangfuseVersions(reading)[0]?.content.type ?? reading.listed?.type ?? null;
}

/** Returns an empty list unless the request reads all versions. Omits `latest`, which Langfuse itself moves. */
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
 * Finds the version whose config a new version copies, because applications read settings such as the model from it.
 * Prefers the first pinned environment with a version to the newest version. Returns undefined if the config is empty.
 */
function findMetadataSource(reading: LangfuseReading, { pins }: ReadRequest): VersionWithMetadata | undefined {
  const [pinned] = pins.flatMap(({ environment }) => reading.active.get(environment) ?? []);
  const source = pinned ?? listLangfuseVersions(reading)[0];
  if (source === undefined || renderCanonicalJson(source.content.metadata) === '{}') return undefined;
  return { ...makeVersionRef(source), metadata: source.content.metadata, metadataDigest: source.metadataDigest };
}
