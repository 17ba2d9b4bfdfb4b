// Preloaded into each measured program. At exit, it writes the CPU time and the peak memory to descriptor 3.
const { readFileSync, writeSync } = require('node:fs');

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  try {
    writeSync(
      3,
      JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e3, peak: ((readPeakMemory() ?? maxRSS) * 1024) / 1e6 }),
    );
  } catch {
    // A child process of the measured program has no descriptor 3.
  }
});

/**
 * Returns the peak memory in KiB, or undefined without /proc. On Linux, `maxRSS` includes the memory of the process that
 * started this one, but VmHWM does not.
 */
function readPeakMemory() {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
  } catch {
    return undefined;
  }
}
