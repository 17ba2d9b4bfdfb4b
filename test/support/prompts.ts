import type { Files } from './folder.ts';

export type PromptParts = {
  readonly key?: string;
  readonly name?: string;
  readonly type?: 'text' | 'chat';
  readonly description?: string;
  readonly pins?: Readonly<Record<string, string | number>>;
  readonly metadata?: object;
  readonly accept_warnings?: readonly string[];
  readonly text?: string;
};

/** Returns the file of the prompt with the id `prm_…`. The values in its front matter are JSON, which is valid YAML. */
export function promptText(id: string, parts: PromptParts = {}): string {
  const { key = id, name = id, text = `Text of ${id}.`, pins = { staging: 'latest' }, ...rest } = parts;
  const fields = Object.entries({ id: `prm_${id}`, key, name, pins, ...rest });
  return `---\n${fields.map(([field, value]) => `${field}: ${JSON.stringify(value)}\n`).join('')}---\n\n${text}\n`;
}

/** A configuration without a service. The environment variables contain its address. */
export const CONFIG = 'prompts: ["prompts/**/*.md"]\n';

/** Returns the files of a workspace with these prompts. */
export function workspaceFiles(prompts: Readonly<Record<string, PromptParts>>, config = CONFIG): Files {
  const files = Object.entries(prompts).map(([id, parts]) => [`prompts/${id}.md`, promptText(id, parts)]);
  return { 'promptsync.yaml': config, ...Object.fromEntries(files) };
}
