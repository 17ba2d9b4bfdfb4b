import type { JsonObject } from '../../src/domain/json.ts';
import {
  ServiceError,
  type PromptService,
  type RemotePrompt,
  type RemoteVersion,
} from '../../src/service/prompt-service.ts';
import { toVersion, type Version } from '../../src/ledger/stamp.ts';
import { makeProblem } from '../../src/problem.ts';

export type PromptSeed = Pick<RemotePrompt, 'id' | 'key' | 'name' | 'description'> & { readonly forbidden?: true };

/** A version as somebody else makes it; the metadata is that of the service, with `promptsync` where one copied it. */
export type OutsideVersion = { readonly text: string; readonly metadata?: JsonObject };

/** A prompt service without a service behind it, and ways to do what others do in the service. */
export type InMemoryService = PromptService & {
  readonly addVersion: (promptId: string, version: OutsideVersion) => string;
  /** Null makes none active. */
  readonly activate: (promptId: string, environment: string, versionId: string | null) => void;
  /** As the tool takes them apart: stamp and own metadata. */
  readonly active: (promptId: string, environment: string) => Version | null;
  readonly versions: (promptId: string) => readonly Version[];
};

type Entry = {
  readonly seed: PromptSeed;
  fields: Pick<RemotePrompt, 'key' | 'name' | 'description'>;
  readonly versions: RemoteVersion[];
  readonly active: Map<string, string>;
};

export function inMemoryService(seeds: readonly PromptSeed[]): InMemoryService {
  const entries = new Map(seeds.map((seed) => [seed.id, entryFor(seed)]));
  let count = 0;
  const add = (entry: Entry, text: string, metadata: JsonObject): RemoteVersion => {
    const version = makeVersion(`ver_${++count}`, entry.versions.length + 1, text, metadata);
    entry.versions.push(version);
    return version;
  };
  return {
    readPrompt: async (promptId, environment) => toPrompt(find(entries, promptId), environment),
    createVersion: async (promptId, { text, metadata }) =>
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
      return version === null ? null : toVersion(version);
    },
    versions: (promptId) => find(entries, promptId).versions.map(toVersion),
  };
}

function entryFor(seed: PromptSeed): Entry {
  const { key, name, description } = seed;
  return { seed, fields: { key, name, description }, versions: [], active: new Map() };
}

/** A copy through JSON, as over a wire: nobody holds on to what the service holds. */
function makeVersion(id: string, number: number, text: string, metadata: JsonObject): RemoteVersion {
  return { id, number, text, metadata: JSON.parse(JSON.stringify(metadata)) };
}

function toPrompt(entry: Entry, environment?: string): RemotePrompt {
  const activeVersion = environment === undefined ? null : activeIn(entry, environment);
  const latestVersionId = entry.versions.at(-1)?.id ?? null;
  return structuredClone({ id: entry.seed.id, ...entry.fields, latestVersionId, activeVersion });
}

function activeIn({ versions, active }: Entry, environment: string): RemoteVersion | null {
  return versions.find(({ id }) => id === active.get(environment)) ?? null;
}

function find(entries: ReadonlyMap<string, Entry>, promptId: string): Entry {
  const entry = entries.get(promptId);
  if (entry === undefined) throw new ServiceError(makeProblem('service/prompt-not-found', { promptId }), 'rejected');
  if (entry.seed.forbidden) throw notAuthorised(promptId);
  return entry;
}

function notAuthorised(promptId: string): ServiceError {
  return new ServiceError(makeProblem('service/not-authorised', { promptId }), 'rejected');
}

function noSuchVersion(promptId: string, versionId: string): ServiceError {
  return new ServiceError(makeProblem('service/version-not-found', { promptId, versionId }), 'rejected');
}
