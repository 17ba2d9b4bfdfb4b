import { basename } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { code, table, type Parts } from './parts.ts';

const ActionShape = z.object({
  inputs: z.record(z.string(), z.object({ description: z.string(), default: z.string().optional() })),
  outputs: z.record(z.string(), z.object({ description: z.string() })),
});

/**
 * Makes the parts of pages about CI: `inputs`, `outputs`, `workflows` and `apply-workflow` of the GitHub Action, and
 * `gitlab-jobs`.
 * @param workflows the CI files for users to copy, by path
 */
export function makeActionParts(actionYaml: string, workflows: Readonly<Record<string, string>>): Parts {
  const { inputs, outputs } = ActionShape.parse(parse(actionYaml));
  const inputRows = Object.entries(inputs).map(([name, { description, default: value }]) => {
    return [code(name), value === undefined ? '' : code(value), description];
  });
  const outputRows = Object.entries(outputs).map(([name, { description }]) => [code(name), description]);
  return {
    inputs: table(['input', 'default', 'meaning'], inputRows),
    outputs: table(['output', 'meaning'], outputRows),
    workflows: workflowBlocks(workflows),
    'apply-workflow': applyWorkflowBlock(workflows),
    'gitlab-jobs': gitlabBlock(workflows),
  };
}

function workflowBlocks(workflows: Readonly<Record<string, string>>): string {
  return Object.entries(workflows)
    .filter(([path]) => path.startsWith('.github/'))
    .map(([path, yaml]) => `<details><summary>${basename(path)}</summary>\n\n\`\`\`yaml\n${yaml}\`\`\`\n\n</details>`)
    .join('\n\n');
}

function applyWorkflowBlock({
  '.github/workflows/promptsync-apply.yml': yaml = '',
}: Readonly<Record<string, string>>): string {
  return `\`\`\`yaml\n${yaml}\`\`\``;
}

function gitlabBlock({ '.gitlab/promptsync.gitlab-ci.yml': yaml = '' }: Readonly<Record<string, string>>): string {
  return `<!-- other: .gitlab/promptsync.gitlab-ci.yml -->\n\n\`\`\`yaml\n${yaml}\`\`\``;
}
