import { canonicalJson } from '../domain/json.ts';
import type { Observed, Wanted } from '../domain/observed.ts';
import { holds, refOf, type VersionWithMetadata } from '../domain/versions.ts';
import type { Content } from '../domain/prompt-file.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { LangfuseService, RemotePrompt, RemoteVersion } from './client.ts';

/** What was read of one prompt. */
export type Reading = {
  /** The version with each label that was asked for; null where none has it. */
  readonly active: ReadonlyMap<string, RemoteVersion | null>;
  /** Versions that were read by their numbers, or by other labels. */
  readonly others: readonly RemoteVersion[];
  /** Undefined: the listing has no such prompt; null: it was not asked. */
  readonly listed: RemotePrompt | null | undefined;
};

/**
 * Reads the version of each wanted label; where these do not show that there is nothing to do, what else the wanted
 * contents and numbers may be. Throws a `ServiceError` when the prompt cannot be read.
 */
export async function readPrompt(unlimited: LangfuseService, wanted: Wanted): Promise<Reading> {
  const { promptId, environments, whole } = wanted;
  const service = limitSize(unlimited);
  const labelled = await Promise.all(environments.map((label) => service.read(promptId, { label })));
  const active = new Map(environments.map((label, at) => [label, labelled[at] ?? null]));
  const reading: Reading = { active, others: [], listed: null };
  if (whole !== 'versions' && wanted.isDone(interpret(reading, wanted))) return reading;
  const listed = await service.find(promptId);
  return listed === null ? { ...reading, listed: undefined } : readFurther(service, wanted, { ...reading, listed });
}

/** Size of all versions that are kept of one prompt, in MiB. 1,000 versions of 200 kB are within this. */
const MAX_PROMPT_MIB = 256;

/** Limits the size of all versions that are read through it. The others are not kept, so they fill no memory. */
function limitSize(service: LangfuseService): LangfuseService {
  let size = 0;
  return {
    ...service,
    read: async (name, which) => {
      const version = await service.read(name, which);
      size += version?.size ?? 0;
      if (size <= MAX_PROMPT_MIB * 1024 * 1024) return version;
      throw new ProblemError(makeProblem('langfuse/too-large', { name, limit: MAX_PROMPT_MIB }));
    },
  };
}

/** How many versions a text is looked for in, and how many are read at a time. */
const MOST_SEARCHED = 20;
const READ_AT_ONCE = 5;

type ListedReading = Reading & { readonly listed: RemotePrompt };

async function readFurther(service: LangfuseService, wanted: Wanted, reading: ListedReading): Promise<Reading> {
  const { listed, active } = reading;
  if (wanted.whole === 'versions') {
    return { ...reading, others: await readNumbers(service, wanted, reading, newestFirst(listed)) };
  }
  const labels = listed.labels.filter((label) => label !== LATEST && !active.has(label));
  const labelled = await Promise.all(labels.map((label) => service.read(wanted.promptId, { label })));
  const others = labelled.filter((one) => one !== null);
  const certain = [...wanted.numbers, ...newestFirst(listed).slice(0, 1)];
  const read = await readNumbers(service, wanted, { ...reading, others }, certain);
  return searchRecent(service, wanted, { ...reading, others: [...others, ...read] });
}

/** The versions with these numbers, those that are listed and not read yet. */
async function readNumbers(
  service: LangfuseService,
  { promptId }: Wanted,
  reading: ListedReading,
  numbers: readonly number[],
): Promise<readonly RemoteVersion[]> {
  const known = new Set(versionsIn(reading).map(({ number }) => number));
  const listed = new Set(reading.listed.versions);
  const missing = numbers.filter((number) => !known.has(number) && listed.has(number));
  return Promise.all(missing.map((version) => readListed(service, promptId, version)));
}

/** Reads the newest versions, newest first, as far as a wanted content is still to be found. */
async function searchRecent(service: LangfuseService, wanted: Wanted, reading: ListedReading): Promise<Reading> {
  const recent = recentNumbers(reading);
  const others = [...reading.others];
  const found = { ...reading, others };
  for (let at = 0; at < recent.length && !isFound(found, wanted); at += READ_AT_ONCE) {
    const read = await readNumbers(service, wanted, found, recent.slice(at, at + READ_AT_ONCE));
    // They are read side by side, but looked at one after the other: the newest that holds a text is the one to use.
    for (const version of read) if (!isFound(found, wanted)) others.push(version);
  }
  return found;
}

/** The labels that were asked for may all move: what no pin follows is to be found where it stays. */
function isFound(reading: Reading, { environments, own, pins, sought }: Wanted): boolean {
  const isKept =
    own === null || pins.some(({ pin }) => pin.kind === 'latest') || remembers(reading, own, new Set(environments));
  return isKept && sought.every((content) => versionsIn(reading).some((version) => holds(version, content)));
}

/** What no label holds any more is found again among the newest versions alone. */
function remembers(reading: Reading, content: Content, left: ReadonlySet<string>): boolean {
  const recent = recentNumbers(reading);
  const stays = ({ number, labels }: RemoteVersion) =>
    recent.includes(number) || labels.some((label) => !left.has(label));
  return versionsIn(reading).some((version) => stays(version) && holds(version, content));
}

function recentNumbers({ listed }: Reading): readonly number[] {
  return listed ? newestFirst(listed).slice(0, MOST_SEARCHED) : [];
}

/** A version that is listed and cannot be read may hold the very text that would be made once more. */
async function readListed(service: LangfuseService, name: string, version: number): Promise<RemoteVersion> {
  const read = await service.read(name, { version });
  if (read !== null) return read;
  const reason = `version ${version} is listed, and is not there`;
  throw new ProblemError(makeProblem('service/invalid-answer', { reason }));
}

/** The label that Langfuse moves to each new version. */
export const LATEST = 'latest';

function newestFirst({ versions }: RemotePrompt): readonly number[] {
  return versions.toSorted((a, b) => b - a);
}

/** All that were read, newest first, each once. */
export function versionsIn({ active, others }: Reading): readonly RemoteVersion[] {
  const all = [...others, ...[...active.values()].filter((version) => version !== null)];
  return [...new Map(all.map((version) => [version.number, version])).values()].toSorted((a, b) => b.number - a.number);
}

/** What a reading says of the versions, for those who need not know how. */
export function interpret(reading: Reading, wanted: Wanted): Observed {
  const { active, listed } = reading;
  const known = versionsIn(reading);
  const isThere = listed !== undefined;
  return {
    fields: null,
    active: new Map([...labelsOf(known, wanted), ...active]),
    known,
    remembers: (content, left) => remembers(reading, content, left),
    ...{ recordDue: false, findable: false, missing: [], metadata: 'kept' },
    metadataFrom: metadataFrom(reading, wanted),
    problems: isThere ? [] : [makeProblem('langfuse/new-prompt', { name: wanted.promptId })],
    state: canonicalJson([
      isThere,
      [...active].map(([label, one]) => [label, one && one.id]),
      known.map(({ id }) => id),
    ]),
  };
}

/** All labels, where all versions were asked for. */
function labelsOf(known: readonly RemoteVersion[], { whole }: Wanted): readonly (readonly [string, RemoteVersion])[] {
  if (whole !== 'versions') return [];
  return known.flatMap((version) =>
    version.labels.filter((label) => label !== LATEST).map((label) => [label, version] as const),
  );
}

/** A new version keeps the config of the one that it follows: applications read their model from it. */
function metadataFrom(reading: Reading, { pins }: Wanted): VersionWithMetadata | undefined {
  const [pinned] = pins.flatMap(({ environment }) => reading.active.get(environment) ?? []);
  const followed = pinned ?? versionsIn(reading)[0];
  if (followed === undefined || canonicalJson(followed.config) === '{}') return undefined;
  return { ...refOf(followed), metadata: followed.config, metadataDigest: followed.metadataDigest };
}
