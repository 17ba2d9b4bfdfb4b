import { type Config, makeGitSettings } from '../workspace/config.ts';
import { loadConfiguration, openWorkspace, type WorkspaceOptions } from '../desired-state/open-workspace.ts';
import type { System } from '../domain/system.ts';
import { isRepositoryRoot } from '../workspace/paths.ts';
import type { RefKind } from '../git/list-ref-names.ts';
import { listKnownEnvironments } from '../run/require-environment.ts';

/** The kinds of values that a shell can complete. `refs` are HEAD, branches, remote branches and tags. */
export type CompletionKind = 'keys' | 'environments' | 'branches' | 'refs';

export type CompletionOptions = Pick<WorkspaceOptions, 'config'>;

/** Reads only files and git. Omits invalid prompt files. The list is empty if there is no valid configuration. */
export async function listCompletionValues(
  kind: CompletionKind,
  options: CompletionOptions,
  system: System,
): Promise<readonly string[]> {
  const configuration = await loadConfiguration(options, system);
  const { config } = configuration;
  if (config === null) return [];
  const readFiles = async () => (await openWorkspace({ only: [], configuration }, system)).allFiles;
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
