import { join } from 'node:path';
import { parseConfig } from '../../src/workspace/load-config.ts';
import { makePromptRepository } from '../../src/desired-state/open-workspace.ts';
import { findRepositoryRoot } from '../../src/workspace/paths.ts';
import { openRepository } from '../../src/git/open-repository.ts';
import type { PromptRepository } from '../../src/history/read-at-commit.ts';

/**
 * Opens the repository that contains a folder.
 * @param text the configuration in the work tree
 */
export async function openPromptRepository(folder: string, text: string): Promise<PromptRepository> {
  const root = findRepositoryRoot(folder);
  const context = { file: join(folder, 'promptsync.yaml'), shownPath: 'promptsync.yaml', root, environment: {} };
  const { config } = parseConfig(text, context);
  return makePromptRepository(await openRepository({ root, keyVariables: [] }, folder, config!.branch), config!);
}
