import { basename } from 'node:path';
import { format, resolveConfig } from 'prettier';

const PATH = 'src/commands/workflows.ts';

/** The module that holds the workflows to copy, by path: source and bundle have no other files beside them. */
export async function workflowModule(workflows: Readonly<Record<string, string>>): Promise<string> {
  const texts = Object.entries(workflows).map(([path, text]) => {
    return `${basename(path, '.yml').replace('promptsync-', '')}: ${JSON.stringify(text)}`;
  });
  const module =
    '/** The workflows in prompts.example, of which `npm run generate` makes this module. */\n' +
    `export const WORKFLOWS = { ${texts.join(', ')} } as const;\n`;
  return format(module, { ...(await resolveConfig(PATH)), parser: 'typescript' });
}
