import { openStore, type Store, type StoredPrompt, type StoredVersion } from '../../src/embedded/store.ts';
import { KEY } from '../support/service.ts';
import type { Wanted } from './states.ts';

/** One thing that was written to a store, to be written to another one as well. */
export type Write = (store: Store) => unknown;

/** A store that keeps what the interface does not list. */
export type KeptStore = {
  readonly store: Store;
  /** All versions of all prompts in the order in which they were made. */
  readonly versions: readonly StoredVersion[];
  readonly writes: readonly Write[];
};

/** The same writes make the same store, ids included. */
export function openKeptStore(writes: readonly Write[]): KeptStore {
  let count = 0;
  const plain = openStore(':memory:', { now: () => Date.UTC(2026, 0, 2), newId: () => `ver_${++count}` });
  const versions: StoredVersion[] = [];
  const written: Write[] = [];
  const store: Store = {
    ...plain,
    createVersion: (promptId, draft) => {
      written.push((other) => other.createVersion(promptId, draft));
      const made = plain.createVersion(promptId, draft);
      if (made !== null) versions.push(made);
      return made;
    },
    updatePrompt: (promptId, changes) => {
      written.push((other) => other.updatePrompt(promptId, changes));
      return plain.updatePrompt(promptId, changes);
    },
    setActive: (promptId, activation) => {
      written.push((other) => other.setActive(promptId, activation));
      return plain.setActive(promptId, activation);
    },
  };
  store.authoriseKey({ apiKey: KEY, projectId: 'project' });
  for (const name of ['main', 'other']) {
    store.registerPrompt({ id: `prm_${name}`, projectId: 'project', key: name, name });
  }
  for (const write of writes) write(store);
  return { store, versions, writes: written };
}

/** What a store holds at one moment. */
export type Snapshot = ReturnType<typeof takeSnapshot>;

export function takeSnapshot({ store, versions }: KeptStore, wanted: readonly Wanted[]) {
  const prompts = wanted.map(({ promptId, environment }) => {
    return { environment, prompt: store.readPrompt(promptId, environment) ?? missing(promptId) };
  });
  const find = (promptId: string, where?: string): StoredPrompt =>
    prompts.find(({ environment, prompt }) => prompt.id === promptId && environment === (where ?? environment))
      ?.prompt ?? missing(promptId);
  return {
    versions: [...versions],
    /** A prompt with the version that is active in the environment. */
    at: (promptId: string, environment: string) => find(promptId, environment),
    ofPrompt: (promptId: string) => find(promptId),
  };
}

function missing(promptId: string): never {
  throw new Error(`${promptId} is in no snapshot`);
}
