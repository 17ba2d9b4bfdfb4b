// Loaded into every program that is measured: at its end it says on descriptor 3 what it has used.
const { readFileSync, writeSync } = require('node:fs');

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  try {
    writeSync(
      3,
      JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e3, peak: ((peakOf() ?? maxRSS) * 1024) / 1e6 }),
    );
  } catch {
    // A child of the program that is measured has no such descriptor.
  }
});

/** In KiB. What Linux counts for a process begins with the memory of the one that has started it; this does not. */
function peakOf() {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
  } catch {
    return undefined;
  }
}
