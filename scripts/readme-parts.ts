import { basename } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';
import { z } from 'zod';

const ActionShape = z.object({
  inputs: z.record(z.string(), z.object({ description: z.string(), default: z.string().optional() })),
  outputs: z.record(z.string(), z.object({ description: z.string() })),
});

export type ReadmeSources = {
  readonly actionYaml: string;
  /** The workflows to copy, by path. */
  readonly workflows: Readonly<Record<string, string>>;
};

/** The README with its generated parts made anew, each between its two comments. */
export async function withGeneratedParts(readme: string, { actionYaml, workflows }: ReadmeSources): Promise<string> {
  const { inputs, outputs } = ActionShape.parse(parse(actionYaml));
  const parts = { inputs: inputTable(inputs), outputs: outputTable(outputs), workflows: workflowBlocks(workflows) };
  const made = Object.entries(parts).reduce((text, [name, part]) => replacePart(text, name, part), readme);
  return format(made, { ...(await resolveConfig('README.md')), parser: 'markdown' });
}

type Action = z.infer<typeof ActionShape>;

function inputTable(inputs: Action['inputs']): string {
  const rows = Object.entries(inputs).map(([name, { description, default: value }]) => {
    return `| \`${name}\` | ${value === undefined ? '' : `\`${value}\``} | ${description} |`;
  });
  return ['| input | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

function outputTable(outputs: Action['outputs']): string {
  const rows = Object.entries(outputs).map(([name, { description }]) => `| \`${name}\` | ${description} |`);
  return ['| output | meaning |', '| --- | --- |', ...rows].join('\n');
}

function workflowBlocks(workflows: ReadmeSources['workflows']): string {
  return Object.entries(workflows)
    .map(([path, yaml]) => `<details><summary>${basename(path)}</summary>\n\n\`\`\`yaml\n${yaml}\`\`\`\n\n</details>`)
    .join('\n\n');
}

function replacePart(text: string, name: string, part: string): string {
  const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`README.md has no place for: ${name}`);
  return `${text.slice(0, from + begin.length)}\n\n${part}\n\n${text.slice(to)}`;
}
