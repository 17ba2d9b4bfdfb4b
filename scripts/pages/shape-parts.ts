import { z } from 'zod';
import { DEFAULTS } from '../../src/config/config.ts';
import { WrittenConfigShape } from '../../src/config/shape.ts';
import { FrontMatterShape } from '../../src/files/parse.ts';
import { ReportShape } from '../../src/report/schema.ts';
import { code, table, type Parts } from './parts.ts';

type Json = z.core.JSONSchema.JSONSchema;

/** One value of a file: where it stands in it, and what may stand there. */
type Row = { readonly path: string; readonly schema: Json; readonly required: boolean };

/** What pages tell of files by their shapes: `fields` of a prompt file, `settings`, and `report`. */
export function shapeParts(): Parts {
  return {
    fields: fieldTable(),
    settings: settingTable(),
    report: reportTables(),
  };
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
  const cells = rowsOf(schemaOf(WrittenConfigShape))
    .filter(({ path, schema }) => !isGroup(schema) && !path.startsWith('prompts[]'))
    .map(({ path, schema }) => [code(path), typeOf(schema), defaultOf(path), schema.description ?? '']);
  return table(['setting', 'value', 'default', 'meaning'], cells);
}

/** Without a description it only holds those below it. */
function isGroup({ description, properties, additionalProperties }: Json): boolean {
  return description === undefined && (properties !== undefined || typeof additionalProperties === 'object');
}

function defaultOf(path: string): string {
  const name = path.split('.').at(-1) ?? '';
  const value = Object.entries(DEFAULTS).find(([key]) => key === name)?.[1];
  if (value === undefined) return '';
  return code(Array.isArray(value) ? value.join(', ') : String(value));
}

/** A table for the report itself and for each list in it: `prompts[].changes[]`. */
function reportTables(): string {
  const groups = Map.groupBy(rowsOf(schemaOf(ReportShape)), ({ path }) => /^(?:.*\[\])?/.exec(path)?.[0] ?? '');
  const tables = [...groups].map(([list, rows]) => {
    const cells = rows.map(({ path, schema, required }) => [
      code(path.slice(list === '' ? 0 : list.length + 1)),
      `${typeOf(schema)}${required ? '' : ', or absent'}`,
      schema.description ?? '',
    ]);
    return `### ${list === '' ? 'The report' : code(list)}\n\n${table(['field', 'value', 'meaning'], cells)}`;
  });
  return tables.join('\n\n');
}

function schemaOf(shape: z.ZodType): Json {
  return z.toJSONSchema(shape, { io: 'input' });
}

/** All values below one, each after what holds it: `prompts[].changes[].kind`. Fields of alternatives come once. */
function rowsOf(schema: Json, prefix = ''): readonly Row[] {
  const rows = alternativesOf(schema).flatMap((one) => [
    ...Object.entries(one.properties ?? {}).flatMap(([name, value]) =>
      rowOf(`${prefix}${name}`, value, one.required?.includes(name) ?? false),
    ),
    ...(isSchema(one.additionalProperties) ? rowsOf(one.additionalProperties, `${prefix}<name>.`) : []),
    ...(isSchema(one.items) ? rowsOf(one.items, `${prefix.replace(/\.$/, '')}[].`) : []),
  ]);
  return [...Map.groupBy(rows, ({ path }) => path).values()].flatMap(asOne);
}

function asOne([first, ...others]: readonly Row[]): readonly Row[] {
  if (first === undefined) return [];
  if (others.length === 0) return [first];
  const { description = others.map(({ schema }) => schema.description).find((one) => one !== undefined) } =
    first.schema;
  const schema: Json = {
    anyOf: [first, ...others].map((row) => row.schema),
    ...(description === undefined ? {} : { description }),
  };
  return [{ path: first.path, schema, required: [first, ...others].every(({ required }) => required) }];
}

function rowOf(path: string, value: Json | boolean, required: boolean): readonly Row[] {
  return isSchema(value) ? [{ path, schema: value, required }, ...rowsOf(value, `${path}.`)] : [];
}

function alternativesOf(schema: Json): readonly Json[] {
  const further = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter(isSchema);
  return [schema, ...further.flatMap(alternativesOf)];
}

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** In words: `latest` or an integer. */
function typeOf(schema: Json): string {
  if (schema.const !== undefined) return code(String(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((one) => code(String(one))).join(', ');
  const further = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter(isSchema).map(typeOf);
  if (further.length > 0) return [...new Set(further)].join(' or ');
  if (schema.type === 'array') return isSchema(schema.items) ? `list of ${plural(typeOf(schema.items))}` : 'list';
  const types = [schema.type ?? []].flat();
  return types.length === 0 ? 'any value' : types.map((type) => WORDS[type] ?? type).join(' or ');
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: '`true` or `false`',
  object: 'mapping',
  null: '`null`',
};

function plural(type: string): string {
  return type
    .split(' or ')
    .map((one) => (one === 'text' ? 'texts' : one.startsWith('`') ? one : `${one}s`))
    .join(' or ');
}
