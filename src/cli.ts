#!/usr/bin/env node
import { randomUUID } from 'node:crypto';
import { enableCompileCache } from 'node:module';
import { setTimeout } from 'node:timers/promises';

enableCompileCache();
const { main } = await import('./command-line/main.ts');

// A reader that goes away early, such as `head`, is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

process.exitCode = await main({
  arguments: process.argv.slice(2),
  environment: process.env,
  workingDirectory: process.cwd(),
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  onSignal: (handle) => {
    process.on('SIGINT', handle);
    process.on('SIGTERM', handle);
  },
  exit: (code) => process.exit(code),
  now: Date.now,
  random: Math.random,
  sleep: async (milliseconds, signal) => void (await setTimeout(milliseconds, undefined, { signal })),
  newId: randomUUID,
});
