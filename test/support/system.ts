import type { System } from '../../src/domain/system.ts';

/** Returns a system without a terminal in which waiting takes no time. */
export function makeSystem(workingDirectory: string, environment: System['environment'] = {}): System {
  let ids = 0;
  return {
    workingDirectory,
    environment,
    now: Date.now,
    random: () => 0,
    sleep: () => Promise.resolve(),
    makeUniqueId: () => `operation-${++ids}`,
    stopSignal: new AbortController().signal,
    printNotice: () => {},
    onProgress: () => {},
    onWait: () => {},
    keepSecret: () => {},
    confirm: null,
    interview: null,
  };
}
