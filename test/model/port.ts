import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../src/domain/json.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { LedgerVersion } from '../../src/providers/four-call/version-record.ts';
import { makeProblem } from '../../src/problem.ts';
import type { PromptFields, ServicePrompt } from '../../src/providers/four-call/prompt-service.ts';
import { ServiceError } from '../../src/http/service-error.ts';
import { isLostResponse } from '../../src/providers/write-outcome.ts';
import type { CallKind } from './commands.ts';
import { checkCreate, checkSet, isToolsOwn, LawBroken, must } from './laws.ts';
import { note } from './situations.ts';
import type { Troubles } from './troubles.ts';
import type { World } from './world.ts';

/** The service as one run of promptsync sees it. */
export type Port = ReturnType<typeof openPort>;

/** The functions through which a service model makes calls. They apply troubles, record writes and check the laws. */
export type Calls = {
  readonly call: <Answer>(one: Call<Answer>) => Promise<Answer>;
  readonly watched: ReturnType<typeof watchWrites>;
  /** Returns at once, but late effects may happen. */
  readonly sleep: () => Promise<void>;
};

type Call<Answer> = {
  readonly kind: CallKind;
  readonly promptId: string;
  readonly what: string;
  readonly effect: () => Promise<Answer>;
  /** Returns the answer of a service that ignores the call. */
  readonly ignore: () => Promise<Answer>;
};

type Late = { left: number; readonly land: () => Promise<unknown> };

export function openPort(world: World, files: readonly PromptFile[], troubles: Troubles) {
  const watched = watchWrites(world, files);
  const { stop } = troubles;
  const landed: Promise<unknown>[] = [];
  let late: Late[] = [];
  let begun = 0;
  const tick = (by = 1): void => {
    const due = late.filter((one) => (one.left -= by) <= 0);
    late = late.filter((one) => !due.includes(one));
    // The error of a late call has no receiver.
    for (const { land } of due) landed.push(land().catch(() => null));
  };
  const call = async <Answer>({ kind, promptId, what, effect, ignore }: Call<Answer>): Promise<Answer> => {
    if (stop.aborted) throw new ServiceError(makeProblem('apply/interrupted'), 'not-sent');
    tick();
    if (kind !== 'read') begun += 1;
    const fate = troubles.meet(kind, promptId);
    const line = `${kind} ${promptId} ${what}`;
    world.lines.push(fate.error === null ? line : `${line}: ${fate.error.message}, effect ${fate.effect}`);
    if (fate.effect === 'later') late.push({ left: fate.delay, land: effect });
    const answer = fate.effect === 'now' ? effect() : null;
    troubles.meanwhile();
    if (fate.error === null) return answer ?? ignore();
    // promptsync cannot tell an activation that was lost from one that the service ignored.
    if (kind === 'set' && fate.effect === 'never' && isLostResponse(fate.error)) await ignore();
    await answer;
    throw fate.error;
  };
  const sleep = async (): Promise<void> => {
    tick();
    if (stop.aborted) throw stop.reason;
  };
  return {
    provider: world.service.connect(world, { call, watched, sleep }),
    /** Lets all late effects happen at the end of the run. */
    settle: async () => {
      tick(Number.POSITIVE_INFINITY);
      await Promise.all(landed);
    },
    writes: watched.writes,
    /** Returns the number of started writes, including failed ones. */
    begun: () => begun,
    broken: watched.broken,
  };
}

/** The content of a new version. The metadata do not include the version record. */
export type Made = { readonly text: string; readonly metadata: JsonObject; readonly isBaseline: boolean };

/** A write that has had its effect in the service. */
export type Write =
  | (Made & { readonly kind: 'create'; readonly promptId: string; readonly id: string })
  | { readonly kind: 'update'; readonly promptId: string; readonly fields: PromptFields }
  | { readonly kind: 'set'; readonly promptId: string; readonly environment: string; readonly id: string };

type SetWrite = Write & { readonly kind: 'set' };

/** Records every write of one run and checks the laws at the moment of the write. */
function watchWrites(world: World, files: readonly PromptFile[]) {
  const { service, madeByTool, statistics } = world;
  const writes: Write[] = [];
  let ignored: SetWrite[] = [];
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
    /** Returns the first law that a write broke. It is not thrown, because promptsync could catch it. */
    broken: () => broken,
    /** Checks a law of one service before a write. */
    check: watch,
    creating: (promptId: string, made: Made) => watch(() => checkCreate(world, files, promptId, made)),
    created: (promptId: string, id: string, made: Made) => {
      madeByTool.set(id, made.text);
      note(statistics, 'versions made by the tool');
      writes.push({ kind: 'create', promptId, id, ...made });
    },
    /** Records an activation. `isKnown` is false if promptsync could not know which version it activates. */
    set: (promptId: string, environment: string, version: LedgerVersion, isKnown = true) => {
      const { id } = version;
      const isNewBaseline = writes.some((one) => one.kind === 'create' && one.id === id && one.isBaseline);
      watch(() => must(!isNewBaseline || isToolsOwn(environment), () => `${environment} is set to a new baseline`));
      if (isKnown) watch(() => checkSet(world, files, promptId, environment, version));
      writes.push({ kind: 'set', promptId, environment, id });
    },
    updated: (promptId: string, fields: PromptFields) => void writes.push({ kind: 'update', promptId, fields }),
    /** Records an ignored update as done if the fields already have these values. */
    ignoredUpdate: (promptId: string, fields: PromptFields, prompt: ServicePrompt) => {
      if (isDeepStrictEqual({ ...prompt, ...fields }, prompt)) writes.push({ kind: 'update', promptId, fields });
    },
    ignoredSet: (promptId: string, environment: string, id: string) => {
      ignored.push({ kind: 'set', promptId, environment, id });
    },
    /** Records ignored activations as done if somebody else has made them before promptsync reads. */
    beforeRead: (promptId: string) => {
      const isDone = (set: SetWrite): boolean =>
        set.promptId === promptId && service.active(promptId, set.environment)?.id === set.id;
      writes.push(...ignored.filter(isDone));
      ignored = ignored.filter((set) => !isDone(set));
    },
  };
}
