import { z } from 'zod';
import { DEFAULTS, WrittenConfigShape } from '../../src/config/config.ts';
import { FrontMatterShape } from '../../src/files/parse-prompt-file.ts';
import { code, table, type Parts } from './parts.ts';

type Json = z.core.JSONSchema.JSONSchema;

/** One value of a file: where it stands in it, and what may stand there. */
type Row = { readonly path: string; readonly schema: Json; readonly required: boolean };

/** What pages say of files by their shapes: `fields` of a prompt file and `settings`. */
export function shapeParts(): Parts {
  return { fields: fieldTable(), settings: settingTable() };
}

function fieldTable(): string {
  const rows = rowsOf(schemaOf(FrontMatterShape)).filter(({ path }) => !path.includes('.'));
  const cells = rows.map(({ path, schema, required }) => [
    code(path),
    required ? 'required' : 'optional',
    typeOf(schema),
    schema.description ?? '',
  ]);
  return table(['field', '', 'value', 'meaning'], cells);
}

function settingTable(): string {
  const cells = rowsOf(schemaOf(WrittenConfigShape)).map(({ path, schema }) => {
    return [code(path), typeOf(schema), defaultOf(path), schema.description ?? ''];
  });
  return table(['setting', 'value', 'default', 'meaning'], cells);
}

function defaultOf(path: string): string {
  const name = path.split('.').at(-1) ?? '';
  const value = Object.entries(DEFAULTS).find(([key]) => key === name)?.[1];
  if (value === undefined) return '';
  return code(Array.isArray(value) ? value.join(', ') : String(value));
}

function schemaOf(shape: z.ZodType): Json {
  return z.toJSONSchema(shape, { io: 'input' });
}

/** All values below one, each after what holds it: `environments.<name>.promote_from`. */
function rowsOf(schema: Json, prefix = ''): readonly Row[] {
  return [schema, ...alternativesOf(schema)].flatMap(({ properties = {}, required = [], additionalProperties }) => [
    ...Object.entries(properties).flatMap(([name, value]) => {
      const path = `${prefix}${name}`;
      if (!isSchema(value)) return [];
      return [{ path, schema: value, required: required.includes(name) }, ...rowsOf(value, `${path}.`)];
    }),
    ...(isSchema(additionalProperties) ? rowsOf(additionalProperties, `${prefix}<name>.`) : []),
  ]);
}

function alternativesOf({ anyOf = [] }: Json): readonly Json[] {
  return anyOf.filter(isSchema);
}

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** In words: an integer or text. */
function typeOf(schema: Json): string {
  if (schema.const !== undefined) return code(String(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((one) => code(String(one))).join(', ');
  const further = alternativesOf(schema).map(typeOf);
  return further.length > 0 ? further.join(' or ') : (WORDS[String(schema.type)] ?? String(schema.type));
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: '`true` or `false`',
  object: 'mapping',
  array: 'list of texts',
};
