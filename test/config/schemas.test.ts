import { Ajv } from 'ajv';
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

const ajv = new Ajv({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
const [config, frontMatter] = [
  ajv.compile(SCHEMAS['schemas/promptsync.schema.json']),
  ajv.compile(SCHEMAS['schemas/front-matter.schema.json']),
];

/** What the parser says of the text of a promptsync.yaml. */
function parserTakesConfig(text: string): boolean {
  return configOf(text) !== null;
}

function configOf(text: string): Config | null {
  const around = { file: '/repo/promptsync.yaml', shownPath: 'promptsync.yaml', root: '/repo', environment: {} };
  return parseConfig(text, around).config;
}

/** What the parser says of a prompt file with this front matter. */
function parserTakesPrompt(yaml: string): boolean {
  const { problems } = parsePromptFile(Buffer.from(`---\n${yaml}\n---\n\nHello {{name}}\n`), 'a.md');
  return !problems.some(isError);
}

const PROMPT = 'id: a\nkey: b\nname: c';

describe('the schema of promptsync.yaml takes what the parser takes', () => {
  test.each([
    '{}',
    'service: { base_url: https://prompts.example.com }',
    'service: { base_url: HTTPS://prompts.example.com/a, api_key_env: _KEY }',
    'service: { base_url: "http://127.0.0.1:4010" }',
    'service: { embedded: .promptsync/service.db }',
    'service: { api_key_env: KEY }',
    'prompts: ["!drafts/**", "prompts/{a,b}/*.md"]',
    'environments: { staging: , live: { promote_from: staging, allow_latest: false } }',
    'tracking_environment: tool',
    'on_drift: fail\nmax_changes: 0\nconcurrency: 256\ntimeout_seconds: 0.5',
    'max_changes: 25%',
  ])('%s', (text) => {
    expect({ schema: config(parse(text)), parser: parserTakesConfig(text) }).toEqual({ schema: true, parser: true });
  });
});

describe('the schema of promptsync.yaml refuses what the parser refuses', () => {
  test.each([
    '[]',
    'text',
    'unheard_of: 1',
    '$schema: x.json',
    'service: []',
    'service: ""',
    'service: { url: https://prompts.example.com }',
    'service: { base_url: prompts.example.com }',
    'service: { base_url: ftp://prompts.example.com }',
    'service: { base_url: "https://prompts.example.com?a=b" }',
    'service: { base_url: "https://prompts.example.com/a b" }',
    'service: { base_url: https://prompts.example.com, embedded: a.db }',
    'service: { embedded: "" }',
    'service: { api_key_env: sk-123 }',
    'prompts: []',
    'prompts: prompts/*.md',
    'prompts: [""]',
    'prompts: ["!"]',
    'prompts: ["a(b).md"]',
    'prompts: [7]',
    'prompts: [{ pattern: "a.md" }]',
    'services: { us: { embedded: a.db } }',
    'environments: [staging]',
    'environments: { staging: true }',
    'environments: { staging: { allow: true } }',
    'environments: { staging: { allow_latest: "yes" } }',
    'environments: { "": {} }',
    'environments: { "a\\tb": {} }',
    'tracking_environment: false',
    'tracking_environment: ""',
    'on_drift: ignore',
    'variables: loose',
    'max_changes: -1',
    'max_changes: 101%',
    'max_changes: 1.5',
    'concurrency: 0',
    'concurrency: 257',
    'timeout_seconds: 0',
    'timeout_seconds: 601',
    'timeout_seconds: "15"',
  ])('%s', (text) => {
    expect({ schema: config(parse(text)), parser: parserTakesConfig(text) }).toEqual({ schema: false, parser: false });
  });
});

// What depends on another place, on the host of a URL, or on counting.
describe('the schema of promptsync.yaml leaves to the parser', () => {
  test.each([
    ['which hosts plain http is for', 'service: { base_url: "http://prompts.example.com" }'],
    ['credentials', 'service: { base_url: "https://me:secret@prompts.example.com" }'],
    ['the order of promotion', 'environments: { live: { promote_from: staging }, staging: {} }'],
    ["the tool's own environments", 'environments: { promptsync: {} }'],
    ['how much braces stand for', `prompts: ["${'{a,b}'.repeat(10)}"]`],
  ])('%s', (_, text) => {
    expect({ schema: config(parse(text)), parser: parserTakesConfig(text) }).toEqual({ schema: true, parser: false });
  });
});

describe('the schema of the front matter takes what the parser takes', () => {
  test.each([
    '',
    'description: ""',
    'pins: {}',
    'pins: { staging: latest, production: 7, canary: "version:ver_1", old: "git:v1.4.0", older: "git:HEAD~1" }',
    'metadata: { model: gpt-5, deep: [1, 2.5, null, { a: true }] }',
    'variables: [name]',
  ])('%s', (more) => {
    const yaml = `${PROMPT}\n${more}`;
    expect({ schema: frontMatter(parse(yaml)), parser: parserTakesPrompt(yaml) }).toEqual({
      schema: true,
      parser: true,
    });
  });
});

describe('the schema of the front matter refuses what the parser refuses', () => {
  test.each([
    'key: b\nname: c',
    'id: a\nname: c',
    'id: a\nkey: b',
    'id: 7\nkey: b\nname: c',
    'id: ..\nkey: b\nname: c',
    'id: a\nkey: ""\nname: c',
    'id: a\nkey: b\nname: "c\\u0007"',
    `${PROMPT}\nmodel: gpt-5`,
    `${PROMPT}\n$schema: x.json`,
    `${PROMPT}\ndescription: 7`,
    `${PROMPT}\npins: [staging]`,
    `${PROMPT}\npins: { staging: newest }`,
    `${PROMPT}\npins: { staging: 0 }`,
    `${PROMPT}\npins: { staging: 1.5 }`,
    `${PROMPT}\npins: { staging: "7" }`,
    `${PROMPT}\npins: { staging: "version:.." }`,
    `${PROMPT}\npins: { staging: "git:-x" }`,
    `${PROMPT}\npins: { "": latest }`,
    `${PROMPT}\nmetadata: [a]`,
    `${PROMPT}\nmetadata: { promptsync: {} }`,
    `${PROMPT}\nvariables: name`,
    `${PROMPT}\nvariables: [7]`,
    `${PROMPT}\nallow_breaking: true`,
  ])('%s', (yaml) => {
    expect({ schema: frontMatter(parse(yaml)), parser: parserTakesPrompt(yaml) }).toEqual({
      schema: false,
      parser: false,
    });
  });
});

// What depends on the text below, or on how the YAML is written.
describe('the schema of the front matter leaves to the parser', () => {
  test.each([
    ['whether the variables are those of the text', 'variables: [other]'],
    ['numbers that a computer cannot hold', 'metadata: { n: 9007199254740993 }'],
    ['anchors', 'metadata: { a: &x 1, b: *x }'],
  ])('%s', (_, more) => {
    const yaml = `${PROMPT}\n${more}`;
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
  const { patternPlaces: _, ...without } = configOf('{}') ?? {};
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
