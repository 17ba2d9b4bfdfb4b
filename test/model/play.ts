import type { Command, Setup } from './commands.ts';
import { LawBroken } from './law.ts';
import { perform } from './perform.ts';
import { note, type Statistics } from './statistics.ts';
import { newWorld } from './world.ts';

/** Carries out one sequence of commands and checks the laws after each. Throws a `LawBroken` with the last calls. */
export async function play(setup: Setup, commands: readonly Command[], statistics: Statistics): Promise<void> {
  const world = newWorld(setup, statistics);
  note(statistics, 'sequences');
  for (const command of commands) {
    note(statistics, 'commands');
    note(statistics, `command: ${command.kind}`);
    try {
      await perform(world, command);
    } catch (error) {
      if (!(error instanceof LawBroken)) throw error;
      throw new LawBroken(`${error.message}\n${world.lines.map((line) => `    ${line}`).join('\n')}`);
    }
  }
}
