import type { JsonObject } from '../../src/domain/json.ts';
import { ServiceError } from '../../src/http/service-error.ts';
import { renderVersionRecord } from '../../src/providers/four-call/version-record.ts';
import { makeProblem } from '../../src/problem.ts';
import type { CallKind, Moment, OutsideCommand, TheirText, Trouble } from './commands.ts';
import { findWrittenText } from '../doubles/langfuse-messages.ts';
import { commitAgo } from './history.ts';
import { logChanges } from './service-log.ts';
import { note } from './situations.ts';
import { promptAt, type World } from './world.ts';

/** The fate of one call: whether and when it has its effect, and the error that replaces its answer. */
export type Fate = {
  readonly effect: 'now' | 'later' | 'never';
  readonly delay: number;
  readonly error: Error | null;
};

/** The error of a killed run, which makes no further calls and has no outcome. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

export type Troubles = ReturnType<typeof makeTroubles>;

const FINE: Fate = { effect: 'now', delay: 0, error: null };
const DEAD: Fate = { effect: 'never', delay: 0, error: new Killed('killed before') };

export function makeTroubles(world: World, given: readonly Trouble[]) {
  const stopping = new AbortController();
  const touched = new Set<string>();
  const counts: Record<CallKind, number> = { read: 0, create: 0, update: 0, set: 0 };
  const began = { start: 0, applying: Number.NaN, create: Number.NaN };
  let amid: OutsideCommand[] = [];
  let calls = 0;
  let killed = false;

  const isNow = ({ from, calls: after }: Moment): boolean => calls - began[from] === after;
  const touchAll = (): void => world.prompts.forEach((promptId) => touched.add(promptId));
  const meetOne = (trouble: Trouble, kind: CallKind, promptId: string): Fate => {
    switch (trouble.trouble) {
      case 'fault':
        return trouble.call === kind && isNth(trouble, counts[kind]) ? fail(world, trouble, touched, promptId) : FINE;
      case 'ignored':
        if (trouble.call !== kind || counts[kind] !== trouble.nth) return FINE;
        note(world.statistics, `trouble: ${kind} answered and ignored`);
        touched.add(promptId);
        return { effect: 'never', delay: 0, error: null };
      case 'killed':
        if (!isNow(trouble.at)) return FINE;
        note(world.statistics, `trouble: killed ${moment(trouble.when, kind)} ${kind}`);
        touchAll();
        killed = true;
        return { ...fateOf(trouble.when, kind, trouble.delay), error: new Killed('killed now') };
      case 'stopped':
        if (!isNow(trouble.at)) return FINE;
        note(world.statistics, 'trouble: stopped');
        touchAll();
        stopping.abort();
        return FINE;
      case 'disturbed':
        if (!isNow(trouble.at)) return FINE;
        note(world.statistics, 'trouble: somebody writes meanwhile');
        touched.add(promptAt(world, trouble.by.prompt));
        if (trouble.amid) amid.push(trouble.by);
        else actOutside(world, trouble.by);
        return FINE;
    }
  };
  return {
    /** Must be called before each call. Makes the outside changes that are due. */
    meet: (kind: CallKind, promptId: string): Fate => {
      if (killed) return DEAD;
      if (kind === 'create' && Number.isNaN(began.create)) began.create = calls;
      const fates = given.map((trouble) => meetOne(trouble, kind, promptId));
      counts[kind] += 1;
      calls += 1;
      return fates.find(({ error }) => error instanceof Killed) ?? fates.find((fate) => fate !== FINE) ?? FINE;
    },
    /** Must be called after a call has begun. Makes the outside changes that are due before its answer. */
    meanwhile: (): void => {
      const [...now] = amid;
      amid = [];
      for (const command of now) actOutside(world, command);
    },
    beginApplying: () => void (began.applying = calls),
    stop: stopping.signal,
    isKilled: () => killed,
    /** Whether a trouble may have affected this prompt. */
    touched: (promptId: string) => touched.has(promptId),
  };
}

type Fault = Trouble & { readonly trouble: 'fault' };

function isNth({ nth, lasting }: Fault, count: number): boolean {
  return lasting ? count >= nth : count === nth;
}

function fail({ statistics }: World, fault: Fault, touched: Set<string>, promptId: string): Fate {
  touched.add(promptId);
  const { call, when, delay, effect } = fault;
  const fate = fateOf(when, call, delay);
  const said = when === 'before' ? effect : 'unknown';
  note(statistics, `trouble: ${call} fails ${moment(when, call)} (${said})`);
  return { ...fate, error: new ServiceError(makeProblem('service/timeout', { seconds: 15 }), said) };
}

function moment(when: Fault['when'], kind: CallKind): Fault['when'] {
  return when === 'late' && kind !== 'create' ? 'after' : when;
}

/** Returns the fate of a failed call. Only create-version can have a late effect, because promptsync never repeats it. */
function fateOf(when: Fault['when'], kind: CallKind, delay: number): Omit<Fate, 'error'> {
  if (when === 'before') return { effect: 'never', delay };
  return { effect: moment(when, kind) === 'late' ? 'later' : 'now', delay };
}

/** Makes and logs an outside change in the service. Does nothing if the change needs a version and none exists. */
export function actOutside(world: World, command: OutsideCommand): void {
  const promptId = promptAt(world, command.prompt);
  world.lines.push(`somebody: ${JSON.stringify(command)}`);
  logChanges(world, promptId, 'promptsync');
  change(world, promptId, command);
  logChanges(world, promptId, 'somebody');
  // Lets time pass, so that this change and the next one do not look like two touches of one move.
  world.service.readClock();
}

function change(world: World, prompt: string, command: OutsideCommand): void {
  const { service } = world;
  switch (command.kind) {
    case 'their-version':
      return add(world, command, textOf(world, prompt, command.text), command.metadata);
    case 'their-copy':
      return copy(world, command);
    case 'their-move': {
      const id = service.versions(prompt).at(-1 - command.nth)?.id ?? service.versions(prompt)[0]?.id;
      return id === undefined ? undefined : service.activate(prompt, command.environment, id);
    }
    default:
      return service.act(prompt, command);
  }
}

type Added = OutsideCommand & { readonly kind: 'their-version' | 'their-copy' };

function add(world: World, { prompt: index, goesTo }: Added, text: string, metadata: JsonObject): void {
  const { service } = world;
  const prompt = promptAt(world, index);
  const id = service.addVersion(prompt, { text, metadata });
  // If the service reuses numbers, the version may have the id of a deleted version of promptsync.
  world.madeByTool.delete(id);
  if (goesTo !== null) service.activate(prompt, goesTo, id);
}

function copy(world: World, command: OutsideCommand & { readonly kind: 'their-copy' }): void {
  const original = world.service.versions(promptAt(world, command.prompt)).at(-1 - command.nth);
  if (original === undefined) return;
  const { content, record: stamp } = original;
  const copied = {
    ...(command.metadata ?? content.metadata),
    ...(stamp !== null && { promptsync: renderVersionRecord(stamp) }),
  };
  add(world, command, command.text ?? findWrittenText(content), copied);
}

function textOf({ history }: World, prompt: string, text: TheirText): string {
  if (typeof text === 'string') return text;
  return commitAgo(history, text.ofCommitsAgo).files.get(prompt)?.draft.text ?? 'Theirs';
}
