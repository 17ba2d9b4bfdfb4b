import { canonicalJson } from '../domain/json.ts';
import type { ObservedPrompt, ReadRequest } from '../domain/observed-prompt.ts';
import { makeVersionRef, type VersionWithMetadata } from '../domain/versions.ts';
import { type Content, holdsContent } from '../domain/content.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { LangfuseService, RemoteLangfusePrompt, RemoteLangfuseVersion } from './client.ts';

/** What was read of one prompt. */
export type LangfuseReading = {
  /** The version with each label that was asked for; null where none has it. */
  readonly active: ReadonlyMap<string, RemoteLangfuseVersion | null>;
  /** Versions that were read by their numbers, or by other labels. */
  readonly others: readonly RemoteLangfuseVersion[];
  /** Undefined: the listing has no such prompt; null: it was not asked. */
  readonly listed: RemoteLangfusePrompt | null | undefined;
};

/**
 * Reads the version of each wanted label; where these do not show that there is nothing to do, what else the wanted
 * contents and numbers may be. Throws a `ServiceError` when the prompt cannot be read.
 */
export async function readLangfusePrompt(unlimited: LangfuseService, wanted: ReadRequest): Promise<LangfuseReading> {
  const { promptId, environments, readDepth } = wanted;
  const service = limitSize(unlimited);
  const labelled = await Promise.all(environments.map((label) => service.read(promptId, { kind: 'label', label })));
  const active = new Map(environments.map((label, at) => [label, labelled[at] ?? null]));
  const reading: LangfuseReading = { active, others: [], listed: null };
  if (readDepth !== 'versions' && wanted.isSynced(interpretLangfuseReading(reading, wanted))) return reading;
  const listed = await service.find(promptId);
  return listed === null
    ? { ...reading, listed: undefined }
    : readMoreVersions(service, wanted, { ...reading, listed });
}

/** Size of all versions that are kept of one prompt, in MiB. 1,000 versions of 200 kB are within this. */
const MAX_PROMPT_MIB = 256;

/** Limits the size of all versions that are read through it. The others are not kept, so they fill no memory. */
function limitSize(service: LangfuseService): LangfuseService {
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

/** How many versions a text is looked for in, and how many are read at a time. */
const MAX_SEARCHED_VERSIONS = 20;
const MAX_PARALLEL_VERSION_READS = 5;

type ListedReading = LangfuseReading & { readonly listed: RemoteLangfusePrompt };

async function readMoreVersions(
  service: LangfuseService,
  wanted: ReadRequest,
  reading: ListedReading,
): Promise<LangfuseReading> {
  const { listed, active } = reading;
  if (wanted.readDepth === 'versions') {
    return { ...reading, others: await readNumbers(service, wanted, reading, listNewestFirst(listed)) };
  }
  const labels = listed.labels.filter((label) => label !== LATEST_LABEL && !active.has(label));
  const labelled = await Promise.all(labels.map((label) => service.read(wanted.promptId, { kind: 'label', label })));
  const others = labelled.filter((one) => one !== null);
  const certain = [...wanted.pinnedNumbers, ...listNewestFirst(listed).slice(0, 1)];
  const read = await readNumbers(service, wanted, { ...reading, others }, certain);
  return searchRecentVersions(service, wanted, { ...reading, others: [...others, ...read] });
}

/** The versions with these numbers, those that are listed and not read yet. */
async function readNumbers(
  service: LangfuseService,
  { promptId }: ReadRequest,
  reading: ListedReading,
  numbers: readonly number[],
): Promise<readonly RemoteLangfuseVersion[]> {
  const known = new Set(listLangfuseVersions(reading).map(({ number }) => number));
  const listed = new Set(reading.listed.versions);
  const missing = numbers.filter((number) => !known.has(number) && listed.has(number));
  return Promise.all(missing.map((version) => readListedVersion(service, promptId, version)));
}

/** Reads the newest versions, newest first, as far as a wanted content is still to be found. */
async function searchRecentVersions(
  service: LangfuseService,
  wanted: ReadRequest,
  reading: ListedReading,
): Promise<LangfuseReading> {
  const recent = listRecentNumbers(reading);
  const others = [...reading.others];
  const found = { ...reading, others };
  for (let at = 0; at < recent.length && !areContentsFound(found, wanted); at += MAX_PARALLEL_VERSION_READS) {
    const read = await readNumbers(service, wanted, found, recent.slice(at, at + MAX_PARALLEL_VERSION_READS));
    // They are read side by side, but looked at one after the other: the newest that holds a text is the one to use.
    for (const version of read) if (!areContentsFound(found, wanted)) others.push(version);
  }
  return found;
}

/** The labels that were asked for may all move: what no pin follows is to be found where it stays. */
function areContentsFound(
  reading: LangfuseReading,
  { environments, fileContent, pins, contentsToFind }: ReadRequest,
): boolean {
  const isKept =
    fileContent === null ||
    pins.some(({ pin }) => pin.kind === 'latest') ||
    findsContentAgain(reading, fileContent, new Set(environments));
  return (
    isKept &&
    contentsToFind.every((content) => listLangfuseVersions(reading).some((version) => holdsContent(version, content)))
  );
}

/** What no label holds any more is found again among the newest versions alone. */
function findsContentAgain(reading: LangfuseReading, content: Content, left: ReadonlySet<string>): boolean {
  const recent = listRecentNumbers(reading);
  const stays = ({ number, labels }: RemoteLangfuseVersion) =>
    recent.includes(number) || labels.some((label) => !left.has(label));
  return listLangfuseVersions(reading).some((version) => stays(version) && holdsContent(version, content));
}

function listRecentNumbers({ listed }: LangfuseReading): readonly number[] {
  return listed ? listNewestFirst(listed).slice(0, MAX_SEARCHED_VERSIONS) : [];
}

/** A version that is listed and cannot be read may hold the very text that would be made once more. */
async function readListedVersion(
  service: LangfuseService,
  name: string,
  version: number,
): Promise<RemoteLangfuseVersion> {
  const read = await service.read(name, { kind: 'version', version });
  if (read !== null) return read;
  const reason = `version ${version} is listed, and is not there`;
  throw new ProblemError(makeProblem('service/invalid-answer', { reason }));
}

/** The label that Langfuse moves to each new version. */
export const LATEST_LABEL = 'latest';

function listNewestFirst({ versions }: RemoteLangfusePrompt): readonly number[] {
  return versions.toSorted((a, b) => b - a);
}

/** All that were read, newest first, each once. */
export function listLangfuseVersions({ active, others }: LangfuseReading): readonly RemoteLangfuseVersion[] {
  const all = [...others, ...[...active.values()].filter((version) => version !== null)];
  return [...new Map(all.map((version) => [version.number, version])).values()].toSorted((a, b) => b.number - a.number);
}

/** What a reading says of the versions, for those who need not know how. */
export function interpretLangfuseReading(reading: LangfuseReading, wanted: ReadRequest): ObservedPrompt {
  const { active, listed } = reading;
  const known = listLangfuseVersions(reading);
  const isThere = listed !== undefined;
  return {
    fields: null,
    active: new Map([...listLabels(known, wanted), ...active]),
    known,
    willKnowContent: (content, left) => findsContentAgain(reading, content, left),
    lacksLedger: false,
    canFindNumbers: false,
    missingIds: [],
    metadata: 'kept',
    metadataFrom: findMetadataSource(reading, wanted),
    problems: isThere ? [] : [makeProblem('langfuse/new-prompt', { name: wanted.promptId })],
    fingerprint: canonicalJson([
      isThere,
      [...active].map(([label, one]) => [label, one && one.id]),
      known.map(({ id }) => id),
    ]),
  };
}

/** All labels, where all versions were asked for. */
function listLabels(
  known: readonly RemoteLangfuseVersion[],
  { readDepth }: ReadRequest,
): readonly (readonly [string, RemoteLangfuseVersion])[] {
  if (readDepth !== 'versions') return [];
  return known.flatMap((version) =>
    version.labels.filter((label) => label !== LATEST_LABEL).map((label) => [label, version] as const),
  );
}

/** A new version keeps the config of the one that it follows: applications read their model from it. */
function findMetadataSource(reading: LangfuseReading, { pins }: ReadRequest): VersionWithMetadata | undefined {
  const [pinned] = pins.flatMap(({ environment }) => reading.active.get(environment) ?? []);
  const followed = pinned ?? listLangfuseVersions(reading)[0];
  if (followed === undefined || canonicalJson(followed.content.metadata) === '{}') return undefined;
  return { ...makeVersionRef(followed), metadata: followed.content.metadata, metadataDigest: followed.metadataDigest };
}
