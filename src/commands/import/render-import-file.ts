import { posix } from 'node:path';
import type { Config } from '../../workspace/config.ts';
import { toFileContent } from '../../domain/content.ts';
import type { ObservedPrompt } from '../../domain/observed-prompt.ts';
import type { TypedPromptIdentity } from '../../domain/prompt-file.ts';
import { makeFilePath, type NewFileResult, renderNewFile } from '../../editing/render-new-file.ts';
import type { ImportChoice } from '../../planning/choose-import.ts';

export function makeImportIdentity(id: string, { fields, type }: ObservedPrompt, folder: string): TypedPromptIdentity {
  const key = fields?.key ?? id;
  return { id, key, path: posix.join(folder, makeFilePath(key, id)), type };
}

/** Renders the file of a prompt with the chosen content and pins. Its other fields are those of the prompt. */
export function renderImportFile(
  identity: TypedPromptIdentity,
  { fields }: ObservedPrompt,
  { content, pins }: Pick<ImportChoice, 'content' | 'pins'>,
  config: Config,
): NewFileResult {
  const { name, description } = fields ?? { name: undefined, description: '' };
  return renderNewFile({ ...identity, name, description, content: toFileContent(content), pins }, config);
}
