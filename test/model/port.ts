import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../src/domain/json.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { NewVersion, PromptFields, PromptService } from '../../src/service/prompt-service.ts';
import { apart } from '../doubles/recorded.ts';
import { TRACKING, type CallKind } from './commands.ts';
import { checkCreate, checkSet, isToolsOwn, LawBroken, must } from './laws.ts';
import { note } from './situations.ts';
import type { Troubles } from './troubles.ts';
import { versionOf, type World } from './world.ts';

/** The service as one run of the tool meets it. */
export type Port = ReturnType<typeof openPort>;

type Call<Answer> = {
  readonly kind: CallKind;
  readonly promptId: string;
  readonly what: string;
  readonly effect: () => Promise<Answer>;
  /** The answer of a service that does nothing. */
  readonly ignore: () => Promise<Answer>;
};

type Late = { left: number; readonly land: () => void };

export function openPort(world: World, files: readonly PromptFile[], troubles: Troubles) {
  const watched = watchWrites(world, files);
  let late: Late[] = [];
  let begun = 0;
  let begunAfterStop = 0;
  const tick = (by = 1): void => {
    const due = late.filter((one) => (one.left -= by) <= 0);
    late = late.filter((one) => !due.includes(one));
    for (const { land } of due) land();
  };
  const call = async <Answer>({ kind, promptId, what, effect, ignore }: Call<Answer>): Promise<Answer> => {
    tick();
    if (kind !== 'read') begun += 1;
    if (troubles.stop.aborted) begunAfterStop += 1;
    const fate = troubles.meet(kind, promptId);
    const line = `${kind} ${promptId} ${what}`;
    world.lines.push(fate.error === null ? line : `${line}: ${fate.error.message}, effect ${fate.effect}`);
    if (fate.effect === 'later') late.push({ left: fate.delay, land: () => void effect() });
    const answer = fate.effect === 'now' ? effect() : null;
    if (fate.error === null) return answer ?? ignore();
    await answer;
    throw fate.error;
  };
  return {
    service: callsOf(world, watched, call),
    /** Time passes: what is late may come. */
    tick,
    /** What is late comes now, because the run is over. */
    settle: () => tick(Number.POSITIVE_INFINITY),
    writes: watched.writes,
    /** How many writes were begun, whatever became of them. */
    begun: () => begun,
    /** How many calls were begun after the run was told to stop. */
    begunAfterStop: () => begunAfterStop,
    broken: watched.broken,
  };
}

function callsOf(
  { service }: World,
  watched: ReturnType<typeof watchWrites>,
  call: <Answer>(one: Call<Answer>) => Promise<Answer>,
): PromptService {
  return {
    readPrompt: async (promptId, environment) => {
      const read = () => {
        watched.beforeRead(promptId);
        return service.readPrompt(promptId, environment);
      };
      const prompt = await call({ kind: 'read', promptId, what: environment ?? '', effect: read, ignore: read });
      if (environment !== undefined) watched.noteRead(promptId, environment, prompt.activeVersion?.id ?? null);
      return prompt;
    },
    createVersion: (promptId, version) => {
      const create = () => watched.createVersion(promptId, version);
      return call({ kind: 'create', promptId, what: JSON.stringify(version.text), effect: create, ignore: create });
    },
    updatePrompt: (promptId, fields) =>
      call({
        kind: 'update',
        promptId,
        what: JSON.stringify(fields),
        effect: () => watched.updatePrompt(promptId, fields),
        ignore: () => watched.ignoreUpdate(promptId, fields),
      }),
    setActive: (promptId, environment, id) =>
      call({
        kind: 'set',
        promptId,
        what: `${environment} ${id}`,
        effect: () => watched.setActive(promptId, environment, id),
        ignore: () => watched.ignoreSet(promptId, environment, id),
      }),
  };
}

/** A write that has had its effect in the service. */
export type Write =
  | {
      readonly kind: 'create';
      readonly promptId: string;
      readonly id: string;
      readonly text: string;
      readonly metadata: JsonObject;
      readonly isBaseline: boolean;
    }
  | { readonly kind: 'update'; readonly promptId: string; readonly fields: PromptFields }
  | { readonly kind: 'set'; readonly promptId: string; readonly environment: string; readonly id: string };

type SetWrite = Write & { readonly kind: 'set' };

/** The service as the tool writes to it in one run: every write is noted, and held to the laws at that very moment. */
function watchWrites(world: World, files: readonly PromptFile[]) {
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
    /** The first law that a write broke: the tool must not be able to catch it. */
    broken: () => broken,
    // Everything up to the first `await` happens at once: what is noted is never behind what is so.
    createVersion: (promptId: string, sent: NewVersion) => {
      const version = apart(sent);
      watch(() => checkCreate(world, files, promptId, version));
      const made = service.createVersion(promptId, sent);
      const { id } = service.versions(promptId).at(-1)!;
      const file = files.find((one) => one.id === promptId);
      const lastRead = (environment: string): string | null => reads.get(`${promptId} ${environment}`) ?? null;
      noteCreate(world, file, lastRead, id, version.text);
      const isBaseline = version.stamp.baseline === true;
      writes.push({ kind: 'create', promptId, id, text: version.text, metadata: version.metadata, isBaseline });
      return made;
    },
    setActive: (promptId: string, environment: string, id: string) => {
      const version = versionOf(world, promptId, id);
      if (version !== undefined) {
        const isNewBaseline = writes.some((one) => one.kind === 'create' && one.id === id && one.isBaseline);
        watch(() => must(!isNewBaseline || isToolsOwn(environment), () => `${environment} is set to a new baseline`));
        watch(() => checkSet(world, files, promptId, environment, version));
        noteSet(world, environment, id);
        writes.push({ kind: 'set', promptId, environment, id });
      }
      return service.setActive(promptId, environment, id);
    },
    updatePrompt: (promptId: string, fields: PromptFields) => {
      writes.push({ kind: 'update', promptId, fields });
      return service.updatePrompt(promptId, fields);
    },
    /** What was answered without being done counts as done where it is so already: nobody can tell. */
    ignoreUpdate: async (promptId: string, fields: PromptFields) => {
      const prompt = await service.readPrompt(promptId);
      if (isDeepStrictEqual({ ...prompt, ...fields }, prompt)) writes.push({ kind: 'update', promptId, fields });
      return prompt;
    },
    ignoreSet: async (promptId: string, environment: string, id: string) => {
      ignored.push({ kind: 'set', promptId, environment, id });
    },
    /** As the tool reads: where somebody else has done what was ignored, it counts as done from then on. */
    beforeRead: (promptId: string) => {
      const isDone = (set: SetWrite): boolean =>
        set.promptId === promptId && service.active(promptId, set.environment)?.id === set.id;
      writes.push(...ignored.filter(isDone));
      ignored = ignored.filter((set) => !isDone(set));
    },
    /** Called with what the tool is told. */
    noteRead: (promptId: string, environment: string, id: string | null) =>
      void reads.set(`${promptId} ${environment}`, id),
  };
}

/**
 * What the model keeps in mind as the tool makes a version, whether or not the tool will ever hear of it. It can hold
 * on to what it was told of alone, not to what somebody has moved since.
 */
function noteCreate(
  { madeByTool, held, statistics }: World,
  file: PromptFile | undefined,
  lastRead: (environment: string) => string | null,
  versionId: string,
  text: string,
): void {
  const standing = (file?.pins ?? []).flatMap(({ environment, pin }) => {
    const active = lastRead(environment);
    return pin.kind === 'latest' || active === null ? [] : [active];
  });
  madeByTool.set(versionId, text);
  held.set(versionId, standing);
  note(statistics, 'versions made by the tool');
}

/** What the tracking environment has stood on is known from then on, with all that its ledger holds on to. */
function noteSet({ tracked, held, heldByPins }: World, environment: string, versionId: string): void {
  if (environment !== TRACKING) return;
  tracked.add(versionId);
  for (const id of held.get(versionId) ?? []) heldByPins.add(id);
}
