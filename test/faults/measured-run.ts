import { main } from '../../src/cli/main.ts';
import { makeNodeProcess } from '../../src/cli/node-process.ts';

// Runs the command line like src/cli.ts, but without waiting. At the end it prints the peak memory in KiB.

process.exitCode = await main({ ...makeNodeProcess(), random: () => 0, sleep: async () => {} });
process.stderr.write(`peak ${process.resourceUsage().maxRSS}\n`);
