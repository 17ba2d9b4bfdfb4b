import { CommanderError } from 'commander';
import package_ from '../../package.json' with { type: 'json' };
import { escapeText } from '../report/escape.ts';
import type { Host } from './host.ts';
import { makeProgram, type Streams } from './program.ts';
import { forLog, hidingHost } from './secrets.ts';

/** Runs one command line and resolves to its exit code. Never throws. */
export async function main(given: Host): Promise<number> {
  const host = hidingHost(given);
  let exitCode = 0;
  const program = makeProgram(streamsOf(host), package_.version, async (row, flags, typed) => {
    exitCode = await row.run(flags, typed, host);
  });
  try {
    await program.parseAsync([...host.arguments], { from: 'user' });
    return exitCode;
  } catch (error) {
    // What was asked for, such as a help, ends in an error as well.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    return (await import('./run.ts')).fail(error, host);
  }
}

function streamsOf(host: Host): Streams {
  return {
    out: (text) => void host.output.write(text),
    // What was typed is quoted in there, and a workflow may have typed what somebody else said.
    err: (text) => void host.errors.write(forLog(escapeText(text), host)),
  };
}
