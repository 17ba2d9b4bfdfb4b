import { isDeepStrictEqual } from 'node:util';
import type { Content, Pin, PromptFile } from '../../src/domain/prompt-file.ts';
import type { Version } from '../../src/ledger/stamp.ts';
import { contentsAtTags } from './history.ts';
import { note } from './statistics.ts';
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

/** Whether a version may be made active for a pin. */
export function isWhat(world: World, version: Version, wanted: Wanted): boolean {
  return isSurelyWhat(world, version, wanted) || isCopyOfWhat(world, version, wanted);
}

/** Whether a version may stay where it is active already. */
export function mayStay(world: World, version: Version, wanted: Wanted): boolean {
  if (isWhat(world, version, wanted)) return true;
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

/** A copy of a version that was lost: with its stamp, it may be what a service has made of that very version. */
export function looksRewritten(world: World, promptId: string, version: Version, content: Content): boolean {
  const { service, madeByTool } = world;
  if (madeByTool.has(version.id) || version.stamp?.digest !== content.digest) return false;
  const { number, stamp } = version;
  const isOriginal = (one: Version): boolean =>
    one.number < number && one.digest === stamp.digest && one.metadataDigest === stamp.metadataDigest;
  const originals = service.versions(promptId).filter((one) => madeByTool.has(one.id) && isOriginal(one));
  return originals.every(({ id }) => !isReachable(world, promptId, id));
}
