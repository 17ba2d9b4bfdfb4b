import type { World } from '../../src/domain/world.ts';

/** A world without a terminal, in which nobody waits. */
export function makeWorld(workingDirectory: string, environment: World['environment'] = {}): World {
  let ids = 0;
  return {
    workingDirectory,
    environment,
    now: Date.now,
    random: () => 0,
    sleep: () => Promise.resolve(),
    newId: () => `operation-${++ids}`,
    stop: new AbortController().signal,
    notice: () => {},
    onProgress: () => {},
    onWait: () => {},
    keepSecret: () => {},
    keepFolder: () => {},
    confirm: null,
    interview: null,
  };
}
