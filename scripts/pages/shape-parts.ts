import { z } from 'zod';
import { DEFAULTS, WrittenConfigShape } from '../../src/workspace/config.ts';
import { FrontMatterShape } from '../../src/workspace/parse-prompt-file.ts';
import { code, table, type Parts } from './parts.ts';

type Json = z.core.JSONSchema.JSONSchema;

/** A value in a file: its path such as `environments.<name>.promote_from`, and the schema that it must match. */
type Row = { readonly path: string; readonly schema: Json; readonly required: boolean };

/** Makes the parts of pages about the format of files: `fields` of a prompt file, and `settings` of promptsync.yaml. */
export function makeShapeParts(): Parts {
  return { fields: renderFields(), settings: renderSettings() };
}

function renderFields(): string {
  const rows = listRows(makeSchema(FrontMatterShape)).filter(({ path }) => !path.includes('.'));
  const cells = rows.map(({ path, schema }) => [code(path), describeType(schema), schema.description ?? '']);
  return table(['field', 'value', 'meaning'], cells);
}

function renderSettings(): string {
  const cells = listRows(makeSchema(WrittenConfigShape)).map(({ path, schema }) => {
    return [code(path), describeType(schema), renderDefault(path), schema.description ?? ''];
  });
  return table(['setting', 'value', 'default', 'meaning'], cells);
}

function renderDefault(path: string): string {
  const name = path.split('.').at(-1) ?? '';
  const value = Object.entries(DEFAULTS).find(([key]) => key === name)?.[1];
  if (value === undefined) return '';
  return code(Array.isArray(value) ? value.join(', ') : String(value));
}

function makeSchema(shape: z.ZodType): Json {
  return z.toJSONSchema(shape, { io: 'input' });
}

/** Lists all values that a schema describes. A mapping comes before the values that it contains. */
function listRows(schema: Json, prefix = ''): readonly Row[] {
  return [schema, ...listAlternatives(schema)].flatMap(({ properties = {}, required = [], additionalProperties }) => [
    ...Object.entries(properties).flatMap(([name, value]) => {
      const path = `${prefix}${name}`;
      if (!isSchema(value)) return [];
      return [{ path, schema: value, required: required.includes(name) }, ...listRows(value, `${path}.`)];
    }),
    ...(isSchema(additionalProperties) ? listRows(additionalProperties, `${prefix}<name>.`) : []),
  ]);
}

function listAlternatives({ anyOf = [] }: Json): readonly Json[] {
  return anyOf.filter(isSchema);
}

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Describes the type of a value in words, such as `integer or string`. */
function describeType(schema: Json): string {
  if (schema.const !== undefined) return code(String(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((one) => code(String(one))).join(', ');
  const alternatives = listAlternatives(schema).map(describeType);
  if (alternatives.length > 0) return alternatives.join(' or ');
  return TYPE_NAMES[String(schema.type)] ?? String(schema.type);
}

/** The names of JSON types in the docs. Other types keep their JSON name. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: '`true` or `false`',
  object: 'mapping',
  array: 'list of strings',
};
