import { describe, expect, test } from 'vitest';
import { git, makeRepository } from '../../support/folder.ts';
import { runJson } from '../../support/run.ts';

const CONFIG = 'service: { provider: langfuse }\n';

const fileOf = (fields: string) => `---\n${fields}\n---\n\nText.\n`;

/** Returns the problems with their places. No key is set, and no service is running. */
async function validate(fields: string, config = CONFIG) {
  const folder = makeRepository({ 'promptsync.yaml': config, 'prompts/a.md': fileOf(fields) });
  const { report, exitCode } = await runJson(folder, ['validate']);
  expect(exitCode).toBe(report.problems.length === 0 ? 0 : 1);
  return report.problems.map(({ path, line, code, message }) => `${path}:${line} ${code} ${message}`);
}

const pin = (environment: string, value = 'latest') => `id: a/b\npins: { ${JSON.stringify(environment)}: ${value} }`;

describe('validate with a valid Langfuse file', () => {
  test.each([
    ['validate accepts a Langfuse prompt file that has only an id', 'id: a/b'],
    ['validate accepts a Langfuse prompt file whose name equals its id', 'id: a/b\nname: a/b'],
    ['validate accepts a Langfuse prompt file whose key differs from its id', 'id: a/b\nkey: c'],
    ['validate accepts a Langfuse id that contains spaces, dots and non-ASCII letters', 'id: "Grüße/an alle/v1.2 …"'],
    ['validate accepts a 36-character Langfuse label', pin('x'.repeat(36))],
    ['validate accepts underscores, dots and hyphens in a Langfuse label', pin('eu_west.a-1')],
    ['validate accepts a Langfuse pin to a version number', pin('staging', '12')],
    ['validate accepts a Langfuse pin to a git ref', pin('staging', 'git:v1')],
    [
      'validate accepts any mapping as the metadata of a Langfuse prompt file',
      'id: a/b\nmetadata: { model: m, nested: [1, { a: null }] }',
    ],
  ])('%s', async (_, fields) => {
    expect(await validate(fields)).toEqual([]);
  });
});

describe('validate with an invalid Langfuse file', () => {
  test.each([
    ['validate rejects a Langfuse prompt file whose name differs from its id', 'id: a/b\nname: c', 3, 'name'],
    ['validate rejects a Langfuse prompt file with a description', 'id: a/b\ndescription: ""', 3, 'description'],
    ['validate rejects a pin for the reserved Langfuse label latest', pin('latest'), 3, 'pins.latest'],
    ['validate rejects a Langfuse label with uppercase letters', pin('Prod'), 3, 'pins.Prod'],
    ['validate rejects a 37-character Langfuse label', pin('x'.repeat(37)), 3, 'pins.x'],
    ['validate rejects a Langfuse label that contains a space', pin('a b'), 3, 'pins.a b'],
    ['validate rejects a Langfuse pin to a version id', pin('staging', 'version:3-9f2c'), 3, 'pins.staging'],
    ...['.', '..', 'new', '/a', 'a/', 'a//b', 'a|b', 'a <b>', ' a', 'a '].map(
      (id): [string, string, number, string] => [
        `validate rejects the Langfuse id "${id}"`,
        `id: ${JSON.stringify(id)}`,
        2,
        'id',
      ],
    ),
  ])('%s', async (_, fields, line, field) => {
    expect(await validate(fields)).toEqual([
      expect.stringMatching(`^prompts/a.md:${line} prompt/invalid-field .*${field}`),
    ]);
  });
});

describe('validate with an invalid Langfuse configuration', () => {
  test.each([
    [
      'validate rejects api_key_env in a Langfuse configuration',
      'service: { provider: langfuse, api_key_env: K }\n',
      'service.api_key_env',
    ],
    [
      'validate rejects an embedded service in a Langfuse configuration',
      'service: { provider: langfuse, embedded: a.db }\n',
      'service.embedded',
    ],
    [
      'validate rejects an environment named latest in a Langfuse configuration',
      `${CONFIG}environments: { latest: {} }\n`,
      'environments.latest',
    ],
    [
      'validate rejects an environment name that is not a valid Langfuse label',
      `${CONFIG}environments: { Prod: {} }\n`,
      'environments.Prod',
    ],
    ['validate rejects an unknown provider', 'service: { provider: langsmith }\n', 'service.provider'],
    [
      'validate rejects a secret key where the name of an environment variable is expected',
      'service: { provider: langfuse, secret_key_env: sk-lf-1 }\n',
      'secret_key_env',
    ],
  ])('%s', async (_, config, field) => {
    const [problem, ...others] = await validate('id: a/b', config);
    expect([problem, others]).toEqual([expect.stringContaining(field), []]);
  });

  test('validate applies no provider-specific rules if the provider is unknown', async () => {
    const config =
      'service: { provider: langsmith, public_key_env: P }\nenvironments: { latest: {}, promptsync: {} }\n';
    expect(await validate('id: a/b', config)).toEqual([expect.stringContaining('service.provider')]);
  });

  test('validate rejects Langfuse settings if the configured service is not Langfuse', async () => {
    const config = 'service: { base_url: https://a.example.com, public_key_env: P, secret_key_env: S }\n';
    expect(await validate('id: a\nkey: a\nname: a', config)).toHaveLength(2);
  });
});

describe('plan --offline with Langfuse', () => {
  test('plan --offline --base succeeds without Langfuse keys or a running service', async () => {
    const folder = makeRepository({ 'promptsync.yaml': CONFIG, 'prompts/a.md': fileOf(pin('staging')) });
    git(folder, 'switch', '-qc', 'edit');
    const words = ['plan', '--offline', '--base', 'HEAD', '--exit-code'];
    expect((await runJson(folder, words)).exitCode).toBe(0);
  });
});
