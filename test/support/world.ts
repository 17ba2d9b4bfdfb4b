import type { World } from '../../src/domain/world.ts';

/** Returns a world without a terminal in which waiting takes no time. */
export function makeWorld(workingDirectory: string, environment: World['environment'] = {}): World {
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
