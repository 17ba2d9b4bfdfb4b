import { format } from 'prettier';
import { z } from 'zod';
import { BundleShape } from '../src/bundle/bundle-schema.ts';
import { DEFAULTS, WrittenConfigShape } from '../src/workspace/config.ts';
import { DoctorReportShape } from '../src/commands/doctor/doctor-schema.ts';
import { FrontMatterShape } from '../src/workspace/parse-prompt-file.ts';
import { ReportShape } from '../src/report/schema/report-schema.ts';

/**
 * The JSON Schemas in the package, by path. The schemas for editors use draft 7, because the language server for YAML
 * does not support newer drafts.
 */
export const SCHEMAS = {
  'schemas/promptsync.schema.json': makeSchema(WrittenConfigShape, 'promptsync.yaml', 'draft-7'),
  'schemas/front-matter.schema.json': makeSchema(FrontMatterShape, 'The front matter of a prompt file', 'draft-7'),
  'schemas/report.schema.json': makeSchema(ReportShape, 'The JSON report of promptsync', 'draft-2020-12'),
  'schemas/bundle.schema.json': makeSchema(BundleShape, 'A bundle of prompts for applications', 'draft-2020-12'),
  'schemas/doctor.schema.json': makeSchema(DoctorReportShape, 'The JSON output of promptsync doctor', 'draft-2020-12'),
};

/** Returns the formatted text of each schema, by path. */
export async function makeSchemaTexts(): Promise<Readonly<Record<string, string>>> {
  const texts = Object.entries(SCHEMAS).map(async ([path, schema]) => {
    return [path, await format(JSON.stringify(schema), { parser: 'json', printWidth: 120 })] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

function makeSchema(shape: z.ZodType, title: string, target: 'draft-7' | 'draft-2020-12') {
  const override = shape === WrittenConfigShape ? describeDefault : () => {};
  return { title, ...z.toJSONSchema(shape, { io: 'input', target, override }) };
}

type OverriddenSchema = {
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
  readonly path: readonly (string | number)[];
};

/** Adds the default value of a setting to its description, because editors show only the description. */
function describeDefault({ jsonSchema, path }: OverriddenSchema): void {
  if (path.at(-2) !== 'properties') return;
  const value = Object.entries(DEFAULTS).find(([name]) => path.at(-1) === name)?.[1];
  if (value === undefined) return;
  jsonSchema.default = Array.isArray(value) ? [...value] : value;
  jsonSchema.description = `${jsonSchema.description} Default: ${String(value)}.`;
}
