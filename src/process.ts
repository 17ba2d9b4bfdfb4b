import { setTimeout } from 'node:timers/promises';
import type { Host } from './cli/host.ts';

/** The process as both entries hand it on. Besides them nothing touches it, nor time and chance. */
export function processHost(): Host {
  return {
    arguments: process.argv.slice(2),
    environment: process.env,
    workingDirectory: process.cwd(),
    input: () => process.stdin,
    output: process.stdout,
    errors: process.stderr,
    hyperlinks,
    onSignal: (handle) => {
      process.on('SIGINT', handle);
      process.on('SIGTERM', handle);
    },
    exit: (code) => process.exit(code),
    now: Date.now,
    random: Math.random,
    sleep: async (milliseconds, signal) => void (await setTimeout(milliseconds, undefined, { signal })),
    // The global one: the module, which takes milliseconds to load, is not for every command.
    newId: () => crypto.randomUUID(),
  };
}

/** By the variables of the terminal, CI services and FORCE_HYPERLINK. Never where a stream is no terminal. */
async function hyperlinks() {
  const { createSupportsHyperlinks } = await import('supports-hyperlinks');
  const takes = (stream: NodeJS.WriteStream): boolean => stream.isTTY && createSupportsHyperlinks(stream);
  return { output: takes(process.stdout), errors: takes(process.stderr) };
}
