#!/usr/bin/env node
import module from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { makeCacheFolder } from './compile-cache.ts';

// Reports an unsupported Node version, which would otherwise fail with a stack trace.
if (isTooOld(process.versions.node)) {
  process.stderr.write(`promptsync needs Node 22.19 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  enableCompileCache();
  // Caps the growth of V8's young generation. With many prompts it would take 100 MB more and be no faster.
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
  const [{ main }, { makeProcessHost: processHost }] = await Promise.all([
    import('./cli/main.ts'),
    import('./cli/process-host.ts'),
  ]);
  // A write error on standard error is ignored: there is no stream left on which to report it.
  process.stderr.on('error', () => {});
  process.stdout.on('error', async (error: NodeJS.ErrnoException) => {
    // A reader that ends early, such as `head`, is not an error.
    if (error.code === 'EPIPE') return;
    process.exitCode ||= 1;
    const { describeBrokenOutput: brokenOutput } = await import('./cli/emit-report.ts');
    process.stderr.write(brokenOutput(error));
  });
  const exitCode = await main(processHost());
  process.exitCode = exitCode || (process.exitCode ?? 0);
}
