import { isDeepStrictEqual } from 'node:util';
import type { Content, Pin, PromptFile } from '../../src/domain/prompt-file.ts';
import type { Version } from '../../src/domain/version.ts';
import type { SyncWith } from './commands.ts';
import { contentsAtTags } from './history.ts';
import { note } from './statistics.ts';
import { storedText } from './services.ts';
import { isReachable, versionOf, type World } from './world.ts';

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
      return thatVersion(world.service.versions(file.id)[pin.number - 1]);
    case 'version':
      return thatVersion(versionOf(world, file.id, pin.id));
  }
}

function thatVersion(version: Version | undefined): Wanted {
  return version === undefined ? { kind: 'nothing' } : { kind: 'version', version };
}

/** Whether a version may be served for a pin. */
export function isWhat(world: World, version: Version, wanted: Wanted): boolean {
  if (isSurelyWhat(world, version, wanted) || isCopyOfWhat(world, version, wanted)) return true;
  if (!isCopyOfUnknown(world, version, wanted)) return false;
  note(world.statistics, 'accepted: a copy of a version that nobody knows, its metadata edited');
  return true;
}

/** Where the file manages no metadata, those of somebody else's version must be empty. */
export function isSurelyWhat({ madeByTool, setup }: World, version: Version, wanted: Wanted): boolean {
  if (wanted.kind === 'nothing') return false;
  if (wanted.kind === 'version') return wanted.version.id === version.id;
  const { text, metadata } = wanted.content;
  if (version.text.replaceAll('\r\n', '\n') !== text) return false;
  if (setup.service === 'drops') return true;
  if (metadata !== undefined) return isDeepStrictEqual(version.metadata, metadata);
  return madeByTool.has(version.id) || Object.keys(version.metadata).length === 0;
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

/** Metadata that were edited in a copy cannot be told from those that a service adds, unless the original is known. */
function isCopyOfUnknown(world: World, version: Version, wanted: Wanted): boolean {
  if (wanted.kind !== 'content' || wanted.content.metadata !== undefined) return false;
  const { content, promptId } = wanted;
  return version.digest === content.digest && looksRewritten(world, promptId, version, content);
}

/** A known limit, a lost create followed by somebody else's create: of a copy of what was lost. */
function looksRewritten(world: World, promptId: string, version: Version, content: Content): boolean {
  const { service, madeByTool } = world;
  if (madeByTool.has(version.id) || version.stamp?.digest !== content.digest) return false;
  const { number, stamp } = version;
  const isOriginal = (one: Version): boolean =>
    one.number < number && one.digest === stamp.digest && one.metadataDigest === stamp.metadataDigest;
  const originals = service.versions(promptId).filter((one) => madeByTool.has(one.id) && isOriginal(one));
  return originals.every(({ id }) => !isReachable(world, promptId, id));
}

/** Whether a clean sync has a reason to refuse the prompt. Asked before the sync. */
export function mayBeBlocked(world: World, file: PromptFile, { reviewed }: SyncWith): boolean {
  const { service, setup } = world;
  const { latestForbidden, trackingEnvironment } = setup;
  if (trackingEnvironment === null && !isNewestServed(world, file)) return true;
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

/** Without a tracking environment an unknown latest version blocks, because nothing is looked at. */
function isNewestServed({ service }: World, { id, pins }: PromptFile): boolean {
  const newest = service.versions(id).at(-1);
  return newest === undefined || pins.some(({ environment }) => service.active(id, environment)?.id === newest.id);
}

/**
 * Where nothing is looked at, an id that no version has comes to light when it is set, after other writes. What the
 * service rewrites comes to light when it is made; that includes metadata which are dropped where nothing shows it.
 */
export function mayFailLate(world: World, file: PromptFile): boolean {
  const contents = [file.content, ...[...contentsAtTags(world.history, file).values()].map(({ content }) => content)];
  const { service, setup } = world;
  const { trackingEnvironment } = setup;
  if (contents.some(({ text }) => storedText(world.setup, text) !== text)) return true;
  if (trackingEnvironment === null && setup.service === 'drops' && contents.some(({ metadata }) => metadata))
    return true;
  const read = [
    service.versions(file.id).at(-1),
    ...file.pins.map(({ environment }) => service.active(file.id, environment)),
  ];
  for (const version of read) {
    if (version && contents.some((content) => looksRewritten(world, file.id, version, content))) return true;
  }
  if (trackingEnvironment !== null) return false;
  return file.pins.some(({ pin }) => pin.kind === 'version' && wantedBy(world, file, pin).kind === 'nothing');
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
  if (setup.trackingEnvironment === null) return true;
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
  if (setup.trackingEnvironment === null) return 'no tracking environment';
  if (setup.service === 'drops') return 'services that drop metadata_';
  const versions = service.versions(promptId);
  const at = versions.findIndex((version) => version.id === id);
  const newer = versions.slice(at + 1);
  // It is made active nowhere, so that only its being the newest tells of it.
  if (newer.length > 0 && versions[at]?.text !== madeByTool.get(id)) return 'rewritten, and not the newest any more';
  if (isReachable(world, promptId, id)) return null;
  const rewritten = newer.some((version) => version.text !== (madeByTool.get(version.id) ?? version.text));
  if (!tracked.has(id) && rewritten) return 'lost behind a rewritten version';
  if (!tracked.has(id) && newer.some((version) => !madeByTool.has(version.id))) {
    return "a lost create followed by somebody else's create";
  }
  // The tracking environment's own version and the 20 of its ledger.
  if (newer.length > 20 && !heldByPins.has(id)) return 'numbers more than 20 versions back that were never pinned';
  return null;
}
