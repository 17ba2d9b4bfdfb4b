import fc from 'fast-check';
import type { ProviderName } from '../../src/providers/provider-list.ts';
import type { Command, Setup } from './commands.ts';
import { sequences } from './generators.ts';
import { LawBroken } from './laws.ts';
import { runSequence } from './perform.ts';
import type { Statistics } from './situations.ts';

/** A sequence that breaks a law, in its shortest known form. */
export type Broken = {
  readonly seed: number;
  readonly message: string;
  readonly setup: Setup;
  readonly commands: readonly Command[];
};

/** The time limit in milliseconds. Any command can be left out, because commands are valid in every order. */
const TIME_TO_SHORTEN = 120_000;

/** Runs the sequence of a seed. Returns `null` if every law holds. */
export async function checkSequence(
  provider: ProviderName,
  seed: number,
  average: number,
  statistics: Statistics,
): Promise<Broken | null> {
  const property = fc.asyncProperty(sequences(average, provider), ([setup, commands]) =>
    runSequence(setup, commands, statistics),
  );
  const once = { seed, numRuns: 1, interruptAfterTimeLimit: TIME_TO_SHORTEN };
  const { counterexample, errorInstance: error } = await fc.check(property, once);
  if (counterexample === null) return null;
  if (!(error instanceof LawBroken)) throw error;
  const [[setup, commands]] = counterexample;
  return { seed, message: error.message, setup, commands };
}

/** Returns a different seed for each of 2³² numbers. */
export function seedOf(base: number, number: number): number {
  return (base + Math.imul(number, 0x9e3779b1)) | 0;
}

export function renderBroken({ seed, message, setup, commands }: Broken, average: number): string {
  const lines = [setup, ...commands].map((one) => `  ${JSON.stringify(one)}`);
  const replay = `npm run model -- --provider=${setup.provider} --run-seed=${seed} --commands=${average}`;
  return [`A law is broken: ${message}`, 'After:', ...lines, `Again with: ${replay}`, ''].join('\n');
}
