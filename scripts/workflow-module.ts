import { format, resolveConfig } from 'prettier';

const PATH = 'src/commands/init/example-workflows.ts';

/**
 * Returns the code of the module with the CI files that `promptsync init` copies. A module is necessary because the
 * bundle cannot read other files.
 */
export async function makeWorkflowModule(workflows: Readonly<Record<string, string>>): Promise<string> {
  const module =
    '/** The CI files in prompts.example, by path. `npm run generate` makes this module from them. */\n' +
    `export const WORKFLOWS: Readonly<Record<string, string>> = ${JSON.stringify(workflows)};\n`;
  return format(module, { ...(await resolveConfig(PATH)), parser: 'typescript' });
}
