import type { Version } from '../../src/ledger/stamp.ts';
import { inMemoryService, type InMemoryService, type PromptSeed } from '../doubles/in-memory-service.ts';
import { PROMPTS, TRACKING, type PromptIndex, type Setup } from './commands.ts';
import { type Draft, firstDraft, newHistory, type History, type Ids } from './history.ts';
import type { Statistics } from './situations.ts';

/** Git, the service, and what the model knows of both beyond what they say themselves. */
export type World = {
  readonly setup: Setup;
  /** The ids of the prompts that there are. */
  readonly prompts: readonly string[];
  readonly history: History;
  readonly service: InMemoryService;
  /** By id of each version that the tool made, whatever its metadata says: the text that was sent. */
  readonly madeByTool: Map<string, string>;
  /** Ids of the versions that the tool has made active in the tracking environment. */
  readonly tracked: Set<string>;
  /** By version that the tool made: the versions that a pin other than `latest` stood on then. */
  readonly held: Map<string, readonly string[]>;
  /** Those of them that the tool's record has come to hold on to. */
  readonly heldByPins: Set<string>;
  readonly statistics: Statistics;
  /** What was called since the last command, for a broken law. */
  lines: string[];
};

export function newWorld(setup: Setup, statistics: Statistics): World {
  const prompts = PROMPTS.slice(0, setup.prompts);
  const seeds = prompts.map((id) => ({ id, key: `k/${id}`, name: 'Before', description: '' }));
  const service = openService(setup, seeds);
  return {
    setup,
    prompts,
    history: newHistory(new Map(prompts.map((id) => [id, firstDraft(id, adopt(service, id, setup))]))),
    service,
    madeByTool: new Map(),
    tracked: new Set(),
    held: new Map(),
    heldByPins: new Set(),
    statistics,
    lines: [],
  };
}

/** Gives a prompt the versions that it has before git knows it; what an import makes of them. */
function adopt(service: InMemoryService, id: string, { adopted, draft }: Setup): Partial<Draft> {
  const ids = adopted.map((version) => service.addVersion(id, version));
  const [first, last] = [ids[0], ids.at(-1)];
  if (first === undefined || last === undefined) return {};
  service.activate(id, 'production', first);
  service.activate(id, 'staging', last);
  if (draft !== null) service.addVersion(id, { text: draft });
  const { text = '', metadata = {} } = service.active(id, 'staging') ?? {};
  const managed = Object.keys(metadata).length === 0 ? null : metadata;
  return { text, metadata: managed, pins: { staging: 'latest', production: `version:${first}` } };
}

export function promptAt({ prompts }: World, index: PromptIndex): string {
  return prompts[index % prompts.length]!;
}

export function versionOf({ service }: World, promptId: string, id: string | undefined): Version | undefined {
  return service.versions(promptId).find((version) => version.id === id);
}

export function idsOf({ service, prompts }: World, promptId: string): Ids {
  const of = (id: string): readonly string[] => service.versions(id).map((version) => version.id);
  return { own: of(promptId), others: prompts.filter((id) => id !== promptId).flatMap(of) };
}

/** Whether the version that the tracking environment stands on is this one or names it in its ledger. */
export function isReachable({ service }: World, promptId: string, versionId: string): boolean {
  const head = service.active(promptId, TRACKING);
  return head !== null && (head.id === versionId || (head.stamp?.ledger ?? []).some(({ id }) => id === versionId));
}

/** What a service makes of the texts that it is given. */
export function storedText({ service }: Pick<Setup, 'service'>, text: string): string {
  return service === 'tidies' ? text.trim() : text;
}

/** The in-memory service, as faithful as the setup says. */
export function openService(setup: Setup, seeds: readonly PromptSeed[]): InMemoryService {
  const faithful = inMemoryService(seeds);
  switch (setup.service) {
    case 'faithful':
      return faithful;
    case 'tidies':
      return {
        ...faithful,
        createVersion: (promptId, version) =>
          faithful.createVersion(promptId, { ...version, text: storedText(setup, version.text) }),
        addVersion: (promptId, version) =>
          faithful.addVersion(promptId, { ...version, text: storedText(setup, version.text) }),
      };
    case 'drops':
      return {
        ...faithful,
        createVersion: async (promptId, { text }) => {
          faithful.addVersion(promptId, { text });
          return structuredClone(faithful.versions(promptId).at(-1)!);
        },
        addVersion: (promptId, { text }) => faithful.addVersion(promptId, { text }),
      };
  }
}
