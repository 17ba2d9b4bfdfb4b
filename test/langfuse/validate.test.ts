import { describe, expect, test } from 'vitest';
import { git, makeRepository } from '../support/folder.ts';
import { runJson } from '../support/run.ts';

const CONFIG = 'service: { provider: langfuse }\n';

const fileOf = (fields: string) => `---\n${fields}\n---\n\nText.\n`;

/** What is wrong, with its place: no key is set, and nothing answers at the address. */
async function validate(fields: string, config = CONFIG) {
  const folder = makeRepository({ 'promptsync.yaml': config, 'prompts/a.md': fileOf(fields) });
  const { report, exitCode } = await runJson(folder, ['validate']);
  expect(exitCode).toBe(report.problems.length === 0 ? 0 : 1);
  return report.problems.map(({ path, line, code, message }) => `${path}:${line} ${code} ${message}`);
}

const pin = (environment: string, value = 'latest') => `id: a/b\npins: { ${JSON.stringify(environment)}: ${value} }`;

describe('A file for Langfuse is valid', () => {
  test.each([
    ['with an id alone', 'id: a/b'],
    ['with the id as its name', 'id: a/b\nname: a/b'],
    ['with a key of its own', 'id: a/b\nkey: c'],
    ['with letters of any script, blanks and dots in its id', 'id: "Grüße/an alle/v1.2 …"'],
    ['with a label of 36 characters', pin('x'.repeat(36))],
    ['with _, . and - in a label', pin('eu_west.a-1')],
    ['with a number', pin('staging', '12')],
    ['with a ref', pin('staging', 'git:v1')],
    ['with any metadata', 'id: a/b\nmetadata: { model: m, nested: [1, { a: null }] }'],
  ])('%s', async (_, fields) => {
    expect(await validate(fields)).toEqual([]);
  });
});

describe('A file for Langfuse is refused', () => {
  test.each([
    ['with another name', 'id: a/b\nname: c', 3, 'name'],
    ['with a description', 'id: a/b\ndescription: ""', 3, 'description'],
    ['with the label of Langfuse itself', pin('latest'), 3, 'pins.latest'],
    ['with capitals in a label', pin('Prod'), 3, 'pins.Prod'],
    ['with a label of 37 characters', pin('x'.repeat(37)), 3, 'pins.x'],
    ['with a blank in a label', pin('a b'), 3, 'pins.a b'],
    ['with a version id', pin('staging', 'version:3-9f2c'), 3, 'pins.staging'],
    ...['.', '..', 'new', '/a', 'a/', 'a//b', 'a|b', 'a <b>', ' a', 'a '].map(
      (id): [string, string, number, string] => [`with the id «${id}»`, `id: ${JSON.stringify(id)}`, 2, 'id'],
    ),
  ])('%s', async (_, fields, line, field) => {
    expect(await validate(fields)).toEqual([
      expect.stringMatching(`^prompts/a.md:${line} prompt/invalid-field .*${field}`),
    ]);
  });
});

describe('A configuration for Langfuse is refused', () => {
  test.each([
    ['with a key of another service', 'service: { provider: langfuse, api_key_env: K }\n', 'service.api_key_env'],
    ['with the embedded service', 'service: { provider: langfuse, embedded: a.db }\n', 'service.embedded'],
    ['with a tracking environment', `${CONFIG}tracking_environment: t\n`, 'tracking_environment'],
    ['with its label', `${CONFIG}environments: { latest: {} }\n`, 'environments.latest'],
    ['with a label that it would refuse', `${CONFIG}environments: { Prod: {} }\n`, 'environments.Prod'],
    ['as another provider', 'service: { provider: langsmith }\n', 'service.provider'],
    [
      'with a key in the place of a name',
      'service: { provider: langfuse, secret_key_env: sk-lf-1 }\n',
      'secret_key_env',
    ],
  ])('%s', async (_, config, field) => {
    const [problem, ...others] = await validate('id: a/b', config);
    expect([problem, others]).toEqual([expect.stringContaining(field), []]);
  });

  test('with a setting of Langfuse alone where the service is another one', async () => {
    const config = 'service: { base_url: https://a.example.com, public_key_env: P, secret_key_env: S }\n';
    expect(await validate('id: a\nkey: a\nname: a', config)).toHaveLength(2);
  });
});

describe('No key and no service are needed', () => {
  test('to plan offline against a base', async () => {
    const folder = makeRepository({ 'promptsync.yaml': CONFIG, 'prompts/a.md': fileOf(pin('staging')) });
    git(folder, 'switch', '-qc', 'edit');
    const words = ['plan', '--offline', '--base', 'HEAD', '--exit-code'];
    expect((await runJson(folder, words)).exitCode).toBe(0);
  });
});
