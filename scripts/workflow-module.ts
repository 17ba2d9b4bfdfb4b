import { format, resolveConfig } from 'prettier';

const PATH = 'src/commands/workflows.ts';

/** The module that holds the files of CI to copy, by path: source and bundle have no other files beside them. */
export async function workflowModule(workflows: Readonly<Record<string, string>>): Promise<string> {
  const module =
    '/** The files of CI in prompts.example, of which `npm run generate` makes this module, by their paths. */\n' +
    `export const WORKFLOWS: Readonly<Record<string, string>> = ${JSON.stringify(workflows)};\n`;
  return format(module, { ...(await resolveConfig(PATH)), parser: 'typescript' });
}
