import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../src/domain/json.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { PromptFields, PromptService } from '../../src/service/prompt-service.ts';
import { apart } from '../doubles/recorded.ts';
import { noteCreate, noteSet } from './knowledge.ts';
import { LawBroken } from './law.ts';
import { checkCreate, checkSet } from './laws-of-writes.ts';
import { versionOf, type World } from './world.ts';

/** A write that has had its effect in the service. */
export type Write =
  | {
      readonly kind: 'create';
      readonly promptId: string;
      readonly id: string;
      readonly text: string;
      readonly metadata: JsonObject;
    }
  | { readonly kind: 'update'; readonly promptId: string; readonly fields: PromptFields }
  | { readonly kind: 'set'; readonly promptId: string; readonly environment: string; readonly id: string };

type SetWrite = Write & { readonly kind: 'set' };

/** The service as the tool writes to it in one run: every write is noted, and held to the laws at that very moment. */
export type WatchedWrites = Omit<PromptService, 'readPrompt'> & {
  readonly writes: readonly Write[];
  /** What was answered without being done counts as done where it is so already: nobody can tell. */
  readonly ignoreUpdate: (promptId: string, fields: PromptFields) => ReturnType<PromptService['readPrompt']>;
  readonly ignoreSet: (promptId: string, environment: string, versionId: string) => Promise<void>;
  /** Called as the tool reads: where somebody else has done what was ignored, it counts as done from then on. */
  readonly beforeRead: (promptId: string) => void;
  /** Called with what the tool is told. */
  readonly noteRead: (promptId: string, environment: string, versionId: string | null) => void;
  /** The first law that a write broke: the tool must not be able to catch it. */
  readonly broken: () => LawBroken | null;
};

export function watchWrites(world: World, files: readonly PromptFile[]): WatchedWrites {
  const { service } = world;
  const writes: Write[] = [];
  let ignored: SetWrite[] = [];
  const reads = new Map<string, string | null>();
  let broken: LawBroken | null = null;
  const watch = (check: () => void): void => {
    try {
      check();
    } catch (error) {
      if (!(error instanceof LawBroken)) throw error;
      broken ??= error;
    }
  };
  return {
    writes,
    broken: () => broken,
    // Everything up to the first `await` happens at once: what is noted is never behind what is so.
    createVersion: (promptId, sent) => {
      const version = apart(sent);
      watch(() => checkCreate(world, files, promptId, version));
      const made = service.createVersion(promptId, sent);
      const { id } = service.versions(promptId).at(-1)!;
      const file = files.find((one) => one.id === promptId);
      const lastRead = (environment: string): string | null => reads.get(`${promptId} ${environment}`) ?? null;
      noteCreate(world, file, lastRead, id, version.text);
      writes.push({ kind: 'create', promptId, id, text: version.text, metadata: version.metadata });
      return made;
    },
    setActive: (promptId, environment, id) => {
      const version = versionOf(world, promptId, id);
      if (version !== undefined) {
        watch(() => checkSet(world, files, promptId, environment, version));
        noteSet(world, environment, id);
        writes.push({ kind: 'set', promptId, environment, id });
      }
      return service.setActive(promptId, environment, id);
    },
    updatePrompt: (promptId, fields) => {
      writes.push({ kind: 'update', promptId, fields });
      return service.updatePrompt(promptId, fields);
    },
    ignoreUpdate: async (promptId, fields) => {
      const prompt = await service.readPrompt(promptId);
      if (isDeepStrictEqual({ ...prompt, ...fields }, prompt)) writes.push({ kind: 'update', promptId, fields });
      return prompt;
    },
    ignoreSet: async (promptId, environment, id) => {
      ignored.push({ kind: 'set', promptId, environment, id });
    },
    beforeRead: (promptId) => {
      const isDone = (set: SetWrite): boolean =>
        set.promptId === promptId && service.active(promptId, set.environment)?.id === set.id;
      writes.push(...ignored.filter(isDone));
      ignored = ignored.filter((set) => !isDone(set));
    },
    noteRead: (promptId, environment, id) => void reads.set(`${promptId} ${environment}`, id),
  };
}
