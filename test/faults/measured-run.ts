import { main } from '../../src/cli/main.ts';
import { processHost } from '../../src/process.ts';

// Runs the command line as src/cli.ts does, but for waiting: nothing is waited for. In the end it says how many KiB of
// memory were taken at most.

process.exitCode = await main({ ...processHost(), random: () => 0, sleep: async () => {} });
process.stderr.write(`peak ${process.resourceUsage().maxRSS}\n`);
