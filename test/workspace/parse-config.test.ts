import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { Problem } from '../../src/problem.ts';
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

const placesOf = (problems: readonly Problem[]) =>
  problems.map(({ code, line, column }) => `${code} ${line}:${column}`);

function configOf(text: string, environment: Variables = {}): Config {
  const { config } = parse(text, environment);
  if (config === null) throw new Error(`not valid: ${problemsOf(text, environment).join('\n')}`);
  return config;
}

const DEFAULTS = {
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
};

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
    ...DEFAULTS,
    service: {
      ...{ kind: 'remote', provider: 'integration', baseUrl: 'https://prompts.example.com/base/' },
      keyVariables: ['MY_KEY'],
    },
    patterns: ['prompts/**/*.md', '!prompts/drafts/**'],
    patternPlaces: [11, 30].map((column) => ({ path: 'promptsync.yaml', line: 5, column })),
    environments: [
      { name: 'staging', allowLatest: true },
      { name: 'preview', allowLatest: true },
      { name: 'production', promoteFrom: 'staging', allowLatest: false },
    ],
    otherEnvironments: ['eu', 'us'],
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

test('parseConfig returns the defaults for an empty configuration', () => {
  expect(configOf('---\n')).toEqual(DEFAULTS);
});

describe('parseConfig', () => {
  const free = (name: string) => ({ name, allowLatest: true });
  test.each<[string, Partial<Config>]>([
    ['max_changes: 999999999', { maxChanges: { kind: 'count', count: 999_999_999 } }],
    ['max_changes: 100%', { maxChanges: { kind: 'percent', percent: 100 } }],
    ['concurrency: 256', { concurrency: 256 }],
    ['timeout_seconds: 0.1', { timeoutSeconds: 0.1 }],
    ['environments: {}', { environments: [] }],
    ['environments: {constructor: {}}', { environments: [free('constructor')] }],
    [
      'environments: {"b": {}, "10": {promote_from: b}}',
      { environments: [free('b'), { ...free('10'), promoteFrom: 'b' }] },
    ],
    [
      'other_environments: [a]\nenvironments: {b: {promote_from: a}}',
      { environments: [{ ...free('b'), promoteFrom: 'a' }], otherEnvironments: ['a'] },
    ],
    [
      'service: { provider: langfuse }\nother_environments: [Production EU]',
      { environments: null, otherEnvironments: ['Production EU'] },
    ],
    [
      'environments: {a: {}}\nother_environments: [B]\ndefaults: {pins: {a: latest, B: "git:v1"}}',
      {
        defaultPins: [
          { environment: 'a', pin: { kind: 'latest' }, path: 'promptsync.yaml', line: 3, column: 22 },
          { environment: 'B', pin: { kind: 'git', ref: 'v1' }, path: 'promptsync.yaml', line: 3, column: 33 },
        ],
      },
    ],
    ['prompts: ["../x/{1..3}/*.md"]', { patterns: ['../x/{1..3}/*.md'] }],
    ['prompts: ["{a,b}/**/*-*.md", "!x/[a-z]?.md"]', { patterns: ['{a,b}/**/*-*.md', '!x/[a-z]?.md'] }],
  ])('parseConfig accepts %s', (text, expected) => {
    expect(configOf(text)).toMatchObject(expected);
    expect(schema(parseYaml(text))).toBe(true);
  });

  /** The messages of rules that the schema cannot express. They depend on another setting or on counting. */
  const NOT_IN_SCHEMA = /listed before|not listed under|also listed|reserved for promptsync|too many patterns/;

  test.each([
    ['service: x', '1:10', '`service` is invalid: expected a mapping, but found text'],
    ['service:', '1:9', '`service` is invalid: it has no value'],
    ['service: {api_key_env: sk-123}', '1:24', 'expected the name of an environment variable, not the key itself'],
    ['service: {allow_http: "yes"}', '1:23', '`service.allow_http` is invalid: expected true or false'],
    ['service: {embedded: a.db, base_url: "https://a.example"}', '1:10', 'set either base_url or embedded, not both'],
    ['prompts: "a/*.md"', '1:10', '`prompts` is invalid: expected a list, but found text'],
    ['prompts: []', '1:10', 'it is empty'],
    ['prompts: [a, 1]', '1:14', '`prompts.1` is invalid: expected text'],
    ['prompts: [""]', '1:11', 'it is empty'],
    ['prompts: ["!"]', '1:11', 'it is empty'],
    ['prompts: ["*(a|aa)"]', '1:11', 'it contains parentheses'],
    [`prompts: ["${'a'.repeat(1001)}"]`, '1:11', 'longer than 1000 characters'],
    [`prompts: ["${'{a,b}'.repeat(10)}"]`, '1:11', 'its braces expand to too many patterns'],
    ['environments: [staging]', '1:15', '`environments` is invalid: expected a mapping, but found a list'],
    ['environments: {staging: x}', '1:25', '`environments.staging` is invalid: expected a mapping'],
    ['environments: {"": {}}', '1:16', '`environments.` is invalid: it is empty'],
    ['environments: {"a\\tb": {}}', '1:16', 'it contains control characters'],
    ['environments: {a: {promote_from: b}, b: {}}', '1:34', 'expected an environment that is listed before this one'],
    ['environments: {a: {promote_from: x}}', '1:34', '"x" is not listed under `environments` or `other_environments`'],
    [
      'environments: {a: {}}\nother_environments: [c, a]',
      '2:25',
      '`other_environments.1` is invalid: it is also listed',
    ],
    ['environments: {\u00e9: {}}\nother_environments: [e\u0301]', '2:22', 'it is also listed under `environments`'],
    ['other_environments: [a, a]', '1:25', 'it is listed twice'],
    ['other_environments: [promptsync]', '1:22', 'it is reserved for promptsync'],
    ['environments: {promptsync: {}}', '1:16', 'it is reserved for promptsync'],
    ['on_drift: ignore', '1:11', '`on_drift` is invalid: expected "overwrite" or "fail"'],
    ['max_changes: 1000000000', '1:14', 'expected a number, or a percentage'],
    [
      'accept_warnings: [prompt/conflict-markers]',
      '1:19',
      'prompt/conflict-markers is allowed only in the front matter',
    ],
    ['accept_warnings: [prompt/gone, yaml/syntax]', '1:32', 'expected the code of a warning'],
    ['concurrency: 0', '1:14', '`concurrency` is invalid'],
    ['concurrency: 257', '1:14', '`concurrency` is invalid'],
    ['timeout_seconds: 0', '1:18', '`timeout_seconds` is invalid'],
    ['timeout_seconds: 601', '1:18', '`timeout_seconds` is invalid'],
  ])('parseConfig rejects %s with an error at %s', (text, place, expected) => {
    const [problem, ...others] = problemsOf(text);
    expect(others).toEqual([]);
    expect(problem).toContain(`config/invalid-field promptsync.yaml ${place} The setting `);
    expect(problem).toContain(expected);
    expect(parse(text).config).toBeNull();
    expect(schema(parseYaml(text))).toBe(NOT_IN_SCHEMA.test(expected));
  });

  test.each([
    ['parseConfig rejects default pins with an invalid pin', '{a: latst}', 'prompt/invalid-pin 3:22'],
    [
      'parseConfig rejects default pins with an environment that the configuration does not define',
      '{b: latest}',
      'prompt/unknown-environment 3:19',
    ],
    [
      'parseConfig rejects default pins with a version number if portable_pins is set',
      '{a: 7}',
      'prompt/not-portable-pin 3:22',
    ],
    ['parseConfig rejects default pins with a value that is not a mapping', 'latest', 'config/invalid-field 3:18'],
  ])('%s', (_, pins, expected) => {
    const { config, problems } = parse(`environments: {a: {}}\nportable_pins: true\ndefaults: {pins: ${pins}}`);
    expect(config).toBeNull();
    expect(placesOf(problems)).toEqual([expected]);
  });

  test('parseConfig applies the rules of Langfuse for labels and pins to default pins', () => {
    const pins = '{Prod: latest, a: "version:x"}';
    expect(placesOf(parse(`service: {provider: langfuse}\ndefaults: {pins: ${pins}}`).problems)).toEqual([
      'config/invalid-field 2:19',
      'config/invalid-field 2:36',
    ]);
  });

  test('parseConfig does not also report unknown environments in default pins if `environments` is a list', () => {
    const { problems } = parse('environments: [dev]\ndefaults: {pins: {dev: latest}}');
    expect(placesOf(problems)).toEqual(['config/invalid-field 1:15']);
  });

  test.each([
    ['promts: []', '1:1', 'Did you mean `prompts`?'],
    ['service:\n  base_ulr: https://a.example', '2:3', 'Did you mean `base_url`?'],
    ['service: {api_key: x}', '1:11', 'The only settings allowed here are '],
    ['environments: {a: {promote_form: b}}', '1:20', 'Did you mean `promote_from`?'],
    ['defaults: {pin: {}}', '1:12', 'Did you mean `pins`?'],
    ['services: {}', '1:1', 'separate file for each'],
  ])('parseConfig rejects the unknown setting in %s', (text, place, hint) => {
    const { config, problems } = parse(text);
    expect(config).toBeNull();
    expect(schema(parseYaml(text))).toBe(false);
    expect(placesOf(problems)).toEqual([`config/unknown-field ${place}`]);
    expect(problems[0]?.hint).toContain(hint);
  });

  test('parseConfig rejects the setting tracking_environment, because the tracking environment is not configurable', () => {
    const { problems } = parse('branch: main\ntracking_environment: production');
    expect(placesOf(problems)).toEqual(['config/unknown-field 2:1']);
  });

  test('parseConfig names a Unicode space before a colon inside braces', () => {
    const { problems } = parse('environments: {a: {}, b: {promote_from\u3000: a}}');
    expect(placesOf(problems)).toEqual(['yaml/look-alike 1:39']);
  });

  test('parseConfig reports all problems at once', () => {
    const text = `service: {base_url: "http://a.example", x1: 1}
prompts: [1]
prompts: [a]
environments: {promptsync: {}, b: {promote_from: c}}
concurrency: &c 0
max_changes: no
`;
    expect(placesOf(parse(text).problems).toSorted()).toEqual([
      'config/invalid-field 4:16',
      'config/invalid-field 4:50',
      'config/invalid-field 6:14',
      'config/invalid-url 1:21',
      'config/unknown-field 1:41',
      'yaml/alias 5:17',
      'yaml/duplicate-key 3:1',
    ]);
  });
});

describe('the address of the service', () => {
  const service = (text: string, environment: Variables = {}) => configOf(text, environment).service;
  const remote = (baseUrl: string, keyVariable = 'PROMPTSYNC_API_KEY') => {
    return { kind: 'remote', baseUrl, provider: 'integration', keyVariables: [keyVariable] };
  };
  const [ENV, FILE] = ['https://env.example', 'service: {base_url: "https://file.example", api_key_env: K}'];

  test.each([
    ['PROMPTSYNC_BASE_URL overrides a base URL', FILE, ENV, remote(ENV, 'K')],
    ['PROMPTSYNC_BASE_URL overrides an embedded service', 'service: {embedded: a.db}', ENV, remote(ENV)],
    [
      'PROMPTSYNC_BASE_URL overrides an invalid base URL',
      'service: {base_url: "http://file.example"}',
      ENV,
      remote(ENV),
    ],
    ['PROMPTSYNC_BASE_URL counts as unset if it is empty', FILE, '', remote('https://file.example', 'K')],
  ])('%s', (_, text, url, expected) => {
    expect(service(text, { PROMPTSYNC_BASE_URL: url })).toEqual(expected);
  });

  const BOTH = { LANGFUSE_BASE_URL: 'https://a.example', LANGFUSE_HOST: 'https://b.example' };
  test.each<[string, string, Variables, string]>([
    ['LANGFUSE_BASE_URL', '', { ...BOTH, LANGFUSE_HOST: 'https://a.example/' }, 'https://a.example'],
    ['LANGFUSE_HOST', '', { ...BOTH, LANGFUSE_BASE_URL: '' }, 'https://b.example'],
    ['the configuration', ', base_url: "https://file.example"', BOTH, 'https://file.example'],
    ['PROMPTSYNC_BASE_URL', '', { ...BOTH, PROMPTSYNC_BASE_URL: ENV }, ENV],
  ])('parseConfig takes the address of Langfuse from %s', (_, further, environment, baseUrl) => {
    expect(service(`service: { provider: langfuse${further} }`, environment)).toMatchObject({ baseUrl });
  });

  test('parseConfig rejects different addresses in LANGFUSE_BASE_URL and LANGFUSE_HOST', () => {
    const message = expect.stringMatching(/LANGFUSE_BASE_URL.*LANGFUSE_HOST/);
    const { problems } = parse('service: { provider: langfuse }', BOTH);
    expect(problems).toEqual([expect.objectContaining({ code: 'config/different-addresses', message })]);
  });

  test('the embedded database path is relative to the configuration file', () => {
    const databasePath = '/repo/sub/.promptsync/service.db';
    expect(service('service: {embedded: .promptsync/service.db}')).toEqual({ kind: 'embedded', databasePath });
  });

  test('parseConfig treats a service without an address as not configured', () => {
    expect(service('service: {api_key_env: K}')).toBeNull();
  });

  test.each([
    ...['https://prompts.example.com/', 'https://prompts.example.com:8443/base/path', 'HTTPS://prompts.example.com'],
    ...['http://localhost:3000', 'http://127.0.0.1:8080/base'],
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
  test.each([
    ['', 'it does not begin with `https://`'],
    ['https:\\\\a.example', 'backslashes'],
    ['https://', 'it is not a URL'],
    ['http://localhost.evil.com', 'non-loopback'],
    ['localhost:3000', 'it does not begin with `https://`'],
    ['https://prompts.example.com/?', 'a query or a fragment'],
    ['https://prompts.example.com/#x', 'a query or a fragment'],
    ['https://prompts.example.com ', 'white space'],
    ['https://a.example\n', 'control characters'],
  ])('parseConfig rejects the base URL %j', (url, expected) => {
    const [problem, ...others] = problemsOf(`service:\n  base_url: ${JSON.stringify(url)}`);
    expect([problem, others]).toEqual([expect.stringMatching(/^config\/invalid-url promptsync.yaml 2:13 /), []]);
    expect(problem).toContain(expected);
    if (url !== '') {
      const problems = problemsOf('', { PROMPTSYNC_BASE_URL: url });
      expect(problems).toEqual([expect.stringMatching(/^config\/invalid-url - 0:0 /)]);
      expect(problems[0]).toContain(expected);
    }
    expect(schema({ service: { base_url: url } })).toBe(expected === 'non-loopback' || url === 'https://');
  });

  test.each([
    ...['https://:hunter2@a.example', 'https://hunter2@a.example', 'http://user:hunter2@localhost'],
    ...['https://user:hunter2@', 'https://user:hunter2@a b', 'https://a.example?token=hunter2'],
    ...['https://user:hun\tter2@a.example'],
  ])('parseConfig rejects credentials in the URL %j without repeating them in the error', (url) => {
    const results = [parse(`service: {base_url: ${JSON.stringify(url)}}`), parse('', { PROMPTSYNC_BASE_URL: url })];
    for (const { config, problems } of results) {
      expect(config).toBeNull();
      expect(JSON.stringify(problems)).not.toMatch(/hunter2|ter2/);
    }
  });
});

test('parseConfig never throws for any input text, and returns a configuration exactly if there is no problem', () => {
  const fragments = [
    ...'service base_url embedded api_key_env prompts environments promote_from on_drift'
      .split(' ')
      .map((name) => `${name}: `),
    ...'\n§ §  §- §{§}§[§]§, §"§&a §*a §!t §---\n§<<: §null§1§1e999§https://a.example§25%§\0§\ud800§\ufeff'.split('§'),
  ];
  const soup = fc.array(fc.constantFrom(...fragments), { maxLength: 40 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(soup, fc.oneof(fc.string(), fc.webUrl()), (text, url) => {
      const { config, problems } = parse(text, { PROMPTSYNC_BASE_URL: url });
      expect(config === null).toBe(problems.length > 0);
    }),
    { numRuns: runs(800) },
  );
});
