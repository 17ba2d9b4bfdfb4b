#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import type { ProcessInterface } from './cli/process-interface.ts';
import { makeCacheFolder } from './compile-cache.ts';

// Checks the Node version first, because the imports would fail with a stack trace on an unsupported version.
if (isTooOld(process.versions.node)) {
  process.stderr.write(`promptsync requires Node 22.19 or newer, but is running on Node ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  cacheCompiledCode();
  void run();
}

/** Skips Windows, which has no user ids, because promptsync cannot verify the owner of the cache there. */
function cacheCompiledCode(): void {
  const userId = process.geteuid?.();
  const folder = userId === undefined ? null : makeCacheFolder(process.env, userId);
  if (folder !== null) enableCompileCache(folder);
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < 22 || (major === 22 && minor < 19);
}

async function run(): Promise<void> {
  const [{ main }, { makeNodeProcess }] = await Promise.all([import('./cli/main.ts'), import('./cli/node-process.ts')]);
  // Ignores write errors on standard error, because there is no other stream to report them on.
  process.stderr.on('error', () => {});
  process.stdout.on('error', async (error: NodeJS.ErrnoException) => {
    // EPIPE means that the reader closed the pipe early, as `head` does. That is not an error.
    if (error.code === 'EPIPE') return;
    process.exitCode ||= 1;
    const { describeBrokenOutput } = await import('./cli/emit-report.ts');
    process.stderr.write(describeBrokenOutput(error));
  });
  let host: ProcessInterface;
  try {
    host = makeNodeProcess();
  } catch (error) {
    process.exitCode = 1;
    const { describeMissingFolder } = await import('./cli/emit-report.ts');
    process.stderr.write(describeMissingFolder(error));
    return;
  }
  const exitCode = await main(host);
  process.exitCode = exitCode || (process.exitCode ?? 0);
}
