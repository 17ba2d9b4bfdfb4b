import { type Config, makeGitSettings } from '../config/config.ts';
import { loadConfiguration, openWorkspace, type WorkspaceOptions } from '../desired/open-workspace.ts';
import type { World } from '../domain/world.ts';
import { isRepositoryRoot } from '../files/paths.ts';
import type { RefKind } from '../git/list-ref-names.ts';
import { listKnownEnvironments } from './require-environment.ts';

/** The kinds of values that a shell can complete. `refs` are HEAD, branches, remote branches and tags. */
export type CompletionKind = 'keys' | 'environments' | 'branches' | 'refs';

export type CompletionOptions = Pick<WorkspaceOptions, 'config'>;

/**
 * Lists the values of a kind for completion in a shell. Reads only files and git, and sends no request. Omits prompt
 * files that are invalid. The list is empty if there is no valid configuration.
 */
export async function listCompletionValues(
  kind: CompletionKind,
  options: CompletionOptions,
  world: World,
): Promise<readonly string[]> {
  const configuration = await loadConfiguration(options, world);
  const { config } = configuration;
  if (config === null) return [];
  const readFiles = async () => (await openWorkspace({ only: [], configuration }, world)).allFiles;
  switch (kind) {
    case 'keys':
      return (await readFiles()).map(({ key }) => key);
    case 'environments':
      // If the configuration lists the environments, do not read the prompt files, because completion must be fast.
      return listKnownEnvironments(config, config.environments === null ? await readFiles() : []);
    case 'branches':
      return listRefs(['heads'], config);
    case 'refs':
      return ['HEAD', ...(await listRefs(['heads', 'remotes', 'tags'], config))];
  }
}

async function listRefs(kinds: readonly RefKind[], config: Config): Promise<readonly string[]> {
  if (!isRepositoryRoot(config.root)) return [];
  const { listRefNames } = await import('../git/list-ref-names.ts');
  return listRefNames(kinds, makeGitSettings(config));
}
