import { format } from 'prettier';
import { z } from 'zod';
import { DEFAULTS, WrittenConfigShape } from '../src/config/config.ts';
import { FrontMatterShape } from '../src/files/parse-prompt-file.ts';
import { ReportShape } from '../src/report/schema.ts';

/**
 * The JSON Schemas that are shipped, by path. Those that editors read are of draft 7: the language server for YAML knows
 * none that is newer.
 */
export const SCHEMAS = {
  'schemas/promptsync.schema.json': schemaOf(WrittenConfigShape, 'promptsync.yaml', 'draft-7'),
  'schemas/front-matter.schema.json': schemaOf(FrontMatterShape, 'The front matter of a prompt file', 'draft-7'),
  'schemas/report.schema.json': schemaOf(ReportShape, 'The JSON report of promptsync', 'draft-2020-12'),
};

/** As they are written, by path. */
export async function schemaTexts(): Promise<Readonly<Record<string, string>>> {
  const texts = Object.entries(SCHEMAS).map(async ([path, schema]) => {
    return [path, await format(JSON.stringify(schema), { parser: 'json', printWidth: 120 })] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

function schemaOf(shape: z.ZodType, title: string, target: 'draft-7' | 'draft-2020-12') {
  const override = shape === WrittenConfigShape ? describeDefault : () => {};
  return { title, ...z.toJSONSchema(shape, { io: 'input', target, override }) };
}

type Overridden = { readonly jsonSchema: z.core.JSONSchema.BaseSchema; readonly path: readonly (string | number)[] };

/** Editors show the description alone. */
function describeDefault({ jsonSchema, path }: Overridden): void {
  const value = Object.entries(DEFAULTS).find(([name]) => path.at(-2) === 'properties' && path.at(-1) === name)?.[1];
  if (value === undefined) return;
  jsonSchema.default = Array.isArray(value) ? [...value] : value;
  jsonSchema.description = `${jsonSchema.description} Default: ${String(value)}.`;
}
