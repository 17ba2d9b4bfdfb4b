import type { JsonObject } from '../../src/domain/json.ts';
import type { PromptService, ServicePrompt, ServiceVersion } from '../../src/providers/four-call/prompt-service.ts';
import { ServiceError } from '../../src/http/service-error.ts';
import { makeLedgerVersion, type LedgerVersion } from '../../src/providers/four-call/version-record.ts';
import { makeProblem } from '../../src/problem.ts';

export type PromptSeed = Pick<ServicePrompt, 'id' | 'key' | 'name' | 'description'> & { readonly forbidden?: true };

/** A version that somebody else creates. Its metadata may contain a copied `promptsync` key. */
export type OutsideVersion = { readonly text: string; readonly metadata?: JsonObject };

/** A prompt service in memory, with functions that act like other users of the service. */
export type InMemoryService = PromptService & {
  readonly addVersion: (promptId: string, version: OutsideVersion) => string;
  /** Makes a version active. With null, the environment has no active version afterwards. */
  readonly activate: (promptId: string, environment: string, versionId: string | null) => void;
  /** Returns the active version with its version record separated from its other metadata. */
  readonly active: (promptId: string, environment: string) => LedgerVersion | null;
  readonly versions: (promptId: string) => readonly LedgerVersion[];
  readonly fields: (promptId: string) => Entry['fields'];
};

type Entry = {
  readonly seed: PromptSeed;
  fields: Pick<ServicePrompt, 'key' | 'name' | 'description'>;
  readonly versions: ServiceVersion[];
  readonly active: Map<string, string>;
};

export function inMemoryService(seeds: readonly PromptSeed[]): InMemoryService {
  const entries = new Map(seeds.map((seed) => [seed.id, entryFor(seed)]));
  let count = 0;
  const add = (entry: Entry, text: string, metadata: JsonObject): ServiceVersion => {
    const version = makeVersion(`ver_${++count}`, entry.versions.length + 1, text, metadata);
    entry.versions.push(version);
    return version;
  };
  return {
    readPrompt: async (promptId, environment) => toPrompt(find(entries, promptId), environment),
    createVersion: async (promptId, { content: { text, metadata } }) =>
      structuredClone(add(find(entries, promptId), text, metadata)),
    updatePrompt: async (promptId, fields) => {
      const entry = find(entries, promptId);
      entry.fields = { ...entry.fields, ...fields };
      return toPrompt(entry);
    },
    setActive: async (promptId, environment, versionId) => {
      const entry = entries.get(promptId);
      if (entry?.seed.forbidden) throw notAuthorised(promptId);
      if (entry?.versions.every(({ id }) => id !== versionId) ?? true) throw noSuchVersion(promptId, versionId);
      entry?.active.set(environment, versionId);
    },
    addVersion: (promptId, { text, metadata = {} }) => add(find(entries, promptId), text, metadata).id,
    activate: (promptId, environment, versionId) => {
      const { active } = find(entries, promptId);
      if (versionId === null) active.delete(environment);
      else active.set(environment, versionId);
    },
    active: (promptId, environment) => {
      const version = activeIn(find(entries, promptId), environment);
      return version === null ? null : readVersion(version);
    },
    versions: (promptId) => find(entries, promptId).versions.map(readVersion),
    fields: (promptId) => find(entries, promptId).fields,
  };
}

/** Caches versions with their version records, by stored version. A version never changes. */
const readVersions = new WeakMap<ServiceVersion, LedgerVersion>();

function readVersion(stored: ServiceVersion): LedgerVersion {
  const version = readVersions.get(stored) ?? makeLedgerVersion(stored);
  readVersions.set(stored, version);
  return version;
}

function entryFor(seed: PromptSeed): Entry {
  const { key, name, description } = seed;
  return { seed, fields: { key, name, description }, versions: [], active: new Map() };
}

/** Makes a version whose metadata is a JSON copy, so that no caller shares objects with the service. */
function makeVersion(id: string, number: number, text: string, metadata: JsonObject): ServiceVersion {
  return { id, number, content: { type: 'text', text, metadata: JSON.parse(JSON.stringify(metadata)) } };
}

function toPrompt(entry: Entry, environment?: string): ServicePrompt {
  const activeVersion = environment === undefined ? null : activeIn(entry, environment);
  const latestVersionId = entry.versions.at(-1)?.id ?? null;
  return structuredClone({ id: entry.seed.id, ...entry.fields, latestVersionId, activeVersion });
}

function activeIn({ versions, active }: Entry, environment: string): ServiceVersion | null {
  return versions.find(({ id }) => id === active.get(environment)) ?? null;
}

function find(entries: ReadonlyMap<string, Entry>, promptId: string): Entry {
  const entry = entries.get(promptId);
  if (entry === undefined) throw new ServiceError(makeProblem('service/prompt-not-found', { promptId }), 'rejected');
  if (entry.seed.forbidden) throw notAuthorised(promptId);
  return entry;
}

function notAuthorised(promptId: string): ServiceError {
  return new ServiceError(
    makeProblem('service/not-authorised', { status: 403, promptId, said: '', keySources: [] }),
    'rejected',
  );
}

function noSuchVersion(promptId: string, versionId: string): ServiceError {
  return new ServiceError(makeProblem('service/version-not-found', { promptId, versionId }), 'rejected');
}
