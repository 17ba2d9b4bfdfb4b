#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

enableCompileCache();
void run();

async function run(): Promise<void> {
  const [{ main }, { processHost }] = await Promise.all([
    import('./command-line/main.ts'),
    import('./process-host.ts'),
  ]);
  // Standard error only goes with the report: nobody is left who could be told of it.
  process.stderr.on('error', () => {});
  process.stdout.on('error', async (error: NodeJS.ErrnoException) => {
    // A reader that goes away early, such as `head`, is no error.
    if (error.code === 'EPIPE') return;
    process.exitCode ||= 1;
    const { brokenOutput } = await import('./command-line/broken-output.ts');
    process.stderr.write(brokenOutput(error));
  });
  const exitCode = await main(processHost());
  process.exitCode = exitCode || (process.exitCode ?? 0);
}
