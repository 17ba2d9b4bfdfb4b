#!/usr/bin/env node
import module from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { makeCacheFolder } from './compile-cache.ts';

// An older one would end in a stack trace somewhere in here.
if (isTooOld(process.versions.node)) {
  process.stderr.write(`promptsync needs Node 22.19 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  enableCompileCache();
  // What is young stays small: with many prompts it grows by 100 MB otherwise, and that is no faster.
  setFlagsFromString('--semi-space-growth-factor=1');
  void run();
}

/** Windows has no user ids to check, so promptsync uses no cache there. */
function enableCompileCache(): void {
  const userId = process.geteuid?.();
  const folder = userId === undefined ? null : makeCacheFolder(process.env, userId);
  if (folder !== null) module.enableCompileCache(folder);
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < 22 || (major === 22 && minor < 19);
}

async function run(): Promise<void> {
  const [{ main }, { processHost }] = await Promise.all([import('./cli/main.ts'), import('./process.ts')]);
  // Standard error only goes with the report: nobody is left who could read of it.
  process.stderr.on('error', () => {});
  process.stdout.on('error', async (error: NodeJS.ErrnoException) => {
    // A reader that goes away early, such as `head`, is no error.
    if (error.code === 'EPIPE') return;
    process.exitCode ||= 1;
    const { brokenOutput } = await import('./cli/emit.ts');
    process.stderr.write(brokenOutput(error));
  });
  const exitCode = await main(processHost());
  process.exitCode = exitCode || (process.exitCode ?? 0);
}
