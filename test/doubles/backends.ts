import { openStore } from '../../src/embedded/prompt-store.ts';
import { KEY, NOW, startService } from '../embedded/support.ts';
import { openTestClient } from '../http/support.ts';
import { inMemoryService, type InMemoryService } from './in-memory-service.ts';

/**
 * A service with the prompts of `fillStore`: `p1` and `p2`, and `q1`, for which the key has no authorization. The ids
 * of versions are `ver_1`, `ver_2`, … in the order of their creation across all prompts.
 */
export type Backend = Pick<
  InMemoryService,
  'readPrompt' | 'createVersion' | 'updatePrompt' | 'setActive' | 'addVersion'
> & {
  readonly activate: (promptId: string, environment: string, versionId: string) => void;
  /** Returns the id and the text of the version that an environment serves. */
  readonly serves: (promptId: string, environment: string) => readonly [id: string, text: string] | null;
  readonly countVersions: (promptId: string) => number;
};

type NamedBackend = readonly [name: string, start: () => Promise<Backend>];

export const backends: readonly NamedBackend[] = [
  ['in memory', async () => inMemoryBackend()],
  ['embedded, through the client', embeddedBackend],
];

export function inMemoryBackend(): Backend {
  const service = inMemoryService([
    { id: 'p1', key: 'k/1', name: 'First', description: 'About it.' },
    { id: 'p2', key: 'k/2', name: 'Second', description: '' },
    { id: 'q1', key: 'k/1', name: 'Elsewhere', description: '', forbidden: true },
  ]);
  const serves: Backend['serves'] = (promptId, environment) => {
    const version = service.active(promptId, environment);
    return version === null ? null : [version.id, version.content.text];
  };
  return { ...service, serves, countVersions: (promptId) => service.versions(promptId).length };
}

async function embeddedBackend(): Promise<Backend> {
  let count = 0;
  const store = openStore(':memory:', { now: () => NOW, newId: () => `ver_${++count}` });
  const { server } = await startService({ store });
  const { service } = openTestClient({ baseUrl: server.baseUrl, apiKey: KEY });
  const counts = new Map<string, number>();
  return {
    ...service,
    createVersion: async (promptId, version) => {
      const created = await service.createVersion(promptId, version);
      counts.set(promptId, created.number);
      return created;
    },
    addVersion: (promptId, { text, metadata }) => {
      const created = store.createVersion(promptId, { content: text, metadata });
      counts.set(promptId, created?.version_number ?? 0);
      return created?.id ?? '';
    },
    activate: (promptId, environment, versionId) => void store.setActive(promptId, { environment, versionId }),
    serves: (promptId, environment) => {
      const version = store.readPrompt(promptId, environment)?.active_version ?? null;
      return version === null ? null : [version.id, version.content];
    },
    countVersions: (promptId) => counts.get(promptId) ?? 0,
  };
}
