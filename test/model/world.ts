import type { Version } from '../../src/ledger/stamp.ts';
import type { InMemoryService } from '../doubles/in-memory-service.ts';
import { PROMPTS, TRACKING, type PromptIndex, type Setup } from './commands.ts';
import { firstDraft, type Ids } from './edits.ts';
import { newHistory, type History } from './history.ts';
import { openService } from './services.ts';
import type { Statistics } from './statistics.ts';

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
  return {
    setup,
    prompts,
    history: newHistory(new Map(prompts.map((id) => [id, firstDraft(id)]))),
    service: openService(setup, seeds),
    madeByTool: new Map(),
    tracked: new Set(),
    held: new Map(),
    heldByPins: new Set(),
    statistics,
    lines: [],
  };
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
