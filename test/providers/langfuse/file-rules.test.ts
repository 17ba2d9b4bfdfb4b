import { describe, expect, test } from 'vitest';
import { langfuseFileRules } from '../../../src/providers/langfuse/file-rules.ts';
import { parseConfig } from '../../../src/workspace/load-config.ts';
import { LENIENT_SETTINGS, parsePromptFile } from '../../../src/workspace/parse-prompt-file.ts';

const { findIdFault, findEnvironmentFault, listParts } = langfuseFileRules;

describe('the names of prompts and labels in Langfuse', () => {
  test.each(['a', 'a/b', 'Grüße/an alle/v1.2 …', '.drafts/one', 'new/a', 'a.new'])(
    'The name %j is valid for a Langfuse prompt',
    (id) => expect(findIdFault(id)).toBeNull(),
  );

  test.each([
    ...['.', '..', 'new', 'metrics', 'prompt-detail', '/a', 'a/', 'a//b', 'a|b', 'a <b>', '<b>bold</b>', ' a', 'a '],
  ])('The name %j is invalid for a Langfuse prompt', (id) => expect(findIdFault(id)).not.toBeNull());

  test.each(['staging', 'x'.repeat(36), 'eu_west.a-1'])('The label %s is valid', (label) => {
    expect(findEnvironmentFault(label)).toBeNull();
  });

  test.each(['latest', 'Prod', 'x'.repeat(37), 'a b', ''])('The label %j is invalid', (label) => {
    expect(findEnvironmentFault(label)).not.toBeNull();
  });
});

const tag = (name: string, selector: string) => `@@@langfusePrompt:name=${name}|${selector}@@@`;

test.each<[sentence: string, text: string, parts: readonly (readonly [string, string | null, boolean])[]]>([
  ['A text without composition tags has no parts', 'See @@@langfusePrompt:name=a@@@ and @@@.', []],
  ['A composition tag with a label includes the version of that label', tag('a/b', 'label=eu'), [['a/b', 'eu', false]]],
  ['A composition tag with a version number follows no label', tag('a', 'version=1'), [['a', null, false]]],
  ['A tag with the label latest includes the newest version', tag('a', 'label=latest'), [['a', null, true]]],
  [
    'A composition tag may contain an at sign in its name, and three at signs may precede another tag',
    `${tag('team@eu', 'label=s')} @@@ ${tag('z', 'label=s')}`,
    [
      ['team@eu', 's', false],
      ['z', 's', false],
    ],
  ],
])('%s', (_, text, parts) => {
  expect(listParts(text)).toEqual(
    parts.map(([promptId, environment, isNewest]) => ({ promptId, environment, isNewest })),
  );
});

describe('prompt files for Langfuse', () => {
  const parse = (fields: string) =>
    parsePromptFile(Buffer.from(`---\n${fields}\n---\nText.\n`), 'a.md', {
      ...LENIENT_SETTINGS,
      rules: langfuseFileRules,
    }).problems.map(({ code, line, message }) => `${code} ${line} ${message}`);
  const pins = (written: string) => `id: a/b\npins: { ${written} }`;

  test.each([
    ['A Langfuse prompt file needs only an id', 'id: a/b'],
    ['A Langfuse prompt file may have a name that equals its id, and another key', 'id: a/b\nname: a/b\nkey: c'],
    ['A Langfuse pin may be a version number or a git ref', pins('staging: 12, eu: git:v1')],
  ])('%s', (_, fields) => expect(parse(fields)).toEqual([]));

  test.each<[what: string, fields: string, line: number, field: string]>([
    ['A Langfuse prompt file must not have a name that differs from its id', 'id: a/b\nname: c', 3, 'name'],
    ['A Langfuse prompt file must not have a description', 'id: a/b\ndescription: ""', 3, 'description'],
    ['A Langfuse prompt file must not have an invalid id', 'id: a//b', 2, 'id'],
    ['A Langfuse prompt file must not pin the label latest', pins('latest: 1'), 3, 'pins.latest'],
    ['A Langfuse prompt file must not pin an invalid label', pins('Prod: latest'), 3, 'pins.Prod'],
    ['A Langfuse pin must not be a version id', pins('staging: version:3-9f2c'), 3, 'pins.staging'],
  ])('%s', (_, fields, line, field) => {
    expect(parse(fields)).toEqual([expect.stringMatching(`^prompt/invalid-field ${line} .*${field}`)]);
  });
});

describe('a configuration for Langfuse', () => {
  const list = (text: string) =>
    parseConfig(text, { file: '/r/promptsync.yaml', root: '/r', shownPath: 'promptsync.yaml', environment: {} })
      .problems;
  const service = (settings: string) => `service: { provider: langfuse, ${settings} }\n`;

  test.each([
    ['A Langfuse configuration must not have api_key_env', service('api_key_env: K'), 'service.api_key_env'],
    ['A Langfuse configuration must not have an embedded service', service('embedded: a.db'), 'service.embedded'],
    ['A key must not be in the configuration', service('secret_key_env: sk-lf-1'), 'secret_key_env'],
    ['A label in the configuration must be valid', `${service('')}environments: { Prod: {} }`, 'environments.Prod'],
    [
      'With an unknown provider, only the provider is reported',
      'service: { provider: langsmith, public_key_env: P }\nenvironments: { latest: {}, promptsync: {} }',
      'service.provider',
    ],
  ])('%s', (_, text, field) => {
    expect(list(text).map(({ message }) => message)).toEqual([expect.stringContaining(field)]);
  });

  test('The settings of Langfuse are errors if the service is not Langfuse', () => {
    const text = 'service: { base_url: https://a.example.com, public_key_env: P, secret_key_env: S }';
    expect(list(text)).toHaveLength(2);
  });
});
