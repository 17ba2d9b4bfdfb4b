import type { Command } from 'commander';
import { forLog } from '../for-log.ts';
import type { Host } from '../host.ts';
import { answer, type Shell } from './answer.ts';
import { findWanted, type Candidate, type Wanted } from './find-wanted.ts';
import { splitLine } from './split-line.ts';

/** What a shell's script asks with. */
export type Question = {
  readonly shell: Shell;
  /** What was typed, up to the cursor. */
  readonly line: string;
  /** The end of it that bash replaces by what is chosen. */
  readonly replaced: string;
};

/**
 * Answers a shell. It reads the workspace where names from it are wanted, and asks no service. It is silent about whatever
 * is wrong there: nobody wants to be told of it in the middle of a line.
 */
export async function runComplete({ shell, line, replaced }: Question, program: Command, host: Host): Promise<void> {
  const typed = splitLine(line);
  const wanted = findWanted(program, typed);
  const candidates = [...wanted.candidates, ...(await named(wanted, host))];
  host.output.write(forLog(answer(shell, { ...wanted, candidates }, { ...typed, replaced }), host));
}

async function named({ kind, config }: Wanted, host: Host): Promise<readonly Candidate[]> {
  if (kind === 'words' || kind === 'files' || kind === 'folders') return [];
  try {
    const { readNames } = await import('../../commands/read-names.ts');
    const names = await readNames(kind, config, host);
    // It would be read as a flag.
    return names.filter(({ value }) => !value.startsWith('-'));
  } catch {
    return [];
  }
}
