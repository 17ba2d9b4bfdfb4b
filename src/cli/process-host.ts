import { setTimeout } from 'node:timers/promises';
import type { Host } from './host.ts';

/**
 * Creates the host from the Node.js process. Apart from the entry points, only this file uses the global `process`, the
 * clock and random numbers. A few files import single functions from `node:process`.
 */
export function makeProcessHost(): Host {
  return {
    nodeVersion: process.versions.node,
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
    // Use the global `crypto`, because importing node:crypto would slow down the start of every command.
    makeUniqueId: () => crypto.randomUUID(),
  };
}

/** Detects hyperlink support from environment variables. A stream that is not a terminal supports no hyperlinks. */
async function detectHyperlinks(): Promise<{ readonly output: boolean; readonly errors: boolean }> {
  const { createSupportsHyperlinks } = await import('supports-hyperlinks');
  const supportsHyperlinks = (stream: NodeJS.WriteStream): boolean => stream.isTTY && createSupportsHyperlinks(stream);
  return { output: supportsHyperlinks(process.stdout), errors: supportsHyperlinks(process.stderr) };
}
