import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { SCHEMAS } from '../../scripts/schemas.ts';
import { parseConfig } from '../../src/workspace/load-config.ts';
import { EXAMPLE } from '../support/folder.ts';
import { run } from '../support/run.ts';
import { config, frontMatter } from './config-support.ts';

test('the example configuration and the example prompt files match the schemas, and the configuration refers to its schema', () => {
  const read = (path: string): string => readFileSync(join(EXAMPLE, path), 'utf8');
  const [, path = ''] = /^# yaml-language-server: \$schema=(.*)/.exec(read('promptsync.yaml')) ?? [];
  expect(JSON.parse(read(path))).toMatchObject({ title: 'promptsync.yaml' });
  expect(config(parse(read('promptsync.yaml')))).toBe(true);
  for (const name of ['summary', 'support/greeting', 'support/refund']) {
    expect(frontMatter(parse(read(`prompts/${name}.md`).split('---\n')[1] ?? ''))).toBe(true);
  }
});

test('promptsync schema prints each schema that ships with the package', async () => {
  for (const name of ['config', 'front-matter', 'report', 'bundle', 'doctor']) {
    const file = name === 'config' ? 'promptsync' : name;
    const { stdout, stderr, exitCode } = await run('.', ['schema', name]);
    const shipped: unknown = JSON.parse(readFileSync(join(EXAMPLE, `../schemas/${file}.schema.json`), 'utf8'));
    expect({ exitCode, stderr, schema: JSON.parse(stdout) }).toEqual({ exitCode: 0, stderr: '', schema: shipped });
  }
});

test.each([
  [
    'the schema of the promptsync.yaml describes every property and forbids unknown ones',
    SCHEMAS['schemas/promptsync.schema.json'],
    10,
  ],
  [
    'the schema of the front matter describes every property and forbids unknown ones',
    SCHEMAS['schemas/front-matter.schema.json'],
    7,
  ],
] as const)('%s', (_, schema, least) => {
  const objects = objectsIn(schema);
  const properties = objects.flatMap(({ properties }) => Object.entries(properties ?? {}));
  expect(properties.length).toBeGreaterThanOrEqual(least);
  expect(properties.filter(([, { description }]) => description === undefined).map(([name]) => name)).toEqual([]);
  const open = objects.filter((one) => one.properties !== undefined && one.additionalProperties !== false);
  expect(open).toEqual([]);
  expect(schema).toMatchObject({ title: expect.any(String), $schema: 'http://json-schema.org/draft-07/schema#' });
  expect(schema).not.toHaveProperty('$id');
});

test('the defaults in the promptsync.yaml schema match the parser defaults', () => {
  const { properties = {} } = SCHEMAS['schemas/promptsync.schema.json'] as Schema;
  const defaults = Object.entries(properties).filter((entry) => entry[1].default !== undefined);
  expect(defaults.map(([name]) => name)).toEqual([
    ...['prompts', 'portable_pins', 'on_drift', 'concurrency', 'timeout_seconds'],
  ]);
  for (const [, { default: value, description }] of defaults)
    expect(description).toContain(`Default: ${String(value)}.`);
  const written = Object.fromEntries(defaults.map(([name, property]) => [name, property.default]));
  const around = { file: '/repo/promptsync.yaml', shownPath: 'promptsync.yaml', root: '/repo', environment: {} };
  const { patternPlaces: _, rules: __, ...without } = parseConfig('{}', around).config ?? {};
  expect(parseConfig(JSON.stringify(written), around).config).toMatchObject(without);
});

type Schema = {
  readonly default?: unknown;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
};

/** Returns the schemas of all objects in a schema. */
function objectsIn(value: unknown): readonly Schema[] {
  if (typeof value !== 'object' || value === null) return [];
  const within = Object.values(value).flatMap(objectsIn);
  return 'type' in value && value.type === 'object' ? [value as Schema, ...within] : within;
}
