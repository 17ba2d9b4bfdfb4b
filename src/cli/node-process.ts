import { setTimeout } from 'node:timers/promises';
import type { ProcessInterface } from './process-interface.ts';

/** Creates the host from the Node.js process. Throws the system error if the working directory was deleted. */
export function makeNodeProcess(): ProcessInterface {
  hideExperimentalWarnings();
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
    exit: endProcess,
    now: Date.now,
    random: Math.random,
    sleep: async (milliseconds, signal) => void (await setTimeout(milliseconds, undefined, { signal })),
    // Use the global `crypto`, because importing node:crypto would slow down the start of every command.
    makeUniqueId: () => crypto.randomUUID(),
  };
}

/** Users cannot act on these warnings, for example the one about undici's support for SOCKS proxies. */
function hideExperimentalWarnings(): void {
  const listeners = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name === 'ExperimentalWarning') return;
    for (const listener of listeners) listener(warning);
  });
}

/**
 * Ends the process as an unhandled SIGINT would, for which shells report the exit code 130. `process.exit` would wait
 * for pending writes, and a write to a full pipe blocks until somebody reads from it. Windows cannot send a signal to a
 * process, and Linux ignores the signal for process 1, for example in a container.
 */
function endProcess(code: number): void {
  if (process.platform === 'win32' || process.pid === 1) process.exit(code);
  // The listeners release the workspace lock.
  process.emit('exit', code);
  process.removeAllListeners('SIGINT');
  process.kill(process.pid, 'SIGINT');
}

/** Detects hyperlink support from environment variables. A stream that is not a terminal supports no hyperlinks. */
async function detectHyperlinks(): Promise<{ readonly output: boolean; readonly errors: boolean }> {
  const { createSupportsHyperlinks } = await import('supports-hyperlinks');
  const supportsHyperlinks = (stream: NodeJS.WriteStream): boolean => stream.isTTY && createSupportsHyperlinks(stream);
  return { output: supportsHyperlinks(process.stdout), errors: supportsHyperlinks(process.stderr) };
}
