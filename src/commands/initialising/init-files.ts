import { relative } from 'node:path';
import { slashed } from '../../files/paths.ts';
import { WORKFLOWS } from '../../templates/workflows.ts';
import { writeYaml } from '../../files/write-yaml.ts';
import type { InitAnswers } from './init-answers.ts';
import { patternOf } from './init-config.ts';

/** A file that init writes: the whole of it, or a line that it is to have. The path is relative to the new workspace. */
export type InitFile = {
  readonly path: string;
  readonly kind: 'whole' | 'line';
  readonly content: string;
  /** Paths of prompt files that it is for: it is of use where the configuration selects one of them. Absent: always. */
  readonly prompts?: readonly string[];
};

const EXAMPLE_ID = 'prm_example_greeting';

/** One of a prompt: it is of no use where its own path is not selected. */
export function promptFile(path: string, content: string): InitFile {
  return { path, kind: 'whole', content, prompts: [path] };
}

/** A first prompt file, for the embedded service or until the first prompt is imported. */
export function examplePrompt({ folder, environments }: InitAnswers): InitFile {
  const pins = writeYaml(new Map([['pins', new Map(environments.slice(0, 1).map((name) => [name, 'latest']))]]));
  const content = [
    '---',
    '# An example. The service has no call that creates a prompt: create one there, and replace this id by the one that',
    '# it shows. `promptsync import <id>` writes the file of a prompt that has a text already.',
    `id: ${EXAMPLE_ID}`,
    'key: example/greeting',
    'name: Example greeting',
    'description: First message a customer sees.',
    `${pins}---`,
    '',
    'You are a friendly assistant. Greet {{customer_name}} by name, in one sentence, and ask how you can help.',
    '',
  ];
  return promptFile(`${folder}/example/greeting.md`, content.join('\n'));
}

/** The workflows at the root of the repository. Where the workspace is not there, they are told where it is. */
export function workflowFiles(workspace: string, root: string, { keyVariable }: InitAnswers): readonly InitFile[] {
  const up = slashed(relative(workspace, root));
  const folder = slashed(relative(root, workspace));
  return Object.entries(WORKFLOWS).map(([name, lines]) => ({
    path: `${up === '' ? '' : `${up}/`}.github/workflows/promptsync-${name}.yml`,
    kind: 'whole',
    content: lines.flatMap((line) => workflowLines(line, folder, keyVariable)).join('\n'),
  }));
}

/** The lines that git and the embedded service need. */
export function lineFiles({ folder, url }: InitAnswers): readonly InitFile[] {
  const pattern = patternOf(folder);
  const attributes = `${/\s|^#/.test(pattern) ? `"${pattern}"` : pattern} text eol=lf`;
  const ignored: InitFile = { path: '.gitignore', kind: 'line', content: '.promptsync/' };
  const prompts = [`${folder}/greeting.md`, `${folder}/example/greeting.md`];
  return [{ path: '.gitattributes', kind: 'line', content: attributes, prompts }, ...(url === null ? [ignored] : [])];
}

function workflowLines(line: string, folder: string, keyVariable: string): readonly string[] {
  const [indent] = /^ *(?=api-key:)/.exec(line) ?? [];
  if (indent === undefined) return [line];
  const key = line.replace('secrets.PROMPTSYNC_API_KEY', `secrets.${keyVariable}`);
  const where = writeYaml(new Map([['working-directory', folder]])).trimEnd();
  return folder === '' ? [key] : [key, `${indent}${where}`];
}
