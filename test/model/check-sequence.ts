import fc from 'fast-check';
import type { Command, Setup, SyncWith } from './commands.ts';
import { sequences } from './generators.ts';
import { LawBroken } from './laws.ts';
import { play } from './perform.ts';
import type { Statistics } from './situations.ts';

/** A sequence that breaks a law, made as short as it could be. */
export type Broken = {
  readonly seed: number;
  readonly message: string;
  readonly setup: Setup;
  readonly commands: readonly Command[];
};

/** Plays the one sequence of a seed; null where every law holds. */
export async function checkSequence(seed: number, average: number, statistics: Statistics): Promise<Broken | null> {
  const [sequence] = fc.sample(sequences(average), { seed, numRuns: 1 });
  if (sequence === undefined) throw new Error('nothing was generated');
  const [setup, commands] = sequence;
  const message = await whatBreaks(setup, commands, statistics);
  if (message === null) return null;
  const breaks = async (shorter: readonly Command[]): Promise<boolean> => (await whatBreaks(setup, shorter)) !== null;
  const shortest = await shorten(commands, breaks);
  return { seed, message: (await whatBreaks(setup, shortest)) ?? message, setup, commands: shortest };
}

async function whatBreaks(
  setup: Setup,
  commands: readonly Command[],
  statistics: Statistics = new Map(),
): Promise<string | null> {
  try {
    await play(setup, commands, statistics);
    return null;
  } catch (error) {
    if (error instanceof LawBroken) return error.message;
    throw error;
  }
}

/** Another seed for each of 2³² numbers. */
export function seedOf(base: number, number: number): number {
  return (base + Math.imul(number, 0x9e3779b1)) | 0;
}

export function renderBroken({ seed, message, setup, commands }: Broken, average: number): string {
  const lines = [setup, ...commands].map((one) => `  ${JSON.stringify(one)}`);
  const replay = `npm run model -- --run-seed=${seed} --commands=${average}`;
  return [`A law is broken: ${message}`, 'After:', ...lines, `Again with: ${replay}`, ''].join('\n');
}

/** Whether a sequence still breaks a law. */
export type Breaks = (commands: readonly Command[]) => Promise<boolean>;

const MOST_TRIES = 5000;

/**
 * The shortest sequence that still breaks a law, as far as leaving out commands and parts of them gets. Commands mean
 * something in every order, so that any of them can be left out.
 */
export async function shorten(commands: readonly Command[], breaks: Breaks): Promise<readonly Command[]> {
  let tries = 0;
  const stillBreaks = async (candidate: readonly Command[]): Promise<boolean> =>
    ++tries <= MOST_TRIES && (await breaks(candidate));
  for (let shortest = commands; ;) {
    const shorter = await simplified(await withFewer(shortest, stillBreaks), stillBreaks);
    if (JSON.stringify(shorter) === JSON.stringify(shortest)) return shortest;
    shortest = shorter;
  }
}

/** Leaves out halves, then quarters, down to single commands. */
async function withFewer(commands: readonly Command[], breaks: Breaks): Promise<readonly Command[]> {
  let kept = commands;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = kept.length - size; from > -size; from -= size) {
      const fewer = kept.filter((_, index) => index < from || index >= from + size);
      if (fewer.length === kept.length) continue;
      if (await breaks(fewer)) kept = fewer;
      else if (size === 1 && (await breaks(nearer(fewer, from)))) kept = nearer(fewer, from);
    }
  }
  return kept;
}

/** With one commit less, later commands find what they go back to one commit nearer. */
function nearer(commands: readonly Command[], from: number): readonly Command[] {
  return commands.map((command, index) =>
    index >= from && 'ago' in command && command.ago > 0 ? { ...command, ago: command.ago - 1 } : command,
  );
}

async function simplified(commands: readonly Command[], breaks: Breaks): Promise<readonly Command[]> {
  let kept = commands;
  for (let index = 0; index < kept.length; index += 1) {
    for (const simpler of simplerThan(kept[index]!)) {
      const candidate = kept.with(index, simpler);
      if (await breaks(candidate)) kept = candidate;
    }
  }
  return kept;
}

/** With a part left out, or with a smaller number. */
function simplerThan(command: Command): readonly Command[] {
  return [...withoutParts(command), ...numbersIn(command).flatMap((path) => withSmaller(command, path))];
}

function withoutParts(command: Command): readonly Command[] {
  switch (command.kind) {
    case 'sync':
      return simplerSyncs(command).map((options) => ({ kind: 'sync', ...options }));
    case 'edit':
    case 'merge':
      return without(command.edits).map((edits) => ({ ...command, edits }));
    case 'their-version':
    case 'their-copy':
      return command.goesTo === null ? [] : [{ ...command, goesTo: null }];
    default:
      return [];
  }
}

function simplerSyncs({ troubles, base, onDrift, reviewed, concurrency, only }: SyncWith): readonly SyncWith[] {
  const plain = { concurrency, only, troubles };
  return [
    { concurrency: 1, only: 3, troubles: [] },
    plain,
    ...without(troubles).map((fewer) => ({ ...plain, base, onDrift, reviewed, troubles: fewer })),
    { ...plain, base, onDrift, reviewed, concurrency: 1 },
    { ...plain, base, onDrift, reviewed, only: 3 },
  ];
}

function without<Value>(values: readonly Value[]): readonly (readonly Value[])[] {
  return values.map((_, index) => values.toSpliced(index, 1));
}

type Path = readonly string[];

/** Where in a value there are numbers to count with: metadata is the user's. */
function numbersIn(value: object, above: Path = []): readonly Path[] {
  return Object.entries(value).flatMap(([name, part]: [string, unknown]): readonly Path[] => {
    const path = [...above, name];
    if (typeof part === 'number') return name === 'concurrency' || name === 'only' ? [] : [path];
    return typeof part === 'object' && part !== null && name !== 'metadata' ? numbersIn(part, path) : [];
  });
}

function withSmaller(command: Command, path: Path): readonly Command[] {
  const number = Number(partAt(command, path));
  const smaller = new Set([0, 1, 2, Math.floor(number / 2), number - 1].filter((one) => one >= 0 && one < number));
  return [...smaller].map((one) => {
    const changed = structuredClone(command);
    Reflect.set(Object(partAt(changed, path.slice(0, -1))), path.at(-1)!, one);
    return changed;
  });
}

function partAt(value: object, path: Path): unknown {
  return path.reduce<unknown>((part, name) => Reflect.get(Object(part), name), value);
}
