import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { readPrompts } from '../files/read.ts';
import type { World } from './world.ts';

/** A name, and what a person may know it by. */
export type Named = { readonly value: string; readonly description: string };

export type NamesOf = 'keys' | 'environments';

/**
 * The names that a workspace knows: of its prompts or environments. From the valid files alone; empty without a
 * valid configuration. The service is not asked.
 * @param file as given with --config
 */
export async function readNames(
  what: NamesOf,
  file: string | undefined,
  { workingDirectory, environment }: Pick<World, 'workingDirectory' | 'environment'>,
): Promise<readonly Named[]> {
  const { config } = await loadConfig({ workingDirectory, file, environment });
  if (config === null) return [];
  if (what === 'environments' && config.environments !== null)
    return config.environments.map(({ name }) => plainly(name));
  const files = await readFiles(config);
  if (what === 'keys') return files.map(({ key, name }) => ({ value: key, description: name }));
  const pinned = files.flatMap(({ pins }) => pins.map(({ environment }) => environment));
  return [...new Set(pinned)].toSorted().map(plainly);
}

async function readFiles(config: Config): Promise<readonly PromptFile[]> {
  const { files } = await readPrompts(config, { known: null, reserved: [] }, { late: 'content' });
  return files;
}

function plainly(value: string): Named {
  return { value, description: '' };
}
