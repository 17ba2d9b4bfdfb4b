import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { TRACKING } from './commands.ts';
import { note } from './statistics.ts';
import type { World } from './world.ts';

/** The id of the version that an answer of this run last had for an environment; null where it was read as empty. */
export type LastRead = (environment: string) => string | null;

/**
 * What the model keeps in mind as the tool makes a version, whether or not the tool will ever hear of it. It can hold
 * on to what it was told of alone, not to what somebody has moved since.
 */
export function noteCreate(
  { madeByTool, held, statistics }: World,
  file: PromptFile | undefined,
  lastRead: LastRead,
  versionId: string,
  text: string,
): void {
  const standing = (file?.pins ?? []).flatMap(({ environment, pin }) => {
    const active = lastRead(environment);
    return pin.kind === 'latest' || active === null ? [] : [active];
  });
  madeByTool.set(versionId, text);
  held.set(versionId, standing);
  note(statistics, 'versions made by the tool');
}

/** What the tracking environment has stood on is known from then on, with all that its ledger holds on to. */
export function noteSet({ tracked, held, heldByPins }: World, environment: string, versionId: string): void {
  if (environment !== TRACKING) return;
  tracked.add(versionId);
  for (const id of held.get(versionId) ?? []) heldByPins.add(id);
}
