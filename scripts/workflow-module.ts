import { basename } from 'node:path';
import { format, resolveConfig } from 'prettier';

const PATH = 'src/commands/workflows.ts';

/** The module that holds the workflows to copy, by path: source and bundle have no other files beside them. */
export async function workflowModule(workflows: Readonly<Record<string, string>>): Promise<string> {
  const lists = Object.entries(workflows).map(([path, text]) => {
    const name = basename(path, '.yml').replace('promptsync-', '');
    return `${name}: ${JSON.stringify(text.split('\n'))}`;
  });
  const module =
    '/** The lines of the workflows in prompts.example, of which `npm run generate` makes this module. */\n' +
    `export const WORKFLOWS = { ${lists.join(', ')} } as const;\n`;
  return format(module, { ...(await resolveConfig(PATH)), parser: 'typescript' });
}
