import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';
import { z } from 'zod';

const ActionShape = z.object({
  inputs: z.record(z.string(), z.object({ description: z.string(), default: z.string().optional() })),
  outputs: z.record(z.string(), z.object({ description: z.string() })),
});

/** The README with the tables of the action's inputs and outputs made anew from action.yml, between their comments. */
export async function withActionTables(readme: string, actionYaml: string): Promise<string> {
  const { inputs, outputs } = ActionShape.parse(parse(actionYaml));
  const inputRows = Object.entries(inputs).map(([name, { description, default: value }]) => {
    return `| \`${name}\` | ${value === undefined ? '' : `\`${value}\``} | ${description} |`;
  });
  const outputRows = Object.entries(outputs).map(([name, { description }]) => `| \`${name}\` | ${description} |`);
  const tables = {
    inputs: ['| input | default | meaning |', '| --- | --- | --- |', ...inputRows].join('\n'),
    outputs: ['| output | meaning |', '| --- | --- |', ...outputRows].join('\n'),
  };
  const made = Object.entries(tables).reduce((text, [name, table]) => replaceTable(text, name, table), readme);
  return format(made, { ...(await resolveConfig('README.md')), parser: 'markdown' });
}

function replaceTable(text: string, name: string, table: string): string {
  const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`README.md has no place for the table of ${name}`);
  return `${text.slice(0, from + begin.length)}\n\n${table}\n\n${text.slice(to)}`;
}
