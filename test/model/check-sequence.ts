import fc from 'fast-check';
import type { Command, Setup } from './commands.ts';
import { sequences } from './generators.ts';
import { LawBroken } from './law.ts';
import { play } from './play.ts';
import { shorten } from './shorten.ts';
import type { Statistics } from './statistics.ts';

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
