import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { parseConfig } from '../../src/workspace/load-config.ts';
import type { Config } from '../../src/workspace/config.ts';
import { config as schema } from './config-support.ts';
import { runs } from '../support/seed.ts';

type Variables = Readonly<Record<string, string>>;

const AROUND = { file: '/repo/sub/promptsync.yaml', root: '/repo' };

function parse(text: string, environment: Variables = {}) {
  return parseConfig(text, { ...AROUND, shownPath: 'promptsync.yaml', environment });
}

/** Returns the problems as `code path line:column message`. */
function problemsOf(text: string, environment: Variables = {}): readonly string[] {
  return parse(text, environment).problems.map(
    ({ code, path, line, column, message }) => `${code} ${path ?? '-'} ${line ?? 0}:${column ?? 0} ${message}`,
  );
}

function configOf(text: string, environment: Variables = {}): Config {
  const { config } = parse(text, environment);
  if (config === null) throw new Error(`not valid: ${problemsOf(text, environment).join('\n')}`);
  return config;
}

test('parseConfig reads every setting', () => {
  const text = `
service:
  base_url: https://prompts.example.com/base/
  api_key_env: MY_KEY
prompts: ["prompts/**/*.md", "!prompts/drafts/**"]
environments:
  staging: {}
  preview:
  production: { promote_from: staging, allow_latest: false }
other_environments: [eu, us]
portable_pins: true
branch: live
on_drift: fail
max_changes: 25%
accept_warnings: [prompt/hidden-character]
concurrency: 3
timeout_seconds: 2.5
`;
  expect(configOf(text)).toEqual({
    ...AROUND,
    folder: '/repo/sub',
    service: {
      ...{ kind: 'remote', provider: 'integration', baseUrl: 'https://prompts.example.com/base/' },
      keyVariables: ['MY_KEY'],
    },
    provider: 'integration',
    rules: expect.objectContaining({ reservedEnvironments: ['promptsync', 'promptsync-look'], hasFields: true }),
    patterns: ['prompts/**/*.md', '!prompts/drafts/**'],
    patternPlaces: [
      { path: 'promptsync.yaml', line: 5, column: 11 },
      { path: 'promptsync.yaml', line: 5, column: 30 },
    ],
    environments: [
      { name: 'staging', allowLatest: true },
      { name: 'preview', allowLatest: true },
      { name: 'production', promoteFrom: 'staging', allowLatest: false },
    ],
    otherEnvironments: ['eu', 'us'],
    defaultPins: [],
    pathIds: null,
    portablePins: true,
    branch: 'live',
    branchPlace: { path: 'promptsync.yaml', line: 12, column: 9 },
    onDrift: 'fail',
    maxChanges: { kind: 'percent', percent: 25 },
    acceptWarnings: ['prompt/hidden-character'],
    concurrency: 3,
    timeoutSeconds: 2.5,
  });
});

test.each(['', '# nothing yet\n', '{}', '---\n'])(
  'parseConfig returns the defaults for the empty configuration %j',
  (text) => {
    expect(configOf(text)).toEqual({
      ...AROUND,
      folder: '/repo/sub',
      service: null,
      provider: 'integration',
      rules: expect.objectContaining({ reservedEnvironments: ['promptsync', 'promptsync-look'], hasFields: true }),
      patterns: ['prompts/**/*.md'],
      patternPlaces: [],
      environments: null,
      otherEnvironments: [],
      defaultPins: [],
      pathIds: null,
      portablePins: false,
      branch: null,
      branchPlace: null,
      onDrift: 'overwrite',
      maxChanges: null,
      acceptWarnings: [],
      concurrency: 8,
      timeoutSeconds: 15,
    });
  },
);

describe('parseConfig', () => {
  const free = (name: string) => ({ name, allowLatest: true });
  const accepted: readonly { readonly text: string; readonly expected: Partial<Config> }[] = [
    { text: 'on_drift: overwrite', expected: { onDrift: 'overwrite' } },
    { text: 'max_changes: 0', expected: { maxChanges: { kind: 'count', count: 0 } } },
    { text: 'max_changes: 999999999', expected: { maxChanges: { kind: 'count', count: 999_999_999 } } },
    { text: 'max_changes: 100%', expected: { maxChanges: { kind: 'percent', percent: 100 } } },
    { text: 'concurrency: 1', expected: { concurrency: 1 } },
    { text: 'concurrency: 256', expected: { concurrency: 256 } },
    { text: 'timeout_seconds: 0.1', expected: { timeoutSeconds: 0.1 } },
    { text: 'timeout_seconds: 600', expected: { timeoutSeconds: 600 } },
    { text: 'environments: {}', expected: { environments: [] } },
    {
      text: 'environments: {"b": {}, "10": {promote_from: b}}',
      expected: { environments: [free('b'), { ...free('10'), promoteFrom: 'b' }] },
    },
    {
      text: 'other_environments: [a]\nenvironments: {b: {promote_from: a}}',
      expected: { environments: [{ ...free('b'), promoteFrom: 'a' }], otherEnvironments: ['a'] },
    },
    {
      text: 'service: { provider: langfuse }\nother_environments: [Production EU]',
      expected: { environments: null, otherEnvironments: ['Production EU'] },
    },
    { text: 'other_environments: []', expected: { environments: null, otherEnvironments: [] } },
    { text: 'portable_pins: false', expected: { portablePins: false } },
    {
      text: 'environments: {a: {}}\nother_environments: [B]\ndefaults: {pins: {a: latest, B: "git:v1"}}',
      expected: {
        defaultPins: [
          { environment: 'a', pin: { kind: 'latest' }, path: 'promptsync.yaml', line: 3, column: 22 },
          { environment: 'B', pin: { kind: 'git', ref: 'v1' }, path: 'promptsync.yaml', line: 3, column: 33 },
        ],
      },
    },
    { text: 'defaults: {}', expected: { defaultPins: [] } },
    { text: 'environments: {constructor: {}}', expected: { environments: [free('constructor')] } },
    { text: 'prompts: ["../x/{1..3}/*.md"]', expected: { patterns: ['../x/{1..3}/*.md'] } },
    {
      text: 'prompts: ["{a,b}/**/*-*.md", "!x/[a-z]?.md"]',
      expected: { patterns: ['{a,b}/**/*-*.md', '!x/[a-z]?.md'] },
    },
  ];
  test.each(accepted)('parseConfig accepts $text', ({ text, expected }) => {
    expect(configOf(text)).toMatchObject(expected);
    expect(schema(parseYaml(text))).toBe(true);
  });

  const invalid: readonly { readonly text: string; readonly place: string; readonly expected: string }[] = [
    { text: 'service: x', place: '1:10', expected: '`service` is invalid: expected a mapping, but found text' },
    { text: 'service:', place: '1:9', expected: '`service` is invalid: it has no value' },
    {
      text: 'service: {base_url: 1}',
      place: '1:21',
      expected: '`service.base_url` is invalid: expected text, but found a number',
    },
    {
      text: 'service: {api_key_env: sk-123}',
      place: '1:24',
      expected: 'expected the name of an environment variable, not the key itself',
    },
    { text: 'service: {api_key_env: 1}', place: '1:24', expected: 'expected text, but found a number' },
    {
      text: 'service: {allow_http: "yes"}',
      place: '1:23',
      expected: '`service.allow_http` is invalid: expected true or false',
    },
    { text: 'service: {embedded: true}', place: '1:21', expected: '`service.embedded` is invalid: expected text' },
    {
      text: 'service: {embedded: a.db, base_url: "https://a.example"}',
      place: '1:10',
      expected: 'set either base_url or embedded, not both',
    },
    { text: 'prompts: "a/*.md"', place: '1:10', expected: '`prompts` is invalid: expected a list, but found text' },
    { text: 'prompts: []', place: '1:10', expected: 'it is empty' },
    { text: 'prompts: [a, 1]', place: '1:14', expected: '`prompts.1` is invalid: expected text' },
    { text: 'prompts: [""]', place: '1:11', expected: 'it is empty' },
    { text: 'prompts: ["!"]', place: '1:11', expected: 'it is empty' },
    { text: 'prompts: ["*(a|aa)"]', place: '1:11', expected: 'it contains parentheses' },
    { text: `prompts: ["${'a'.repeat(1001)}"]`, place: '1:11', expected: 'longer than 1000 characters' },
    { text: `prompts: ["${'{a,b}'.repeat(10)}"]`, place: '1:11', expected: 'its braces expand to too many patterns' },
    {
      text: 'environments: [staging]',
      place: '1:15',
      expected: '`environments` is invalid: expected a mapping, but found a list',
    },
    {
      text: 'environments: {staging: x}',
      place: '1:25',
      expected: '`environments.staging` is invalid: expected a mapping',
    },
    { text: 'environments: {"": {}}', place: '1:16', expected: '`environments.` is invalid: it is empty' },
    { text: 'environments: {"a\\tb": {}}', place: '1:16', expected: 'it contains control characters' },
    {
      text: 'environments: {a: {allow_latest: "no"}}',
      place: '1:34',
      expected: '`environments.a.allow_latest` is invalid: expected true or false',
    },
    {
      text: 'environments: {a: {promote_from: 1}}',
      place: '1:34',
      expected: '`environments.a.promote_from` is invalid: expected text',
    },
    {
      text: 'environments: {a: {promote_from: b}, b: {}}',
      place: '1:34',
      expected: 'expected an environment that is listed before this one',
    },
    { text: 'environments: {a: {promote_from: a}}', place: '1:34', expected: 'listed before' },
    {
      text: 'environments: {a: {promote_from: nowhere}}',
      place: '1:34',
      expected: '"nowhere" is not listed under `environments` or `other_environments`',
    },
    {
      text: 'environments: {a: {}, b: {}}\nother_environments: [c, a]',
      place: '2:25',
      expected: '`other_environments.1` is invalid: it is also listed under `environments`',
    },
    { text: 'other_environments: [a, a]', place: '1:25', expected: 'it is listed twice' },
    {
      text: 'environments: {\u00e9: {}}\nother_environments: [e\u0301]',
      place: '2:22',
      expected: 'it is also listed under `environments`',
    },
    { text: 'other_environments: [promptsync]', place: '1:22', expected: 'it is reserved for promptsync' },
    { text: 'other_environments: [""]', place: '1:22', expected: 'it is empty' },
    { text: 'other_environments: a', place: '1:21', expected: 'expected a list' },
    { text: 'portable_pins: 1', place: '1:16', expected: 'expected true or false' },
    { text: 'environments: {promptsync: {}}', place: '1:16', expected: 'it is reserved for promptsync' },
    { text: 'environments: {promptsync-look: {}}', place: '1:16', expected: 'reserved for promptsync' },
    {
      text: 'on_drift: ignore',
      place: '1:11',
      expected: '`on_drift` is invalid: expected "overwrite" or "fail"',
    },
    { text: 'max_changes: 1.5', place: '1:14', expected: 'expected a number, or a percentage' },
    { text: 'max_changes: 1000000000', place: '1:14', expected: 'expected a number, or a percentage' },
    { text: 'max_changes: 101%', place: '1:14', expected: 'expected a number, or a percentage' },
    { text: 'max_changes: 2.5%', place: '1:14', expected: 'expected a number, or a percentage' },
    { text: 'accept_warnings: prompt/gone', place: '1:18', expected: 'expected a list, but found text' },
    {
      text: 'accept_warnings: [prompt/conflict-markers]',
      place: '1:19',
      expected: 'prompt/conflict-markers is allowed only in the front matter',
    },
    { text: 'accept_warnings: [prompt/gone, yaml/syntax]', place: '1:32', expected: 'expected the code of a warning' },
    { text: 'concurrency: 0', place: '1:14', expected: '`concurrency` is invalid' },
    { text: 'concurrency: 257', place: '1:14', expected: '`concurrency` is invalid' },
    { text: 'concurrency: "8"', place: '1:14', expected: '`concurrency` is invalid' },
    { text: 'timeout_seconds: 0', place: '1:18', expected: '`timeout_seconds` is invalid' },
    { text: 'timeout_seconds: 601', place: '1:18', expected: '`timeout_seconds` is invalid' },
    { text: 'timeout_seconds: 15s', place: '1:18', expected: '`timeout_seconds` is invalid' },
  ];
  /** The messages of rules that the schema cannot express. They depend on another setting or on counting. */
  const NOT_IN_SCHEMA = /listed before|not listed under|also listed|reserved for promptsync|too many patterns/;

  test.each(invalid)('parseConfig rejects $text with an error at $place', ({ text, place, expected }) => {
    const [problem, ...others] = problemsOf(text);
    expect(others).toEqual([]);
    expect(problem).toContain(`config/invalid-field promptsync.yaml ${place} The setting `);
    expect(problem).toContain(expected);
    expect(parse(text).config).toBeNull();
    expect(schema(parseYaml(text))).toBe(NOT_IN_SCHEMA.test(expected));
  });

  test.each([
    ['parseConfig rejects a default pin with an invalid value', '{a: latst}', 'prompt/invalid-pin 3:22'],
    [
      'parseConfig rejects a default pin for an environment that the configuration does not define',
      '{b: latest}',
      'prompt/unknown-environment 3:19',
    ],
    [
      'parseConfig rejects a default pin to a version number if portable_pins is set',
      '{a: 7}',
      'prompt/not-portable-pin 3:22',
    ],
    [
      'parseConfig rejects a default pin to a version id if portable_pins is set',
      '{a: "version:x"}',
      'prompt/not-portable-pin 3:22',
    ],
    [
      'parseConfig rejects a default pin for an environment that is reserved for promptsync',
      '{promptsync: latest}',
      'prompt/tool-environment 3:19',
    ],
    ['parseConfig rejects default pins that are not a mapping', 'latest', 'config/invalid-field 3:18'],
  ])('%s', (_, pins, expected) => {
    const text = `environments: {a: {}}\nportable_pins: true\ndefaults: {pins: ${pins}}`;
    const { config, problems } = parse(text);
    expect(config).toBeNull();
    expect(problems.map(({ code, line, column }) => `${code} ${line}:${column}`)).toEqual([expected]);
  });

  test.each([
    ['parseConfig rejects a default pin for a label that Langfuse does not allow', '{Prod: latest}', '2:19'],
    ['parseConfig rejects a default pin to a version id if the provider is Langfuse', '{a: "version:x"}', '2:22'],
  ])('%s', (_, pins, place) => {
    const [problem, ...others] = problemsOf(`service: {provider: langfuse}\ndefaults: {pins: ${pins}}`);
    expect(others).toEqual([]);
    expect(problem).toContain(`config/invalid-field promptsync.yaml ${place} The setting \`defaults.pins.`);
  });

  test('parseConfig does not also report unknown environments in default pins if `environments` is a list', () => {
    expect(problemsOf('environments: [dev]\ndefaults: {pins: {dev: latest}}')).toEqual([
      expect.stringContaining('config/invalid-field promptsync.yaml 1:15'),
    ]);
  });

  const unknown: readonly { readonly text: string; readonly place: string; readonly suggestion: string | null }[] = [
    { text: 'promts: []', place: '1:1', suggestion: 'prompts' },
    { text: 'service:\n  base_ulr: https://a.example', place: '2:3', suggestion: 'base_url' },
    { text: 'service: {api_key: x}', place: '1:11', suggestion: null },
    { text: 'service: {key: x}', place: '1:11', suggestion: null },
    { text: 'environments: {a: {promote_form: b}}', place: '1:20', suggestion: 'promote_from' },
    { text: 'timeout: 3', place: '1:1', suggestion: null },
    { text: 'constructor: 3', place: '1:1', suggestion: null },
    { text: 'servces: {}', place: '1:1', suggestion: 'service' },
    { text: 'defaults: {pin: {}}', place: '1:12', suggestion: 'pins' },
  ];
  test.each(unknown)('parseConfig rejects the unknown setting in $text', ({ text, place, suggestion }) => {
    const { config, problems } = parse(text);
    expect(config).toBeNull();
    expect(schema(parseYaml(text))).toBe(false);
    expect(problemsOf(text)[0]).toContain(`config/unknown-field promptsync.yaml ${place} The setting \``);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.hint).toContain(
      suggestion === null ? 'The only settings allowed here are ' : `Did you mean \`${suggestion}\`?`,
    );
  });

  test.each([
    ['after a colon inside braces', 'environments: {a: {}, b: {promote_from:\u00a0a}}', '1:40'],
    ['before a colon inside braces', 'environments: {a: {}, b: {promote_from\u3000: a}}', '1:39'],
    ['inside an unknown setting', 'max\u00a0changes: 3', '1:4'],
  ])('parseConfig names a Unicode space %s', (_, text, place) => {
    const places = parse(text).problems.map(({ code, line, column }) => `${code} ${line}:${column}`);
    expect(places).toEqual([`yaml/look-alike ${place}`]);
  });

  test('parseConfig rejects a services setting and explains that each service needs its own configuration file', () => {
    expect(parse('services: {}').problems).toMatchObject([
      { code: 'config/unknown-field', hint: expect.stringContaining('separate file for each') },
    ]);
  });

  test('parseConfig rejects the setting tracking_environment, because the tracking environment is not configurable', () => {
    expect(parse('branch: main\ntracking_environment: production').problems).toMatchObject([
      { code: 'config/unknown-field', line: 2 },
    ]);
  });

  test('parseConfig reports all problems at once', () => {
    const text = `service: {base_url: "http://a.example", x1: 1}
prompts: [1]
prompts: [a]
environments: {promptsync: {}, b: {promote_from: c}}
concurrency: &c 0
max_changes: no
`;
    const places = parse(text).problems.map(({ code, line, column }) => `${code} ${line}:${column}`);
    expect(places.toSorted()).toEqual([
      'config/invalid-field 4:16',
      'config/invalid-field 4:50',
      'config/invalid-field 6:14',
      'config/invalid-url 1:21',
      'config/unknown-field 1:41',
      'yaml/alias 5:17',
      'yaml/duplicate-key 3:1',
    ]);
  });

  test.each([
    ['parseConfig rejects a top-level list', '- a', 'yaml/not-a-mapping'],
    ['parseConfig rejects invalid YAML', 'a: "', 'yaml/syntax'],
  ])('%s', (_, text, code) => {
    expect(parse(text).config).toBeNull();
    expect(problemsOf(text)[0]).toMatch(new RegExp(`^${code} promptsync.yaml`));
  });
});

describe('the address of the service', () => {
  const service = (text: string, environment: Variables = {}) => configOf(text, environment).service;
  const remote = (baseUrl: string, keyVariable = 'PROMPTSYNC_API_KEY') => ({
    kind: 'remote',
    baseUrl,
    provider: 'integration',
    keyVariables: [keyVariable],
  });
  const FILE = 'service: {base_url: "https://file.example", api_key_env: K}';

  test('PROMPTSYNC_BASE_URL overrides the service in the configuration', () => {
    expect(service(FILE, { PROMPTSYNC_BASE_URL: 'https://env.example' })).toEqual(remote('https://env.example', 'K'));
    expect(service('', { PROMPTSYNC_BASE_URL: 'https://env.example' })).toEqual(remote('https://env.example'));
    expect(service('service: {embedded: a.db}', { PROMPTSYNC_BASE_URL: 'https://env.example' })).toEqual(
      remote('https://env.example'),
    );
  });

  test('parseConfig treats an empty PROMPTSYNC_BASE_URL as unset', () => {
    expect(service(FILE, { PROMPTSYNC_BASE_URL: '' })).toEqual(remote('https://file.example', 'K'));
    expect(service('', { PROMPTSYNC_BASE_URL: '' })).toBeNull();
  });

  test('an invalid PROMPTSYNC_BASE_URL is an error even if the configuration is valid', () => {
    expect(problemsOf(FILE, { PROMPTSYNC_BASE_URL: 'http://env.example' })[0]).toMatch(/^config\/invalid-url - 0:0/);
  });

  test('PROMPTSYNC_BASE_URL overrides an invalid address in the configuration', () => {
    const text = 'service: {base_url: "http://file.example"}';
    expect(service(text, { PROMPTSYNC_BASE_URL: 'https://env.example' })).toEqual(remote('https://env.example'));
  });

  describe('the address of Langfuse', () => {
    const LANGFUSE = 'service: { provider: langfuse }';
    const [first, second] = ['https://first.example', 'https://second.example'];
    const addressOf = (text: string, environment: Variables) => {
      const location = service(text, environment);
      return location?.kind === 'remote' ? location.baseUrl : null;
    };

    test('The Langfuse address defaults to LANGFUSE_BASE_URL, and then to LANGFUSE_HOST', () => {
      expect(addressOf(LANGFUSE, { LANGFUSE_BASE_URL: first })).toBe(first);
      expect(addressOf(LANGFUSE, { LANGFUSE_BASE_URL: '', LANGFUSE_HOST: second })).toBe(second);
      expect(addressOf(LANGFUSE, { LANGFUSE_BASE_URL: first, LANGFUSE_HOST: `${first}/` })).toBe(first);
    });

    test('parseConfig rejects different addresses in LANGFUSE_BASE_URL and LANGFUSE_HOST unless the address is set elsewhere', () => {
      const both = { LANGFUSE_BASE_URL: first, LANGFUSE_HOST: second };
      const [problem, ...others] = parse(LANGFUSE, both).problems;
      expect(others).toEqual([]);
      expect(problem).toMatchObject({ code: 'config/different-addresses' });
      expect(problem?.message).toMatch(/LANGFUSE_BASE_URL.*LANGFUSE_HOST/);
      const written = 'service: { provider: langfuse, base_url: "https://file.example" }';
      expect(addressOf(written, both)).toBe('https://file.example');
      expect(addressOf(LANGFUSE, { ...both, PROMPTSYNC_BASE_URL: 'https://env.example' })).toBe('https://env.example');
    });
  });

  test('the embedded database path is relative to the configuration file', () => {
    expect(service('service: {embedded: .promptsync/service.db}')).toEqual({
      kind: 'embedded',
      databasePath: '/repo/sub/.promptsync/service.db',
    });
  });

  test('parseConfig treats a service without an address as not configured', () => {
    expect(service('service: {api_key_env: K}')).toBeNull();
  });

  test.each([
    'https://prompts.example.com',
    'https://prompts.example.com/',
    'https://prompts.example.com:8443/base/path',
    'https://10.0.0.1',
    'HTTPS://prompts.example.com',
    'http://localhost:3000',
    'http://127.0.0.1:8080/base',
  ])('parseConfig accepts the base URL %s', (url) => {
    expect(service(`service: {base_url: "${url}"}`)).toEqual(remote(url));
    expect(schema({ service: { base_url: url } })).toBe(true);
    expect(service('', { PROMPTSYNC_BASE_URL: url })).toEqual(remote(url));
  });

  test('parseConfig accepts plain HTTP to a remote host only with allow_http and otherwise suggests that setting', () => {
    const url = 'http://prompts.internal';
    const variable = { PROMPTSYNC_BASE_URL: url };
    const allowing = 'service: {allow_http: true}';
    expect(service(allowing.replace('}', `, base_url: "${url}"}`))).toEqual(remote(url));
    expect(service(allowing, variable)).toEqual(remote(url));
    for (const text of ['', 'service: {allow_http: false}']) {
      expect(parse(text, variable).problems[0]?.hint).toContain('`allow_http: true`');
    }
    expect(problemsOf(allowing, { PROMPTSYNC_BASE_URL: 'ftp://prompts.internal' })[0]).toContain(
      'it does not begin with `https://`',
    );
  });

  // test/http/proxy.test.ts checks which hosts are loopback hosts.
  const refused: readonly { readonly url: string; readonly expected: string }[] = [
    { url: 'prompts.example.com', expected: 'it does not begin with `https://`' },
    { url: 'https:\\\\a.example', expected: 'backslashes' },
    { url: '//prompts.example.com', expected: 'it does not begin with `https://`' },
    { url: 'https://', expected: 'it is not a URL' },
    { url: 'http://localhost.evil.com', expected: 'non-loopback' },
    { url: 'http://prompts.example.com', expected: 'non-loopback' },
    { url: 'ftp://localhost', expected: 'it does not begin with `https://`' },
    { url: 'file:///etc/passwd', expected: 'it does not begin with `https://`' },
    { url: 'javascript:alert(1)', expected: 'it does not begin with `https://`' },
    { url: 'localhost:3000', expected: 'it does not begin with `https://`' },
    { url: 'https://prompts.example.com?a=b', expected: 'a query or a fragment' },
    { url: 'https://prompts.example.com/?', expected: 'a query or a fragment' },
    { url: 'https://prompts.example.com/#x', expected: 'a query or a fragment' },
    { url: ' https://prompts.example.com', expected: 'white space' },
    { url: 'https://prompts.example.com ', expected: 'white space' },
  ];
  test.each(refused)('parseConfig rejects the base URL $url', ({ url, expected }) => {
    for (const problems of [
      problemsOf(`service: {base_url: ${JSON.stringify(url)}}`),
      problemsOf('', { PROMPTSYNC_BASE_URL: url }),
    ]) {
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain('config/invalid-url');
      expect(problems[0]).toContain(expected);
    }
    expect(problemsOf(`service:\n  base_url: ${JSON.stringify(url)}`)[0]).toContain(' promptsync.yaml 2:13 ');
    expect(schema({ service: { base_url: url } })).toBe(expected === 'non-loopback' || url === 'https://');
  });

  test('parseConfig rejects an empty base URL in the configuration', () => {
    expect(problemsOf('service: {base_url: ""}')).toEqual([expect.stringContaining('it does not begin with')]);
  });

  test('parseConfig rejects a line break at the end of PROMPTSYNC_BASE_URL', () => {
    expect(problemsOf('', { PROMPTSYNC_BASE_URL: 'https://a.example\n' })[0]).toContain('control characters');
  });

  const withPassword = [
    ...['https://user:hunter2@a.example', 'https://:hunter2@a.example', 'https://hunter2@a.example'],
    ...['http://user:hunter2@localhost', 'https://user:hunter2@', 'https://user:hunter2@a b'],
    ...['https://user:hunter2@a.example?x', 'https://a.example?token=hunter2', 'https://user:hun\tter2@a.example'],
  ];
  test.each(withPassword)(
    'parseConfig rejects credentials in the URL %j without repeating them in the error',
    (url) => {
      const results = [parse(`service: {base_url: ${JSON.stringify(url)}}`), parse('', { PROMPTSYNC_BASE_URL: url })];
      for (const { config, problems } of results) {
        expect(config).toBeNull();
        expect(JSON.stringify(problems)).not.toMatch(/hunter2|ter2/);
      }
    },
  );
});

test('parseConfig never throws for any input text', () => {
  const settings = 'service base_url embedded api_key_env prompts environments promote_from max_changes on_drift';
  const fragments = [
    ...settings.split(' ').map((name) => `${name}: `),
    ...'\n§ §  §- §{§}§[§]§, §: §"§&a §*a §!t §---\n§...\n§<<: §__proto__: §null§true§1§-1§1e999'.split('§'),
    ...'https://a.example§25%§fail§constructor§\0§\ud800§\ufeff§%YAML 1.1\n'.split('§'),
  ];
  const soup = fc.array(fc.constantFrom(...fragments), { maxLength: 40 }).map((parts) => parts.join(''));
  const variables = fc.record({ PROMPTSYNC_BASE_URL: fc.oneof(fc.string(), fc.webUrl()) }, { requiredKeys: [] });
  fc.assert(
    fc.property(fc.oneof(soup, fc.string({ unit: 'binary' })), variables, (text, environment) => {
      const { config, problems } = parse(text, environment as Variables);
      expect(config === null).toBe(problems.length > 0);
    }),
    { numRuns: runs(1500) },
  );
});
