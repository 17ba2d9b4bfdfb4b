import { isDeepStrictEqual } from 'node:util';
import { type Content, followsLatest, type Pin, type PromptFile } from '../../src/domain/prompt-file.ts';
import type { Version } from '../../src/ledger/stamp.ts';
import { ENVIRONMENTS, type SyncWith } from './commands.ts';
import { contentsAtTags, contentsOf } from './history.ts';
import { note } from './situations.ts';
import { storedText, type World } from './world.ts';

/** What an environment must serve after a clean sync; `nothing` where no version can be what the pin says. */
export type Wanted =
  | { readonly kind: 'content'; readonly promptId: string; readonly content: Content }
  | { readonly kind: 'version'; readonly version: Version }
  | { readonly kind: 'nothing' };

export function wantedBy(world: World, file: PromptFile, pin: Pin): Wanted {
  switch (pin.kind) {
    case 'latest':
      return { kind: 'content', promptId: file.id, content: file.content };
    case 'git': {
      const at = contentsAtTags(world.history, file).get(pin.ref);
      return at === undefined ? { kind: 'nothing' } : { kind: 'content', promptId: file.id, content: at.content };
    }
    case 'number':
      return thatVersion(world.service.versions(file.id).find(({ number }) => number === pin.number));
    case 'version':
      return thatVersion(world.service.versions(file.id).find(({ id }) => id === pin.id));
  }
}

function thatVersion(version: Version | undefined): Wanted {
  return version === undefined ? { kind: 'nothing' } : { kind: 'version', version };
}

/** Whether a version may be made active for a pin. */
export function isWhat(world: World, version: Version, wanted: Wanted): boolean {
  return isSurelyWhat(world, version, wanted) || isCopyOfWhat(world, version, wanted);
}

/** Whether a version stays where it is active already, whoever made it. */
export function mayStay({ setup }: Pick<World, 'setup'>, version: Version, wanted: Wanted): boolean {
  if (wanted.kind !== 'content') return wanted.kind === 'version' && wanted.version.id === version.id;
  const { text, metadata } = wanted.content;
  if (version.text !== text) return false;
  return metadata === undefined || setup.service === 'drops' || isDeepStrictEqual(version.metadata, metadata);
}

/** Where the file manages no metadata, those of somebody else's version must be empty. */
export function isSurelyWhat({ madeByTool, setup, service }: World, version: Version, wanted: Wanted): boolean {
  if (wanted.kind === 'nothing') return false;
  if (wanted.kind === 'version') return wanted.version.id === version.id;
  const { text, metadata } = wanted.content;
  if (version.text !== text) return false;
  if (setup.service === 'drops') return true;
  if (metadata !== undefined) return isDeepStrictEqual(version.metadata, metadata);
  return service.takesAny || madeByTool.has(version.id) || Object.keys(version.metadata).length === 0;
}

/** A copy of what the tool has made, with its stamp and with nothing changed: all of it was in a commit once. */
function isCopyOfWhat(world: World, version: Version, wanted: Wanted): boolean {
  const { service, madeByTool } = world;
  if (wanted.kind !== 'content' || version.stamp === null) return false;
  return service.versions(wanted.promptId).some((one) => {
    const isSame = one.digest === version.digest && isDeepStrictEqual(one.metadata, version.metadata);
    return isSame && madeByTool.has(one.id) && isSurelyWhat(world, one, wanted);
  });
}

/** A copy of a version that was lost: with its stamp, it may be what a service has made of that very version. */
export function looksRewritten(world: World, promptId: string, version: Version, content: Content): boolean {
  const { service, madeByTool } = world;
  if (madeByTool.has(version.id) || version.stamp?.digest !== content.digest) return false;
  const { number, stamp } = version;
  const isOriginal = (one: Version): boolean =>
    one.number < number && one.digest === stamp.digest && one.metadataDigest === stamp.metadataDigest;
  const originals = service.versions(promptId).filter((one) => madeByTool.has(one.id) && isOriginal(one));
  return originals.every(({ id }) => !service.isFindable(promptId, id));
}

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
    const isServedSomewhere = file.pins.some((one) => {
      return wanted.kind === 'version' && service.active(file.id, one.environment)?.id === wanted.version.id;
    });
    if (pin.kind !== 'number' || wanted.kind !== 'version' || isServedSomewhere) return false;
    return service.mayBeUnknown(world, file.id, wanted.version);
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

/**
 * Where no pin follows a file's text, its version may be the last that is searched: the version that is made for another
 * pin is one too many, and the next run makes it again. Asked before the sync.
 */
export function mayOutgrow(world: World, file: PromptFile): boolean {
  const { service, statistics } = world;
  const wanted: Wanted = { kind: 'content', promptId: file.id, content: file.content };
  const holding = service.versions(file.id).filter((version) => isSurelyWhat(world, version, wanted));
  const stays = (more: number): boolean => holding.some(({ id }) => service.isKept(file.id, id, more));
  if (followsLatest(file) || !stays(0) || stays(file.pins.length)) return false;
  note(statistics, 'accepted: a text at the end of what is searched, and versions made for other pins');
  return true;
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
