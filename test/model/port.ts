import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { PromptService } from '../../src/service/prompt-service.ts';
import type { CallKind } from './commands.ts';
import type { LawBroken } from './law.ts';
import type { Troubles } from './troubles.ts';
import type { World } from './world.ts';
import { watchWrites, type Write } from './writes.ts';

/** The service as one run of the tool meets it. */
export type Port = {
  readonly service: PromptService;
  /** Time passes: what is late may come. */
  readonly tick: () => void;
  /** What is late comes now, because the run is over. */
  readonly settle: () => void;
  readonly writes: readonly Write[];
  /** How many writes were begun, whatever became of them. */
  readonly begun: () => number;
  /** How many calls were begun after the run was told to stop. */
  readonly begunAfterStop: () => number;
  readonly broken: () => LawBroken | null;
};

type Call<Answer> = {
  readonly kind: CallKind;
  readonly promptId: string;
  readonly what: string;
  readonly effect: () => Promise<Answer>;
  /** The answer of a service that does nothing. */
  readonly ignore: () => Promise<Answer>;
};

type Late = { left: number; readonly land: () => void };

export function openPort(world: World, files: readonly PromptFile[], troubles: Troubles): Port {
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
    tick,
    settle: () => tick(Number.POSITIVE_INFINITY),
    writes: watched.writes,
    begun: () => begun,
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
