import type { Files } from './folder.ts';

export type PromptParts = {
  readonly key?: string;
  readonly name?: string;
  readonly description?: string;
  readonly pins?: Readonly<Record<string, string | number>>;
  readonly metadata?: object;
  readonly accept_warnings?: readonly string[];
  readonly text?: string;
};

/** The file of a prompt whose id is `prm_` and the name given. Front matter is JSON, which is YAML. */
export function promptText(id: string, parts: PromptParts = {}): string {
  const { key = id, name = id, text = `Text of ${id}.`, pins = { staging: 'latest' }, ...rest } = parts;
  const fields = Object.entries({ id: `prm_${id}`, key, name, pins, ...rest });
  return `---\n${fields.map(([field, value]) => `${field}: ${JSON.stringify(value)}\n`).join('')}---\n\n${text}\n`;
}

/** A configuration without a service: the variables say where it is. */
export const CONFIG = 'prompts: ["prompts/**/*.md"]\n';

/** A workspace with a file for each prompt. */
export function workspaceFiles(prompts: Readonly<Record<string, PromptParts>>, config = CONFIG): Files {
  const files = Object.entries(prompts).map(([id, parts]) => [`prompts/${id}.md`, promptText(id, parts)]);
  return { 'promptsync.yaml': config, ...Object.fromEntries(files) };
}
