import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { TRACKING } from './commands.ts';
import { note } from './statistics.ts';
import type { World } from './world.ts';

/** What the model keeps in mind as the tool makes a version, whether or not the tool will ever hear of it. */
export function noteCreate(
  world: World,
  files: readonly PromptFile[],
  promptId: string,
  versionId: string,
  text: string,
): void {
  const { service, madeByTool, held, statistics } = world;
  const file = files.find(({ id }) => id === promptId);
  const standing = (file?.pins ?? []).flatMap(({ environment, pin }) => {
    const active = service.active(promptId, environment);
    return pin.kind === 'latest' || active === null ? [] : [active.id];
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
