import { isDeepStrictEqual } from 'node:util';
import type { NewVersion } from '../../src/service/prompt-service.ts';
import type { Content, PromptFile } from '../../src/domain/prompt-file.ts';
import type { Version } from '../../src/ledger/stamp.ts';
import { LOOK, TRACKING } from './commands.ts';
import { contentsOf } from './history.ts';
import { must } from './law.ts';
import { note } from './statistics.ts';
import { forgotten } from './limits.ts';
import { isWhat, wantedBy } from './wanted.ts';
import type { World } from './world.ts';

/**
 * No content (text and managed metadata) has two versions made by the tool. Asked right before a version comes to be;
 * where the file manages no metadata, any version that the tool made of the text will do.
 */
export function checkCreate(world: World, files: readonly PromptFile[], promptId: string, made: NewVersion): void {
  const { service, madeByTool, statistics } = world;
  const file = files.find(({ id }) => id === promptId);
  const contents = file === undefined ? [] : contentsOf(world.history, file);
  const wanted = contents.filter((content) => isOf(made, content));
  must(wanted.length > 0, () => `a version of ${promptId} is made of what no pin and no file asks for: ${made.text}`);
  const managed = wanted.some(({ metadata }) => metadata !== undefined);
  for (const { id, text, metadata } of service.versions(promptId)) {
    if (madeByTool.get(id) !== made.text) continue;
    // What a service has rewritten will not do for anything else than what was sent.
    if ((managed || text !== made.text) && !isDeepStrictEqual(metadata, made.metadata)) continue;
    const reason = forgotten(world, promptId, id);
    must(reason !== null, () => `a second version of one content: ${id} of ${promptId} has it already (${made.text})`);
    note(statistics, `made again: ${reason}`);
  }
}

/**
 * Nothing unreviewed goes live: what the tool makes active in an environment is what the pin of that environment says,
 * in the commit that is synced. It touches no environment but those that are pinned, and its own.
 */
export function checkSet(
  world: World,
  files: readonly PromptFile[],
  promptId: string,
  environment: string,
  version: Version,
): void {
  if (environment === LOOK) return;
  if (environment === TRACKING) return checkTracking(world, promptId, version);
  const file = files.find(({ id }) => id === promptId);
  const pin = file?.pins.find((one) => one.environment === environment);
  must(file !== undefined && pin !== undefined, () => `${environment} of ${promptId} is set without a pin`);
  const wanted = wantedBy(world, file, pin.pin);
  must(isWhat(world, version, wanted), () => {
    return `${environment} of ${promptId} is set to ${version.id} (${version.text}), which is not what its pin says`;
  });
}

/** The tracking environment moves to versions of the tool's own, and to one that names the version it stands on. */
function checkTracking({ service, madeByTool }: World, promptId: string, { id, stamp, number }: Version): void {
  const old = service.active(promptId, TRACKING);
  const follows = old === null || (stamp?.ledger ?? []).some((entry) => entry.id === old.id);
  must(madeByTool.has(id) || (stamp !== null && follows), () => `${TRACKING} of ${promptId} is set to ${id}`);
  must(old === null || number >= old.number, () => `${TRACKING} of ${promptId} goes back from ${old?.id} to ${id}`);
}

function isOf({ text, metadata }: NewVersion, content: Content): boolean {
  return text === content.text && isDeepStrictEqual(metadata, content.metadata ?? {});
}
