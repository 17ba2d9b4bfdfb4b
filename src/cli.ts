#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

enableCompileCache();
const [{ main }, { processHost }] = await Promise.all([import('./command-line/main.ts'), import('./process-host.ts')]);

// A reader that goes away early, such as `head`, is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

process.exitCode = await main(processHost());
