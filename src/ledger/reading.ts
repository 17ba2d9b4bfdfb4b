import type { Observed, Wanted } from '../domain/observed.ts';
import { asHeld, holds, type KnownVersion } from '../domain/versions.ts';
import { canonicalJson } from '../domain/json.ts';
import type { PromptService, RemotePrompt } from '../service/prompt-service.ts';
import { readUntil } from '../service/retry.ts';
import { makeProblem, problemOf } from '../problem.ts';
import { entryAsServed, entryOf, type Head, isDoubtful, isOwn, mayFollow } from './ownership.ts';
import { present, toVersion, type LedgerEntry, type Version } from './stamp.ts';

export type Reading = {
  readonly prompt: Omit<RemotePrompt, 'activeVersion'>;
  /** The version active in each environment that was read; null where none is. */
  readonly active: ReadonlyMap<string, Version | null>;
  /** Versions that were read otherwise: looked at, made, or active until another one was. */
  readonly looked: readonly Version[];
  /** Ids that were to be looked at and are no version of this prompt. */
  readonly missing: readonly string[];
};

/**
 * Reads one prompt in every wanted environment, and in the tracking environment where what was read does not show
 * enough. Throws a `ServiceError` when the prompt cannot be read.
 */
export async function readPrompt(service: PromptService, wanted: Wanted, tracking: string): Promise<Reading> {
  const { promptId, environments } = wanted;
  const reading = await readEnvironments(service, promptId, environments.length > 0 ? environments : [tracking]);
  if (reading.active.has(tracking) || showsEnough(wanted, reading, tracking)) return reading;
  const head = await read(service, promptId, tracking);
  return { ...reading, active: new Map([...reading.active, [tracking, activeIn(head)]]) };
}

/**
 * The tracking environment's ledger is the fullest. It is not needed where there is nothing to do and a version of
 * promptsync's own, other than a baseline, shows that there is one.
 */
function showsEnough({ whole, isDone, environments }: Wanted, reading: Reading, tracking: string): boolean {
  const read = versionsRead(reading);
  const isManaged = read.some((version) => isOwn(version) && version.stamp?.baseline !== true);
  return whole === false && isManaged && !read.some(isDoubtful) && isDone(interpret(reading, environments, tracking));
}

async function readEnvironments(service: PromptService, promptId: string, environments: readonly string[]) {
  const answers = await Promise.allSettled(environments.map((environment) => read(service, promptId, environment)));
  const prompts = answers.map((answer) => {
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  });
  const { activeVersion: _, ...prompt } =
    prompts.findLast((one) => one !== null) ?? (await service.readPrompt(promptId));
  const active = new Map(environments.map((environment, at) => [environment, activeIn(prompts[at])]));
  return { prompt, active, looked: [], missing: [] };
}

/** Null for a 404, which may mean that the environment has no active version: then the prompt is found without one. */
async function read(service: PromptService, promptId: string, environment: string): Promise<RemotePrompt | null> {
  try {
    return await service.readPrompt(promptId, environment);
  } catch (error) {
    if (problemOf(error).code === 'service/prompt-not-found') return null;
    throw error;
  }
}

type Waiting = { readonly service: PromptService; readonly sleep: (milliseconds: number) => Promise<void> };

/** What an environment serves after it was set. */
export async function readBack(
  { service, sleep }: Waiting,
  promptId: string,
  environment: string,
  isMeant: (version: Version) => boolean,
): Promise<Version | null> {
  const readOnce = async () => activeIn(await read(service, promptId, environment));
  return readUntil(readOnce, (version) => version !== null && isMeant(version), sleep);
}

function activeIn(prompt: RemotePrompt | null = null): Version | null {
  const active = prompt?.activeVersion ?? null;
  return active === null ? null : toVersion(active);
}

export function versionsRead({ active, looked }: Reading): readonly Version[] {
  return [...[...active.values()].filter((version) => version !== null), ...looked];
}

/** All versions that the versions read and their ledgers name, newest first; of one number the one read first. */
export function knownEntries(reading: Reading): readonly LedgerEntry[] {
  const read = versionsRead(reading);
  const known = new Map<string, LedgerEntry>();
  const note = (entry: LedgerEntry): void => {
    // What was pinned once stays so.
    const { pinned } = known.get(entry.id) ?? {};
    known.set(entry.id, { ...present({ pinned }), ...entry });
  };
  // What was read comes last: it beats what a ledger says of it, as a newer ledger beats an older one.
  for (const { stamp } of read.toSorted((a, b) => a.number - b.number)) (stamp?.ledger ?? []).forEach(note);
  for (const version of read) note(entryOf(version));
  const ids = new Set(read.map(({ id }) => id));
  // A ledger that was copied from elsewhere may give another version the number of one that was read.
  const rank = ({ id }: LedgerEntry) => (ids.has(id) ? 0 : 1);
  return [...known.values()].toSorted((a, b) => b.number - a.number || rank(a) - rank(b));
}

/**
 * Whether the service drops `metadata_`: promptsync stamps what it makes, and the head is one of its own. Where any
 * other version carries a stamp, somebody else has moved the tracking environment.
 */
export function metadataIn(reading: Reading, tracking: string): Observed['metadata'] {
  const head = reading.active.get(tracking) ?? null;
  return head !== null && versionsRead(reading).every(({ stamp }) => stamp === null) ? 'dropped' : 'kept';
}

export function findEntry(reading: Reading, id: string): LedgerEntry | undefined {
  return knownEntries(reading).find((entry) => entry.id === id);
}

/** The service's newest version, where it was never read and no ledger names it. */
export function unseenNewest(reading: Reading, known = knownEntries(reading)): string | null {
  const id = reading.prompt.latestVersionId;
  return id === null || reading.missing.includes(id) || known.some((entry) => entry.id === id) ? null : id;
}

/** What a reading says of the versions, for those who need not know how. */
export function interpret(reading: Reading, environments: readonly string[], tracking: string): Observed {
  const known = knownEntries(reading);
  const read = new Map(versionsRead(reading).map((version) => [version.id, version]));
  const metadata = metadataIn(reading, tracking);
  const { id, key, name, description } = reading.prompt;
  const head = reading.active.get(tracking);
  const lasting = lastingIn(reading, known, head, new Set());
  const knownAs = (entry: LedgerEntry, version?: Version) => toKnown(entry, lasting.has(entry.id), version);
  const served = (environment: string): KnownVersion | null => {
    const version = reading.active.get(environment) ?? null;
    return version === null ? null : knownAs(entryAsServed(version, known), version);
  };
  return {
    fields: { id, key, name, description },
    active: new Map(environments.map((environment) => [environment, served(environment)])),
    known: known.map((entry) => knownAs(entry, read.get(entry.id))),
    remembers: (content, left) => {
      const stays = lastingIn(reading, known, head, left);
      return known.some((entry) => stays.has(entry.id) && holds(entry, asHeld(content, metadata)));
    },
    recordDue: head === null && (reading.prompt.latestVersionId !== null || read.size > 0),
    findable: unseenNewest(reading, known) !== null,
    missing: reading.missing,
    metadata,
    problems: metadata === 'dropped' ? [makeProblem('service/drops-metadata', { environment: tracking })] : [],
    state: fingerprint(reading),
  };
}

function toKnown(entry: LedgerEntry, lasting: boolean, read?: Version): KnownVersion {
  const { id, number, digest, metadataDigest, ours, baseline, commit, path } = entry;
  const facts = { id, number, digest, metadataDigest, ours, lasting, ...present({ baseline }) };
  if (read === undefined) {
    return { ...facts, source: ours ? { digest, ...present({ commit, path }) } : null, content: null };
  }
  const { text, metadata, stamp } = read;
  if (stamp === null) return { ...facts, source: null, content: { text, metadata } };
  const { operation: _, ledger: __, baseline: ___, ...source } = stamp;
  return { ...facts, source, content: { text, metadata } };
}

/**
 * The ids of versions that a ledger names, their own included: of somebody else's version that is merely active, or was
 * looked at, nothing is known any more once something else is. What an environment is moved away from is not read again.
 * A head without a stamp is our own all the same: then the service drops metadata.
 */
function lastingIn({ active, looked }: Reading, known: readonly LedgerEntry[], head: Head, left: ReadonlySet<string>) {
  const served = [...active].flatMap(([name, version]) => (version === null || left.has(name) ? [] : [version]));
  const own = served.filter((version) => version === head || entryAsServed(version, known).ours);
  const named = [...served, ...looked].flatMap(({ stamp }) => stamp?.ledger ?? []);
  const following = looked.filter((version) => mayFollow(version, head));
  return new Set([...own, ...following, ...named].map(({ id }) => id));
}

/** Versions never change, but their ids are the service's word: texts are compared as well. */
function fingerprint({ prompt, active }: Reading): string {
  const environments = [...active].map(([environment, version]) => [
    environment,
    version === null ? null : [version.id, version.number, version.digest, version.metadataDigest],
  ]);
  return canonicalJson([{ ...prompt }, environments]);
}
