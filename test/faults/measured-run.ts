import { randomUUID } from 'node:crypto';
import { main } from '../../src/command-line/main.ts';

// Runs the command line as src/cli.ts does, but for waiting: nothing is waited for. In the end it says how many KiB of
// memory were taken at most.

process.exitCode = await main({
  arguments: process.argv.slice(2),
  environment: process.env,
  workingDirectory: process.cwd(),
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  onSignal: () => {},
  exit: (code) => process.exit(code),
  now: Date.now,
  random: () => 0,
  sleep: async () => {},
  newId: randomUUID,
});
process.stderr.write(`peak ${process.resourceUsage().maxRSS}\n`);
