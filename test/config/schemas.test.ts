import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { SCHEMAS } from '../../scripts/schemas.ts';
import type { Config } from '../../src/config/config.ts';
import { parseConfig } from '../../src/config/load.ts';
import { isError } from '../../src/problem.ts';
import { parsePromptFile } from '../../src/files/parse.ts';
import { EXAMPLE } from '../support/folder.ts';
import { run } from '../support/run.ts';
import { config, frontMatter } from './support.ts';

function configOf(text: string): Config | null {
  const around = { file: '/repo/promptsync.yaml', shownPath: 'promptsync.yaml', root: '/repo', environment: {} };
  return parseConfig(text, around).config;
}

/** What the parser says of a prompt file with this front matter. */
function parserTakesPrompt(yaml: string): boolean {
  const { problems } = parsePromptFile(Buffer.from(`---\n${yaml}\n---\n\nHello {{name}}\n`), 'a.md');
  return !problems.some(isError);
}

/** That they take and refuse the same is tested beside what the parsers take and refuse. */
// What depends on the text below, or on how the YAML is written.
describe('the schema of the front matter leaves to the parser', () => {
  test.each([
    ['whether the variables are those of the text', 'variables: [other]'],
    ['numbers that a computer cannot hold', 'metadata: { n: 9007199254740993 }'],
    ['anchors', 'metadata: { a: &x 1, b: *x }'],
  ])('%s', (_, more) => {
    const yaml = `id: a\nkey: b\nname: c\n${more}`;
    expect({ schema: frontMatter(parse(yaml)), parser: parserTakesPrompt(yaml) }).toEqual({
      schema: true,
      parser: false,
    });
  });
});

test('the example refers to its schema', () => {
  const [, path = ''] =
    /^# yaml-language-server: \$schema=(.*)/.exec(readFileSync(join(EXAMPLE, 'promptsync.yaml'), 'utf8')) ?? [];
  expect(JSON.parse(readFileSync(join(EXAMPLE, path), 'utf8'))).toMatchObject({ title: 'promptsync.yaml' });
});

test.each([
  ['config', 'promptsync'],
  ['front-matter', 'front-matter'],
  ['report', 'report'],
])('promptsync schema %s prints the schema that is shipped', async (name, file) => {
  const { stdout, stderr, exitCode } = await run('.', ['schema', name]);
  const shipped: unknown = JSON.parse(readFileSync(join(EXAMPLE, `../schemas/${file}.schema.json`), 'utf8'));
  expect({ exitCode, stderr, schema: JSON.parse(stdout) }).toEqual({ exitCode: 0, stderr: '', schema: shipped });
});

test('the example is valid, its configuration and its front matter', () => {
  const read = (path: string): string => readFileSync(join(EXAMPLE, path), 'utf8');
  expect(config(parse(read('promptsync.yaml')))).toBe(true);
  for (const name of ['summary', 'support/greeting', 'support/refund']) {
    expect(frontMatter(parse(read(`prompts/${name}.md`).split('---\n')[1] ?? ''))).toBe(true);
  }
});

test.each([
  ['promptsync.yaml', SCHEMAS['schemas/promptsync.schema.json'], 10],
  ['the front matter', SCHEMAS['schemas/front-matter.schema.json'], 7],
])('an editor has something to show for each property of %s, and refuses the others', (_, schema, least) => {
  const objects = objectsIn(schema);
  const properties = objects.flatMap(({ properties }) => Object.entries(properties ?? {}));
  expect(properties.length).toBeGreaterThanOrEqual(least);
  expect(properties.filter(([, { description }]) => description === undefined).map(([name]) => name)).toEqual([]);
  const open = objects.filter((one) => one.properties !== undefined && one.additionalProperties !== false);
  expect(open).toEqual([]);
  expect(schema).toMatchObject({ title: expect.any(String), $schema: 'http://json-schema.org/draft-07/schema#' });
  expect(schema).not.toHaveProperty('$id');
});

test('the defaults that an editor tells are those of the parser', () => {
  const { properties = {} } = SCHEMAS['schemas/promptsync.schema.json'] as Schema;
  const told = Object.entries(properties).filter((entry) => entry[1].default !== undefined);
  expect(told.map(([name]) => name)).toEqual([
    ...['prompts', 'tracking_environment', 'on_drift', 'concurrency', 'timeout_seconds'],
  ]);
  for (const [, { default: value, description }] of told) expect(description).toContain(`Default: ${String(value)}.`);
  const written = Object.fromEntries(told.map(([name, property]) => [name, property.default]));
  const { patternPlaces: _, rules: __, ...without } = configOf('{}') ?? {};
  expect(configOf(JSON.stringify(written))).toMatchObject(without);
});

type Schema = {
  readonly default?: unknown;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
};

/** All schemas of objects in a schema. */
function objectsIn(value: unknown): readonly Schema[] {
  if (typeof value !== 'object' || value === null) return [];
  const within = Object.values(value).flatMap(objectsIn);
  return 'type' in value && value.type === 'object' ? [value as Schema, ...within] : within;
}
