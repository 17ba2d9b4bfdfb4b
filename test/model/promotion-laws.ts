import { isDeepStrictEqual } from 'node:util';
import { findPin, type PromptFile } from '../../src/domain/prompt-file.ts';
import type { LedgerVersion } from '../../src/providers/four-call/version-record.ts';
import { ENVIRONMENTS, MOVING_REF } from './commands.ts';
import { findCommitted, head } from './history.ts';
import { must } from './laws.ts';
import { mayStay, wantedBy } from './limits.ts';
import { findStartOfFile } from './make-prompt-history.ts';
import type { Write } from './port.ts';
import { note } from './situations.ts';
import type { World } from './world.ts';

/** What the service has of a prompt before a run. */
export type ServedBefore = {
  readonly versions: readonly LedgerVersion[];
  readonly active: ReadonlyMap<string, LedgerVersion | null>;
};

export function readServed({ service }: World, promptId: string): ServedBefore {
  const active = ENVIRONMENTS.map((environment) => [environment, service.active(promptId, environment)] as const);
  return { versions: service.versions(promptId), active: new Map(active) };
}

/** Checks each version that a run without troubles has made live in an environment with a promotion source. */
export function checkPromotions(
  world: World,
  file: PromptFile,
  { versions, active }: ServedBefore,
  writes: readonly Write[],
): void {
  for (const write of writes) {
    if (write.kind !== 'set' || write.promptId !== file.id) continue;
    const { environment, id } = write;
    const source = world.setup.promotionSources[environment];
    if (source === undefined) continue;
    const version = versions.find((one) => one.id === id);
    must(version !== undefined, () => `${environment} of ${file.id} serves ${id}, which ${source} has never served`);
    const served = active.get(environment)?.number ?? 0;
    const reasons = {
      'the source serves it': active.get(source)?.content.text === version.content.text,
      'it is a rollback': served > version.number,
      'an earlier commit wanted it': wasWantedBefore(world, file, version, [environment, source]),
      'the file was adopted with it': wasAdoptedWith(world, file, version, environment),
    };
    const [reason] = Object.entries(reasons).find(([, holds]) => holds) ?? [];
    must(reason !== undefined, () => `${environment} of ${file.id} serves ${id} although ${source} never has`);
    note(world.statistics, `promoted: ${reason}`);
  }
}

/** Lists the states of the file, newest first. */
function listStates({ history }: World, file: PromptFile): readonly PromptFile[] {
  const start = findStartOfFile(history, file, head(history));
  const commits = history.commits.slice(start).toReversed();
  return [...new Set(commits.flatMap((commit) => findCommitted(commit, file)?.file ?? []))];
}

function wants(world: World, file: PromptFile, version: LedgerVersion, environment: string): boolean {
  const pin = findPin(file.pins, environment)?.pin;
  return pin !== undefined && mayStay(world, version, wantedBy(world, file, pin));
}

/**
 * Whether git wanted a version in an environment or its source before the last change of what the environment wants. A
 * moving ref counts as changed by the newest state, because nobody knows what it meant before.
 */
function wasWantedBefore(
  world: World,
  file: PromptFile,
  version: LedgerVersion,
  [environment, source]: readonly [string, string],
): boolean {
  const meaningOf = (state: PromptFile) => {
    const pin = findPin(state.pins, environment)?.pin;
    return pin && [pin.kind, wantedBy(world, state, pin)];
  };
  const states = listStates(world, file);
  const { pin } = findPin(file.pins, environment) ?? {};
  const isMoving = pin?.kind === 'git' && pin.ref === MOVING_REF;
  const change = states.findIndex((state, age) => {
    return (isMoving && age > 0) || !isDeepStrictEqual(meaningOf(state), meaningOf(file));
  });
  const before = change === -1 ? [] : states.slice(change);
  return before.some((state) => [environment, source].some((name) => wants(world, state, version, name)));
}

/** Whether every state of the file wanted the version, and the file has never been away. */
function wasAdoptedWith(world: World, file: PromptFile, version: LedgerVersion, environment: string): boolean {
  const { commits } = world.history;
  const start = findStartOfFile(world.history, file, head(world.history));
  const isFirst = commits.slice(0, start).every((commit) => findCommitted(commit, file) === undefined);
  return isFirst && listStates(world, file).every((state) => wants(world, state, version, environment));
}
