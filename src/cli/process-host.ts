import { setTimeout } from 'node:timers/promises';
import type { Host } from './host.ts';

/** Returns the process as a host. Besides the entry points, no other code touches the process, the clock or chance. */
export function makeProcessHost(): Host {
  return {
    arguments: process.argv.slice(2),
    environment: process.env,
    workingDirectory: process.cwd(),
    input: () => process.stdin,
    output: process.stdout,
    errors: process.stderr,
    hyperlinks: detectHyperlinks,
    onSignal: (handle) => {
      process.on('SIGINT', handle);
      process.on('SIGTERM', handle);
    },
    exit: (code) => process.exit(code),
    now: Date.now,
    random: Math.random,
    sleep: async (milliseconds, signal) => void (await setTimeout(milliseconds, undefined, { signal })),
    // Uses the global object, because importing node:crypto would cost every command some milliseconds.
    makeUniqueId: () => crypto.randomUUID(),
  };
}

/** Detects hyperlink support from the variables of terminals and CI services. A stream that is not a terminal has none. */
async function detectHyperlinks(): Promise<{ readonly output: boolean; readonly errors: boolean }> {
  const { createSupportsHyperlinks } = await import('supports-hyperlinks');
  const takes = (stream: NodeJS.WriteStream): boolean => stream.isTTY && createSupportsHyperlinks(stream);
  return { output: takes(process.stdout), errors: takes(process.stderr) };
}
