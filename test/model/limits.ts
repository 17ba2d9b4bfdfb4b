import { isDeepStrictEqual } from 'node:util';
import { type EnvironmentPin, followsLatest, type Pin, type PromptFile } from '../../src/domain/prompt-file.ts';
import { type Content, omitDigests } from '../../src/domain/content.ts';
import type { LedgerVersion } from '../../src/providers/four-call/version-record.ts';
import { ENVIRONMENTS, MOVING_REF, type Setup, type SyncWith } from './commands.ts';
import { contentsAtTags, contentsOf } from './history.ts';
import { note } from './situations.ts';
import { storedText, type World } from './world.ts';

/** What an environment must serve after a clean sync. `nothing`: no version can match the pin. */
export type Wanted =
  | { readonly kind: 'content'; readonly promptId: string; readonly content: Content }
  | { readonly kind: 'version'; readonly version: LedgerVersion }
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

function thatVersion(version: LedgerVersion | undefined): Wanted {
  return version === undefined ? { kind: 'nothing' } : { kind: 'version', version };
}

/** Whether promptsync may activate a version for a pin. */
export function isWhat(world: World, version: LedgerVersion, wanted: Wanted): boolean {
  return isSurelyWhat(world, version, wanted) || isCopyOfWhat(world, version, wanted);
}

/** Whether an active version may stay active, even if it is foreign. */
export function mayStay({ setup }: Pick<World, 'setup'>, version: LedgerVersion, wanted: Wanted): boolean {
  if (wanted.kind !== 'content') return wanted.kind === 'version' && wanted.version.id === version.id;
  const { metadata } = wanted.content;
  if (!hasSameText(version, wanted.content)) return false;
  return metadata === undefined || setup.service === 'drops' || isDeepStrictEqual(version.content.metadata, metadata);
}

function hasSameText({ content }: LedgerVersion, { type, text }: Content): boolean {
  return content.type === type && content.text === text;
}

/** For a file without metadata, the metadata of a foreign version must be empty. */
export function isSurelyWhat({ madeByTool, setup, service }: World, version: LedgerVersion, wanted: Wanted): boolean {
  if (wanted.kind === 'nothing') return false;
  if (wanted.kind === 'version') return wanted.version.id === version.id;
  const { metadata } = wanted.content;
  if (!hasSameText(version, wanted.content)) return false;
  if (setup.service === 'drops') return true;
  if (metadata !== undefined) return isDeepStrictEqual(version.content.metadata, metadata);
  return service.takesAny || madeByTool.has(version.id) || Object.keys(version.content.metadata).length === 0;
}

/** Whether a version is an unchanged copy of a managed version. Its content was in a commit. */
function isCopyOfWhat(world: World, version: LedgerVersion, wanted: Wanted): boolean {
  const { service, madeByTool } = world;
  if (wanted.kind !== 'content' || version.record === null) return false;
  return service.versions(wanted.promptId).some((one) => {
    const isSame = isDeepStrictEqual(omitDigests(one.content), omitDigests(version.content));
    return isSame && madeByTool.has(one.id) && isSurelyWhat(world, one, wanted);
  });
}

/** Whether a version copies one whose answer was lost. It looks like a version that the service has changed. */
export function looksRewritten(world: World, promptId: string, version: LedgerVersion, content: Content): boolean {
  const { service, madeByTool } = world;
  if (madeByTool.has(version.id) || version.record?.digest !== content.digest) return false;
  const { number, record: stamp } = version;
  const isOriginal = (one: LedgerVersion): boolean =>
    one.number < number && one.content.digest === stamp.digest && one.content.metadataDigest === stamp.metadataDigest;
  const originals = service.versions(promptId).filter((one) => madeByTool.has(one.id) && isOriginal(one));
  return originals.every(({ id }) => !service.isFindable(promptId, id));
}

/** Whether a clean sync has a reason to refuse the prompt. Asked before the sync. */
export function mayBeBlocked(world: World, file: PromptFile, { reviewed }: SyncWith): boolean {
  const { service, setup } = world;
  if (hasOtherType(world, file)) return true;
  return file.pins.some(({ environment, pin }) => {
    if (isForbidden({ environment, pin }, setup) || mayBreakOrder(world, file, { environment, pin })) return true;
    const wanted = wantedBy(world, file, pin);
    if (wanted.kind === 'nothing') return true;
    if (pin.kind === 'latest') return false;
    // A reviewed plan does not contain the results of a probe.
    const isServed = wanted.kind === 'version' && service.active(file.id, environment)?.id === wanted.version.id;
    if (reviewed === true && wanted.kind === 'version' && !isServed) return true;
    const isServedSomewhere = file.pins.some((one) => {
      return wanted.kind === 'version' && service.active(file.id, one.environment)?.id === wanted.version.id;
    });
    if (pin.kind !== 'number' || wanted.kind !== 'version' || isServedSomewhere) return false;
    return service.mayBeUnknown(world, file.id, wanted.version);
  });
}

/** Whether `allow_latest: false` forbids a pin, because its want can change without an edit of the pin. */
function isForbidden({ environment, pin }: Pick<EnvironmentPin, 'environment' | 'pin'>, setup: Setup): boolean {
  const canChange = pin.kind === 'latest' || (pin.kind === 'git' && pin.ref === MOVING_REF);
  return canChange && setup.latestForbidden.includes(environment);
}

/**
 * Whether promotion order may refuse a pin. It must not refuse what the environment or its source serves already, and no
 * rollback to a lower number.
 */
function mayBreakOrder(
  world: World,
  file: PromptFile,
  { environment, pin }: Pick<EnvironmentPin, 'environment' | 'pin'>,
): boolean {
  const { service, setup } = world;
  const from = setup.promotionSources[environment];
  if (from === undefined) return false;
  const wanted = wantedBy(world, file, pin);
  const [served, source] = [service.active(file.id, environment), service.active(file.id, from)];
  if (served !== null && mayStay(world, served, wanted)) return false;
  if (wanted.kind === 'version') {
    const isRollback = pin.kind === 'number' && served !== null && served.number > pin.number;
    return source?.id !== wanted.version.id && !isRollback;
  }
  const candidates = service.versions(file.id).filter((version) => mayStay(world, version, wanted));
  const isOnlyCandidate = candidates.length === 1 && source?.id === candidates[0]?.id;
  return source === null || !isOnlyCandidate || !isSurelyWhat(world, source, wanted);
}

/** Whether the prompt has another type in the service. All versions of a prompt have the same type. */
function hasOtherType({ service }: World, { id, type }: PromptFile): boolean {
  return service.versions(id).some(({ content }) => content.type !== type);
}

/**
 * Whether a sync may refuse to activate a version that an earlier run has left behind: the version has metadata that the
 * reviewed plan did not show. Must be called before the sync.
 */
export function mayRefuseMetadata(world: World, file: PromptFile, { reviewed }: SyncWith): boolean {
  if (reviewed !== true) return false;
  const isLeftBehind = (version: LedgerVersion, content: Content): boolean =>
    version.record !== null &&
    hasSameText(version, content) &&
    !isDeepStrictEqual(version.content.metadata, content.metadata ?? {});
  const versions = world.service.versions(file.id);
  return contentsOf(world.history, file).some((content) => versions.some((one) => isLeftBehind(one, content)));
}

/** Whether the service rewrites the content, which shows only when promptsync creates the version. */
export function mayFailLate(world: World, file: PromptFile): boolean {
  const { setup } = world;
  const contents = contentsOf(world.history, file);
  if (contents.some(({ text }) => storedText(setup, text) !== text)) return true;
  return mayBeUnrecognised(world, file);
}

/**
 * Whether an active version is a copy that promptsync cannot recognize yet. It recognizes the copy one run later, when it
 * reads a ledger that names the original. Must be called before the sync.
 */
export function mayBeUnrecognised(world: World, file: PromptFile): boolean {
  return contentsOf(world.history, file).some((content) => readsAsRewritten(world, file, content));
}

/**
 * Whether a version for another pin may push the version of an unpinned text out of the searched versions, so that the
 * next run creates that version again. Must be called before the sync.
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

/** Whether the newest or an active version may be a copy with edited metadata whose original is unknown. */
function readsAsRewritten(world: World, { id }: PromptFile, content: Content): boolean {
  const { service, statistics } = world;
  // promptsync also reads environments that only the base pins.
  const read = [service.versions(id).at(-1), ...ENVIRONMENTS.map((environment) => service.active(id, environment))];
  const found = read.some((version) => version && looksRewritten(world, id, version, content));
  if (found) note(statistics, 'accepted: a copy of a version that nobody knows, taken for a rewritten one');
  return found;
}

/** Whether a clean sync has to refuse the prompt. */
export function mustBeBlocked(world: World, file: PromptFile): boolean {
  if (hasOtherType(world, file)) return true;
  return file.pins.some((one) => isForbidden(one, world.setup) || wantedBy(world, file, one.pin).kind === 'nothing');
}
