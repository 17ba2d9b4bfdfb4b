import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { parseConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/config.ts';
import { config as schema } from './support.ts';
import { runs } from '../support/seed.ts';

type Variables = Readonly<Record<string, string>>;

const AROUND = { file: '/repo/sub/promptsync.yaml', root: '/repo' };

function parse(text: string, environment: Variables = {}) {
  return parseConfig(text, { ...AROUND, shownPath: 'promptsync.yaml', environment });
}

/** The problems as `code line:column message`. */
function tell(text: string, environment: Variables = {}): readonly string[] {
  return parse(text, environment).problems.map(
    ({ code, path, line, column, message }) => `${code} ${path ?? '-'} ${line ?? 0}:${column ?? 0} ${message}`,
  );
}

function configOf(text: string, environment: Variables = {}): Config {
  const { config } = parse(text, environment);
  if (config === null) throw new Error(`not valid: ${tell(text, environment).join('\n')}`);
  return config;
}

test('every setting is read', () => {
  const text = `
service:
  base_url: https://prompts.example.com/base/
  api_key_env: MY_KEY
prompts: ["prompts/**/*.md", "!prompts/drafts/**"]
environments:
  staging: {}
  preview:
  production: { promote_from: staging, allow_latest: false }
branch: live
tracking_environment: tool
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
    rules: expect.objectContaining({ reserved: ['tool', 'tool-look'], hasFields: true }),
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
    branch: 'live',
    trackingEnvironment: 'tool',
    onDrift: 'fail',
    maxChanges: { kind: 'percent', percent: 25 },
    acceptWarnings: ['prompt/hidden-character'],
    concurrency: 3,
    timeoutSeconds: 2.5,
  });
});

test.each(['', '# nothing yet\n', '{}', '---\n'])('the defaults fill an empty file: %j', (text) => {
  expect(configOf(text)).toEqual({
    ...AROUND,
    folder: '/repo/sub',
    service: null,
    rules: expect.objectContaining({ reserved: ['promptsync', 'promptsync-look'], hasFields: true }),
    patterns: ['prompts/**/*.md'],
    patternPlaces: [],
    environments: null,
    branch: null,
    trackingEnvironment: 'promptsync',
    onDrift: 'overwrite',
    maxChanges: null,
    acceptWarnings: [],
    concurrency: 8,
    timeoutSeconds: 15,
  });
});

describe('values', () => {
  const free = (name: string) => ({ name, allowLatest: true });
  const taken: readonly (readonly [string, Partial<Config>])[] = [
    ['tracking_environment: "false"', { trackingEnvironment: 'false' }],
    ['on_drift: overwrite', { onDrift: 'overwrite' }],
    ['max_changes: 0', { maxChanges: { kind: 'count', count: 0 } }],
    ['max_changes: 999999999', { maxChanges: { kind: 'count', count: 999_999_999 } }],
    ['max_changes: 100%', { maxChanges: { kind: 'percent', percent: 100 } }],
    ['concurrency: 1', { concurrency: 1 }],
    ['concurrency: 256', { concurrency: 256 }],
    ['timeout_seconds: 0.1', { timeoutSeconds: 0.1 }],
    ['timeout_seconds: 600', { timeoutSeconds: 600 }],
    ['environments: {}', { environments: [] }],
    [
      'environments: {"b": {}, "10": {promote_from: b}}',
      { environments: [free('b'), { ...free('10'), promoteFrom: 'b' }] },
    ],
    ['environments: {constructor: {}}', { environments: [free('constructor')] }],
    ['environments: {promptsync: {}}\ntracking_environment: tool', { environments: [free('promptsync')] }],
    ['prompts: ["../x/{1..3}/*.md"]', { patterns: ['../x/{1..3}/*.md'] }],
    ['prompts: ["{a,b}/**/*-*.md", "!x/[a-z]?.md"]', { patterns: ['{a,b}/**/*-*.md', '!x/[a-z]?.md'] }],
  ];
  test.each(taken)('`%s` is taken', (text, expected) => {
    expect(configOf(text)).toMatchObject(expected);
    expect(schema(parseYaml(text))).toBe(true);
  });

  const invalid: readonly (readonly [string, string, string])[] = [
    ['service: x', '1:10', '"service" is not valid: expected mapping, received string'],
    ['service:', '1:9', '"service" is not valid: expected mapping, received null'],
    ['service: {base_url: 1}', '1:21', '"service.base_url" is not valid: expected string, received number'],
    ['service: {api_key_env: sk-123}', '1:24', 'expected the name of a variable, never the key'],
    ['service: {api_key_env: 1}', '1:24', 'expected string, received number'],
    ['service: {allow_http: "yes"}', '1:23', '"service.allow_http" is not valid: expected boolean'],
    ['service: {embedded: true}', '1:21', '"service.embedded" is not valid: expected string'],
    ['service: {embedded: a.db, base_url: "https://a.example"}', '1:10', 'base_url and embedded exclude each other'],
    ['prompts: "a/*.md"', '1:10', '"prompts" is not valid: expected list, received string'],
    ['prompts: []', '1:10', 'it is empty'],
    ['prompts: [a, 1]', '1:14', '"prompts.1" is not valid: expected string'],
    ['prompts: [""]', '1:11', 'it is empty'],
    ['prompts: ["!"]', '1:11', 'it is empty'],
    ['prompts: ["*(a|aa)"]', '1:11', 'it holds parentheses'],
    [`prompts: ["${'a'.repeat(1001)}"]`, '1:11', 'longer than 1000 characters'],
    [`prompts: ["${'{a,b}'.repeat(10)}"]`, '1:11', 'its braces stand for too many patterns'],
    ['environments: [staging]', '1:15', '"environments" is not valid: expected mapping, received list'],
    ['environments: {staging: x}', '1:25', '"environments.staging" is not valid: expected mapping'],
    ['environments: {"": {}}', '1:16', '"environments." is not valid: it is empty'],
    ['environments: {"a\\tb": {}}', '1:16', 'it holds control characters'],
    ['environments: {a: {allow_latest: "no"}}', '1:34', '"environments.a.allow_latest" is not valid: expected boolean'],
    ['environments: {a: {promote_from: 1}}', '1:34', '"environments.a.promote_from" is not valid: expected string'],
    ['environments: {a: {promote_from: b}, b: {}}', '1:34', 'expected an environment that is listed before this one'],
    ['environments: {a: {promote_from: a}}', '1:34', 'listed before'],
    ['environments: {a: {promote_from: nowhere}}', '1:34', 'listed before'],
    ['environments: {promptsync: {}}', '1:16', "it is the tool's own environment"],
    ['environments: {promptsync-look: {}}', '1:16', "the tool's own"],
    ['environments: {t-look: {}}\ntracking_environment: t', '1:16', "the tool's own"],
    ['tracking_environment: false', '1:23', 'expected string, received boolean'],
    ['tracking_environment: ""', '1:23', 'it is empty'],
    ['tracking_environment:', '1:22', 'expected string, received null'],
    ['on_drift: ignore', '1:11', '"on_drift" is not valid: expected one of "overwrite"|"fail"'],
    ['max_changes: 1.5', '1:14', 'expected a number, or a percentage'],
    ['max_changes: 1000000000', '1:14', 'expected a number, or a percentage'],
    ['max_changes: 101%', '1:14', 'expected a number, or a percentage'],
    ['max_changes: 2.5%', '1:14', 'expected a number, or a percentage'],
    ['accept_warnings: prompt/gone', '1:18', 'expected list, received string'],
    ['accept_warnings: [prompt/gone, yaml/syntax]', '1:32', 'expected the code of a warning'],
    ['concurrency: 0', '1:14', '"concurrency" is not valid'],
    ['concurrency: 257', '1:14', '"concurrency" is not valid'],
    ['concurrency: "8"', '1:14', '"concurrency" is not valid'],
    ['timeout_seconds: 0', '1:18', '"timeout_seconds" is not valid'],
    ['timeout_seconds: 601', '1:18', '"timeout_seconds" is not valid'],
    ['timeout_seconds: 15s', '1:18', '"timeout_seconds" is not valid'],
  ];
  /** What depends on another place or on counting is not in the schema for editors. */
  const UNSEEN = /listed before|the tool's own|too many patterns/;

  test.each(invalid)('`%s` is an error at %s', (text, place, expected) => {
    const [problem, ...others] = tell(text);
    expect(others).toEqual([]);
    expect(problem).toContain(`config/invalid-field promptsync.yaml ${place} The setting `);
    expect(problem).toContain(expected);
    expect(parse(text).config).toBeNull();
    expect(schema(parseYaml(text))).toBe(UNSEEN.test(expected));
  });

  const unknown: readonly (readonly [string, string, string | null])[] = [
    ['promts: []', '1:1', 'prompts'],
    ['service:\n  base_ulr: https://a.example', '2:3', 'base_url'],
    ['service: {api_key: x}', '1:11', null],
    ['service: {key: x}', '1:11', null],
    ['environments: {a: {promote_form: b}}', '1:20', 'promote_from'],
    ['timeout: 3', '1:1', null],
    ['constructor: 3', '1:1', null],
    ['servces: {}', '1:1', 'service'],
  ];
  test.each(unknown)('`%s` is not known', (text, place, suggestion) => {
    const { config, problems } = parse(text);
    expect(config).toBeNull();
    expect(schema(parseYaml(text))).toBe(false);
    expect(tell(text)[0]).toContain(`config/unknown-field promptsync.yaml ${place} The setting "`);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.hint).toBe(suggestion === null ? 'Remove it.' : `Did you mean \`${suggestion}\`?`);
  });

  test('several services: there is one file for each', () => {
    expect(parse('services: {}').problems).toMatchObject([
      { code: 'config/unknown-field', hint: expect.stringContaining('one file for each') },
    ]);
  });

  test('all problems are told at once', () => {
    const text = `service: {base_url: "http://a.example", x1: 1}
prompts: [1]
prompts: [a]
environments: {promptsync: {}, b: {promote_from: c}}
concurrency: &c 0
max_changes: no
`;
    const told = parse(text).problems.map(({ code, line, column }) => `${code} ${line}:${column}`);
    expect(told.toSorted()).toEqual([
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
    ['a list', '- a', 'yaml/not-a-mapping'],
    ['broken YAML', 'a: "', 'yaml/syntax'],
  ])('%s is no configuration', (_, text, code) => {
    expect(parse(text).config).toBeNull();
    expect(tell(text)[0]).toMatch(new RegExp(`^${code} promptsync.yaml`));
  });
});

describe('where the service is', () => {
  const service = (text: string, environment: Variables = {}) => configOf(text, environment).service;
  const remote = (baseUrl: string, keyVariable = 'PROMPTSYNC_API_KEY') => ({
    kind: 'remote',
    baseUrl,
    provider: 'integration',
    keyVariables: [keyVariable],
  });
  const FILE = 'service: {base_url: "https://file.example", api_key_env: K}';

  test('the variable goes before the file', () => {
    expect(service(FILE, { PROMPTSYNC_BASE_URL: 'https://env.example' })).toEqual(remote('https://env.example', 'K'));
    expect(service('', { PROMPTSYNC_BASE_URL: 'https://env.example' })).toEqual(remote('https://env.example'));
    expect(service('service: {embedded: a.db}', { PROMPTSYNC_BASE_URL: 'https://env.example' })).toEqual(
      remote('https://env.example'),
    );
  });

  test('an empty variable counts as not set', () => {
    expect(service(FILE, { PROMPTSYNC_BASE_URL: '' })).toEqual(remote('https://file.example', 'K'));
    expect(service('', { PROMPTSYNC_BASE_URL: '' })).toBeNull();
  });

  test('a variable that is not valid is an error although the file is valid', () => {
    expect(tell(FILE, { PROMPTSYNC_BASE_URL: 'http://env.example' })[0]).toMatch(/^config\/invalid-url - 0:0/);
  });

  test('the variable is used although the URL of the file is not valid', () => {
    const text = 'service: {base_url: "http://file.example"}';
    expect(service(text, { PROMPTSYNC_BASE_URL: 'https://env.example' })).toEqual(remote('https://env.example'));
  });

  test('the embedded service is on a file beside the configuration', () => {
    expect(service('service: {embedded: .promptsync/service.db}')).toEqual({
      kind: 'embedded',
      databasePath: '/repo/sub/.promptsync/service.db',
    });
  });

  test('a service without a place is none', () => {
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
  ])('%s may be the base URL', (url) => {
    expect(service(`service: {base_url: "${url}"}`)).toEqual(remote(url));
    expect(schema({ service: { base_url: url } })).toBe(true);
    expect(service('', { PROMPTSYNC_BASE_URL: url })).toEqual(remote(url));
  });

  test('plain http is for any address where the file allows it, and the hint says so where it does not', () => {
    const url = 'http://prompts.internal';
    const variable = { PROMPTSYNC_BASE_URL: url };
    const allowing = 'service: {allow_http: true}';
    expect(service(allowing.replace('}', `, base_url: "${url}"}`))).toEqual(remote(url));
    expect(service(allowing, variable)).toEqual(remote(url));
    for (const text of ['', 'service: {allow_http: false}']) {
      expect(parse(text, variable).problems[0]?.hint).toContain('`allow_http: true`');
    }
    expect(tell(allowing, { PROMPTSYNC_BASE_URL: 'ftp://prompts.internal' })[0]).toContain('its scheme is not https');
  });

  /** test/service/proxy.test.ts says which hosts are loopback. */
  const refused: readonly (readonly [string, string])[] = [
    ['prompts.example.com', 'it is no URL'],
    ['https:\\\\a.example', 'backslashes'],
    ['//prompts.example.com', 'it is no URL'],
    ['https://', 'it is no URL'],
    ['http://localhost.evil.com', 'not loopback'],
    ['http://prompts.example.com', 'not loopback'],
    ['ftp://localhost', 'its scheme is not https'],
    ['file:///etc/passwd', 'its scheme is not https'],
    ['javascript:alert(1)', 'its scheme is not https'],
    ['localhost:3000', 'its scheme is not https'],
    ['https://prompts.example.com?a=b', 'a query or a fragment'],
    ['https://prompts.example.com/?', 'a query or a fragment'],
    ['https://prompts.example.com/#x', 'a query or a fragment'],
    [' https://prompts.example.com', 'blanks'],
    ['https://prompts.example.com ', 'blanks'],
  ];
  test.each(refused)('%j may not', (url, expected) => {
    for (const told of [tell(`service: {base_url: ${JSON.stringify(url)}}`), tell('', { PROMPTSYNC_BASE_URL: url })]) {
      expect(told).toHaveLength(1);
      expect(told[0]).toContain('config/invalid-url');
      expect(told[0]).toContain(expected);
    }
    expect(tell(`service:\n  base_url: ${JSON.stringify(url)}`)[0]).toContain(' promptsync.yaml 2:13 ');
    expect(schema({ service: { base_url: url } })).toBe(expected === 'not loopback' || url === 'https://');
  });

  test('an empty text in the file may not', () => {
    expect(tell('service: {base_url: ""}')).toEqual([expect.stringContaining('it is no URL')]);
  });

  test('a line break at the end of the variable is told of', () => {
    expect(tell('', { PROMPTSYNC_BASE_URL: 'https://a.example\n' })[0]).toContain('control characters');
  });

  const withPassword = [
    ...['https://user:hunter2@a.example', 'https://:hunter2@a.example', 'https://hunter2@a.example'],
    ...['http://user:hunter2@localhost', 'https://user:hunter2@', 'https://user:hunter2@a b'],
    ...['https://user:hunter2@a.example?x', 'https://a.example?token=hunter2', 'https://user:hun\tter2@a.example'],
  ];
  test.each(withPassword)('credentials in %j are an error that does not repeat them', (url) => {
    const results = [parse(`service: {base_url: ${JSON.stringify(url)}}`), parse('', { PROMPTSYNC_BASE_URL: url })];
    for (const { config, problems } of results) {
      expect(config).toBeNull();
      expect(JSON.stringify(problems)).not.toMatch(/hunter2|ter2/);
    }
  });
});

test('no text makes the parser throw', () => {
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
