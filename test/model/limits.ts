import type { Content, PromptFile } from '../../src/domain/prompt-file.ts';
import type { Version } from '../../src/ledger/stamp.ts';
import { ENVIRONMENTS, type SyncWith } from './commands.ts';
import { contentsOf } from './history.ts';
import { storedText } from './services.ts';
import { note } from './statistics.ts';
import { looksRewritten, wantedBy } from './wanted.ts';
import { isReachable, type World } from './world.ts';

/** Whether a clean sync has a reason to refuse the prompt. Asked before the sync. */
export function mayBeBlocked(world: World, file: PromptFile, { reviewed }: SyncWith): boolean {
  const { service, setup } = world;
  const { latestForbidden } = setup;
  return file.pins.some(({ environment, pin }) => {
    if (pin.kind === 'latest') return latestForbidden.includes(environment);
    const wanted = wantedBy(world, file, pin);
    if (wanted.kind === 'nothing') return true;
    // What looking would bring about is in no plan that was reviewed.
    const isServed = wanted.kind === 'version' && service.active(file.id, environment)?.id === wanted.version.id;
    if (reviewed === true && wanted.kind === 'version' && !isServed) return true;
    return pin.kind === 'number' && wanted.kind === 'version' && mayBeUnknown(world, file, wanted.version);
  });
}

/** What the service rewrites comes to light when it is made. */
export function mayFailLate(world: World, file: PromptFile): boolean {
  const { setup } = world;
  const contents = contentsOf(world.history, file);
  if (contents.some(({ text }) => storedText(setup, text) !== text)) return true;
  return mayBeUnrecognised(world, file);
}

/**
 * Whether a copy stands somewhere of which the tool cannot tell that it is one. As soon as it reads a ledger that names
 * the original it can, and then moves away from it: one run later. Asked before the sync.
 */
export function mayBeUnrecognised(world: World, file: PromptFile): boolean {
  return contentsOf(world.history, file).some((content) => readsAsRewritten(world, file, content));
}

/** The newest version, or one that is served, may be a copy of what nobody knows, its metadata edited. */
function readsAsRewritten(world: World, { id }: PromptFile, content: Content): boolean {
  const { service, statistics } = world;
  // Those that only the base commit's file pins are read as well.
  const read = [service.versions(id).at(-1), ...ENVIRONMENTS.map((environment) => service.active(id, environment))];
  const found = read.some((version) => version && looksRewritten(world, id, version, content));
  if (found) note(statistics, 'accepted: a copy of a version that nobody knows, taken for a rewritten one');
  return found;
}

/** Whether a clean sync has to refuse the prompt. */
export function mustBeBlocked(world: World, file: PromptFile): boolean {
  const { latestForbidden } = world.setup;
  return file.pins.some(({ environment, pin }) =>
    pin.kind === 'latest' ? latestForbidden.includes(environment) : wantedBy(world, file, pin).kind === 'nothing',
  );
}

/**
 * A number is found among the versions observed, in the ledgers, or as the newest version that there is. Of versions
 * that somebody else made the tool may never have heard.
 */
function mayBeUnknown(world: World, file: PromptFile, { id, number }: Version): boolean {
  const { service, madeByTool, setup } = world;
  const isServed = file.pins.some(({ environment }) => service.active(file.id, environment)?.id === id);
  if (isServed) return false;
  const newer = service.versions(file.id).length - number;
  if (newer === 0 || isReachable(world, file.id, id)) return false;
  if (setup.service === 'drops') return true;
  return !madeByTool.has(id) || forgotten(world, file.id, id) !== null;
}

/**
 * Why the tool may have lost sight of a version that it made: the known limits of the contract, in its words; null
 * where it may not.
 */
export function forgotten(world: World, promptId: string, id: string): string | null {
  const { service, madeByTool, tracked, heldByPins, setup } = world;
  if (setup.service === 'drops') return 'services that drop metadata_';
  const versions = service.versions(promptId);
  const at = versions.findIndex((version) => version.id === id);
  const newer = versions.slice(at + 1);
  // It is made active nowhere, so that only its being the newest tells of it.
  if (newer.length > 0 && versions[at]?.text !== madeByTool.get(id)) return 'rewritten, and not the newest any more';
  if (isReachable(world, promptId, id)) return null;
  if (!tracked.has(id) && newer.some((version) => !madeByTool.has(version.id))) {
    return "a lost create followed by somebody else's create";
  }
  // The tracking environment's own version and the 20 of its ledger.
  if (newer.length > 20 && !heldByPins.has(id)) return 'numbers more than 20 versions back that were never pinned';
  return null;
}
